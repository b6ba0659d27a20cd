// The Python face of Relief.
#include "bindings.hpp"
#include "relief.hpp"

namespace foresift {
namespace {

// Relief with the arrays it reads.
struct PyRelief {
    Rows<double> rows;
    std::vector<std::uint32_t> n_values;
    std::vector<std::int32_t> target;
    std::vector<double> weights;
    std::optional<Relief> relief;

    PyRelief(Rows<double> x, std::vector<std::uint32_t> kinds, const Vector<std::int32_t>& y, std::uint32_t n_classes,
             const std::optional<Vector<double>>& w, double n_neighbors, bool pool_misses)
        : rows(std::move(x)), n_values(std::move(kinds)), target(y.data(), y.data() + y.size()) {
        if (w) weights.assign(w->data(), w->data() + w->size());
        if (rows.shape(0) != target.size() || rows.shape(1) != n_values.size() || (w && w->size() != target.size()))
            throw nb::value_error("lengths differ");
        check_classes(target, n_classes);
        const nb::gil_scoped_release unlocked;
        relief.emplace(std::span(rows.data(), rows.size()), n_values, target, n_classes, weights,
                       ReliefOptions{n_neighbors, pool_misses});
    }
    NewArray<double> sums(const Vector<std::uint32_t>& sample, const StopFlag* stop) const {
        for (const auto row : span_of(sample))
            if (row >= target.size()) throw nb::index_error("no such row");
        std::vector<double> result(n_values.size(), 0.0);
        {
            const nb::gil_scoped_release unlocked;
            relief->add(span_of(sample), result, stop_check(stop));
        }
        return to_numpy(std::move(result));
    }
};

}  // namespace

void bind_relief(nb::module_& m) {
    nb::class_<PyRelief>(m, "Relief", "Differences between rows and their nearest neighbours; safe to use from many threads.")
        .def(nb::init<Rows<double>, std::vector<std::uint32_t>, const Vector<std::int32_t>&, std::uint32_t,
                      const std::optional<Vector<double>>&, double, bool>(),
             "rows"_a, "n_values"_a, "target"_a, "n_classes"_a, "weights"_a.none(), "n_neighbors"_a, "pool_misses"_a)
        .def("sums", &PyRelief::sums, "sample"_a, "stop"_a.none() = nb::none());
}

}  // namespace foresift
