// The Python face of Relief and SURF.
#include <algorithm>
#include <cmath>

#include "bindings/arrays.hpp"
#include "kernels/relief.hpp"
#include "kernels/surf.hpp"

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

// The arrays that a kernel reads: its own copies, for what was checked must not change.
struct ReliefArrays {
    std::vector<double> rows;
    std::vector<std::uint32_t> n_values;
    std::vector<std::int32_t> target;
    std::uint32_t n_classes;
    std::vector<double> quantity, weights;

    ReliefArrays(const Rows<double>& x, std::vector<std::uint32_t> kinds, const Vector<std::int32_t>& y,
                 std::uint32_t classes, const std::optional<Vector<double>>& w)
        : n_values(std::move(kinds)), n_classes(classes) {
        check_length("target", y.size(), x.shape(0));
        check_classes(span_of(y), n_classes);
        target.assign(y.data(), y.data() + y.size());
        take(x, w);
    }
    ReliefArrays(const Rows<double>& x, std::vector<std::uint32_t> kinds, const Vector<double>& y,
                 const std::optional<Vector<double>>& w)
        : n_values(std::move(kinds)), n_classes(1) {
        check_length("target", y.size(), x.shape(0));
        for (const double value : span_of(y)) check_range("The quantity", value, 0.0, 1.0);
        quantity.assign(y.data(), y.data() + y.size());
        target.assign(y.size(), 0);
        take(x, w);
    }

private:
    void take(const Rows<double>& x, const std::optional<Vector<double>>& w) {
        check_range<std::uint64_t>("The number of rows", x.shape(0), 1, kMostRows);
        check_range<std::uint64_t>("The number of columns", x.shape(1), 1, kMostColumns);
        check_length("n_values", n_values.size(), x.shape(1));
        if (w) check_weights("weights", span_of(*w), x.shape(0));
        if (w && std::ranges::find(span_of(*w), 0.0) != span_of(*w).end())
            refuse("weights must be positive: drop rows of weight 0.");
        const auto values = values_of(x);
        if (w) weights.assign(w->data(), w->data() + w->size());
        const nb::gil_scoped_release unlocked;
        rows.assign(values.begin(), values.end());
        check_values(rows, n_values);
    }
};

// A kernel with the arrays it reads.
template <class Kernel>
class WithArrays {
public:
    NewArray<double> sums(const Vector<std::uint32_t>& sample, const StopFlag* stop) const {
        const std::vector<std::uint32_t> rows(sample.data(), sample.data() + sample.size());
        check_below("sample", std::span(rows), arrays_.target.size());
        std::vector<double> result(kernel_->n_sums(), 0.0);
        {
            const nb::gil_scoped_release unlocked;
            kernel_->add(rows, result, stop_check(stop));
        }
        return to_numpy(std::move(result));
    }

protected:
    template <class Options>
    WithArrays(ReliefArrays&& arrays, const Options& options) : arrays_(std::move(arrays)) {
        check(options);
        const auto& [rows, n_values, target, n_classes, quantity, weights] = arrays_;
        const nb::gil_scoped_release unlocked;
        kernel_.emplace(rows, n_values, target, n_classes, weights, options, quantity);
    }

private:
    static void check(const ReliefOptions& options) {
        if (!(options.n_neighbors >= 1))
            refuse("n_neighbors must be 1 or more, but is " + shown(options.n_neighbors) + ".");
        check_range("sigma", options.sigma, 0.0, 1e6);
    }
    static void check(const SurfOptions& options) {
        if (std::isnan(options.limit)) refuse("limit must be a number.");
        check_range("hit_below", options.hit_below, 0.0, 1.0);
    }

    ReliefArrays arrays_;
    std::optional<Kernel> kernel_;
};

using Weights = std::optional<Vector<double>>;
using Kinds = std::vector<std::uint32_t>;

struct PyRelief : WithArrays<Relief> {
    PyRelief(const Rows<double>& rows, Kinds n_values, const Vector<std::int32_t>& target, std::uint32_t n_classes,
             const Weights& weights, double n_neighbors, bool pool_misses, double sigma)
        : WithArrays({rows, std::move(n_values), target, n_classes, weights},
                     ReliefOptions{n_neighbors, pool_misses, sigma}) {}
    PyRelief(const Rows<double>& rows, Kinds n_values, const Vector<double>& quantity, const Weights& weights,
             double n_neighbors, double sigma)
        : WithArrays({rows, std::move(n_values), quantity, weights}, ReliefOptions{n_neighbors, false, sigma}) {}
};

struct PySurf : WithArrays<Surf> {
    PySurf(const Rows<double>& rows, Kinds n_values, const Vector<std::int32_t>& target, std::uint32_t n_classes,
           const Weights& weights, double limit)
        : WithArrays({rows, std::move(n_values), target, n_classes, weights}, SurfOptions{limit, 0}) {}
    PySurf(const Rows<double>& rows, Kinds n_values, const Vector<double>& quantity, const Weights& weights,
           double limit, double hit_below)
        : WithArrays({rows, std::move(n_values), quantity, weights}, SurfOptions{limit, hit_below}) {}
};

}  // namespace

void bind_relief(nb::module_& m) {
    nb::class_<PyRelief>(m, "Relief", "Differences between rows and their nearest neighbours; safe to use from many threads.")
        .def(nb::init<const Rows<double>&, Kinds, const Vector<std::int32_t>&, std::uint32_t, const Weights&, double,
                      bool, double>(),
             "rows"_a.noconvert(), "n_values"_a, "target"_a.noconvert(), "n_classes"_a, "weights"_a.none().noconvert(),
             "n_neighbors"_a, "pool_misses"_a = false, "sigma"_a = 0.0)
        .def(nb::init<const Rows<double>&, Kinds, const Vector<double>&, const Weights&, double, double>(),
             "rows"_a.noconvert(), "n_values"_a, "quantity"_a.noconvert(), "weights"_a.none().noconvert(),
             "n_neighbors"_a, "sigma"_a = 0.0)
        .def("sums", &PyRelief::sums, "sample"_a.noconvert(), "stop"_a.none() = nb::none());
    nb::class_<PySurf>(m, "Surf", "Differences between rows and all near ones; safe to use from many threads.")
        .def(nb::init<const Rows<double>&, Kinds, const Vector<std::int32_t>&, std::uint32_t, const Weights&, double>(),
             "rows"_a.noconvert(), "n_values"_a, "target"_a.noconvert(), "n_classes"_a, "weights"_a.none().noconvert(),
             "limit"_a)
        .def(nb::init<const Rows<double>&, Kinds, const Vector<double>&, const Weights&, double, double>(),
             "rows"_a.noconvert(), "n_values"_a, "quantity"_a.noconvert(), "weights"_a.none().noconvert(), "limit"_a,
             "hit_below"_a)
        .def("sums", &PySurf::sums, "sample"_a.noconvert(), "stop"_a.none() = nb::none());
}

}  // namespace foresift
