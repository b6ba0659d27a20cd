// The Python face of Relief.
#include <algorithm>
#include <cmath>

#include "bindings/arrays.hpp"
#include "kernels/relief.hpp"

namespace foresift {
namespace {

// Numbers must be scaled, and categories be codes: distances are then finite, and their estimates near them.
void check_values(std::span<const double> rows, std::span<const std::uint32_t> n_values) {
    for (std::size_t i = 0; i < rows.size(); i += n_values.size())
        for (std::size_t f = 0; f < n_values.size(); ++f) {
            const double v = rows[i + f];
            if (std::isnan(v)) continue;
            if (n_values[f] == 0 ? !(v >= 0 && v <= 1) : !(v >= 0 && v < n_values[f] && v == std::floor(v)))
                refuse("Numbers must lie between 0 and 1, and categories be whole numbers below n_values; one is " +
                       shown(v) + ".");
        }
}

// Relief with the arrays it reads.
struct PyRelief {
    std::vector<double> rows;  // its own: what was checked must not change
    std::vector<std::uint32_t> n_values;
    std::vector<std::int32_t> target;
    std::vector<double> weights;
    std::optional<Relief> relief;

    PyRelief(const Rows<double>& x, std::vector<std::uint32_t> kinds, const Vector<std::int32_t>& y,
             std::uint32_t n_classes, const std::optional<Vector<double>>& w, double n_neighbors, bool pool_misses)
        : n_values(std::move(kinds)) {
        check_range<std::uint64_t>("The number of rows", x.shape(0), 1, kMostRows);
        check_range<std::uint64_t>("The number of columns", x.shape(1), 1, kMostColumns);
        check_length("n_values", n_values.size(), x.shape(1));
        check_length("target", y.size(), x.shape(0));
        check_classes(span_of(y), n_classes);
        if (w) check_weights("weights", span_of(*w), x.shape(0));
        if (w && std::ranges::find(span_of(*w), 0.0) != span_of(*w).end())
            refuse("weights must be positive: drop rows of weight 0.");
        if (!(n_neighbors >= 1)) refuse("n_neighbors must be 1 or more, but is " + shown(n_neighbors) + ".");
        const auto values = values_of(x);
        target.assign(y.data(), y.data() + y.size());
        if (w) weights.assign(w->data(), w->data() + w->size());
        const nb::gil_scoped_release unlocked;
        rows.assign(values.begin(), values.end());
        check_values(rows, n_values);
        relief.emplace(rows, n_values, target, n_classes, weights, ReliefOptions{n_neighbors, pool_misses});
    }
    NewArray<double> sums(const Vector<std::uint32_t>& sample, const StopFlag* stop) const {
        check_below("sample", span_of(sample), target.size());
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
        .def(nb::init<const Rows<double>&, std::vector<std::uint32_t>, const Vector<std::int32_t>&, std::uint32_t,
                      const std::optional<Vector<double>>&, double, bool>(),
             "rows"_a.noconvert(), "n_values"_a, "target"_a.noconvert(), "n_classes"_a, "weights"_a.none().noconvert(),
             "n_neighbors"_a, "pool_misses"_a)
        .def("sums", &PyRelief::sums, "sample"_a.noconvert(), "stop"_a.none() = nb::none());
}

}  // namespace foresift
