// The Python face of mutual information.
#include "kernels/mutual_info.hpp"

#include "bindings/arrays.hpp"
#include "bindings/column_store.hpp"

namespace foresift {
namespace {

// Codes of its own: what was checked must not change.
struct OwnCodes {
    std::vector<std::int32_t> codes;
    std::uint32_t n_codes = 1;

    OwnCodes() = default;
    OwnCodes(const char* name, const Vector<std::int32_t>& given, std::uint32_t n, std::size_t n_rows)
        : codes(span_of(given).begin(), span_of(given).end()), n_codes(n) {
        check_length(name, codes.size(), n_rows);
        check_range<std::uint64_t>("The number of codes", n, 1, std::max<std::size_t>(kMaxCodes, n_rows));
        for (const auto code : codes)
            if (code < -1 || code >= static_cast<std::int64_t>(n))
                refuse(std::string(name) + " has the code " + std::to_string(code) + " of " + std::to_string(n) + ".");
    }
    operator Coded() const noexcept { return {codes, n_codes}; }
};

// The columns, which no longer change, and logarithms of their counts.
struct PyMutualInfo {
    std::shared_ptr<const std::vector<Column>> columns;
    std::size_t n_rows;
    CountLogs logs;

    explicit PyMutualInfo(const ColumnStore& store) : columns(store.columns), n_rows(store.n_rows), logs(store.n_rows) {}

    NewArray<double> of(const Vector<std::uint32_t>& some, const Vector<std::int32_t>& target, std::uint32_t n_targets,
                        const std::optional<Vector<std::int32_t>>& given, std::uint32_t n_given,
                        const std::optional<Vector<double>>& weights, bool known_only, const StopFlag* flag) const {
        const std::vector<std::uint32_t> wanted(span_of(some).begin(), span_of(some).end());
        check_below("columns", std::span(wanted), columns->size());
        const OwnCodes y("target", target, n_targets, n_rows);
        const OwnCodes w = given ? OwnCodes("given", *given, n_given, n_rows) : OwnCodes();
        if (weights) check_weights("weights", span_of(*weights), n_rows);
        if (weights && std::ranges::find(span_of(*weights), 0.0) != span_of(*weights).end())
            refuse("weights must be positive: drop rows of weight 0.");
        std::vector<double> result;
        {
            const nb::gil_scoped_release unlocked;
            const auto stop = stop_check(flag);
            const Cells cells(w, y, known_only);
            for (const auto j : wanted) {
                check_stop(stop);
                const auto found = information((*columns)[j], cells, span_of(weights), logs);
                result.insert(result.end(), {found.conditional, found.joint, found.entropy});
            }
        }
        return to_numpy(std::move(result), 3);
    }
};

}  // namespace

void bind_mutual_info(nb::module_& m) {
    nb::class_<PyMutualInfo>(m, "MutualInfo", "Information of coded columns; safe to use from many threads.")
        .def(nb::init<const ColumnStore&>(), "store"_a)
        .def("of", &PyMutualInfo::of, "columns"_a.noconvert(), "target"_a.noconvert(), "n_targets"_a,
             "given"_a.none().noconvert(), "n_given"_a, "weights"_a.none().noconvert(), "known_only"_a,
             "stop"_a.none() = nb::none(),
             "I(X;Y|W), I(X,W;Y) and H(X,W,Y) of every column X, the target Y and a given column W (None: constant).");
}

}  // namespace foresift
