// The Python face of the column store, and the module itself; the rest has files of its own. Nothing outside this
// folder includes nanobind; every call that works long releases the GIL.
#include "bindings/arrays.hpp"

#include "bindings/column_store.hpp"

NB_MODULE(_core, m) {
    // Ctrl-C ends the process while a frame of the interrupted call still holds a grower: that is no leak.
    nb::set_leak_warnings(false);
    using namespace foresift;
    m.doc() = "Native kernels: column store, tree growing, prediction.";

    // An array must have the dtype it is read as (noconvert): a conversion would wrap codes that do not fit.
    nb::class_<ColumnStore>(m, "ColumnStore", "Order-preserving integer codes per column.")
        .def(nb::init<std::uint32_t, std::uint32_t>(), "n_rows"_a, "max_bins"_a = kMaxCodes)
        .def("add_numeric", &ColumnStore::add_numeric<float>, "block"_a.noconvert(), nb::lock_self(),
             "Append float32 columns.")
        .def("add_numeric", &ColumnStore::add_numeric<double>, "block"_a.noconvert(), nb::lock_self(),
             "Append float64 columns.")
        .def("add_nominal", &ColumnStore::add_nominal, "codes"_a.noconvert(), "n_categories"_a, nb::lock_self(),
             "Append one nominal column.")
        .def_ro("n_rows", &ColumnStore::n_rows)
        .def_prop_ro("n_columns", [](const ColumnStore& s) { return s.columns->size(); })
        .def("take", &ColumnStore::take, "columns"_a, "A store of these columns, copied.")
        .def("take_rows", &ColumnStore::take_rows, "rows"_a.noconvert(),
             "A store of these rows, coded as they would be alone; bins stay.")
        .def("codes", &ColumnStore::codes, "column"_a)
        .def("values", &ColumnStore::values, "column"_a)
        .def("n_values", [](const ColumnStore& s, std::size_t j) { return s.at(j).n_values; }, "column"_a)
        .def("is_nominal", [](const ColumnStore& s, std::size_t j) { return s.at(j).nominal; }, "column"_a)
        .def("has_missing", [](const ColumnStore& s, std::size_t j) { return s.at(j).has_missing; }, "column"_a)
        .def("is_binned", [](const ColumnStore& s, std::size_t j) { return s.at(j).binned; }, "column"_a);

    nb::class_<StopFlag>(m, "StopFlag", "Lets one thread ask the others to stop.")
        .def(nb::init<>())
        .def("set", [](StopFlag& flag) { flag.requested = true; })
        .def_prop_ro("requested", [](const StopFlag& flag) { return flag.requested.load(); });

    bind_grower(m);
    bind_histograms(m);
    bind_columns(m);
    bind_relief(m);
    bind_mutual_info(m);
    bind_node_tables(m);
    bind_networks(m);
}
