// The Python face of what looks at single columns: their best splits, and what they gain by chance.
#include "bindings/arrays.hpp"
#include "bindings/column_store.hpp"
#include "kernels/null_gain.hpp"
#include "kernels/null_reduction.hpp"
#include "kernels/ssv_rank.hpp"

namespace foresift {
namespace {

void check_sizes(std::uint32_t first, std::uint32_t second, std::size_t most) {
    if (first == 0 || second == 0 || std::size_t{first} + second > most)
        refuse("Both classes need rows, and at most " + std::to_string(most) + " in all.");
}

double null_tail(std::uint32_t first, std::uint32_t second, double gain) {
    check_sizes(first, second, std::size_t{1} << 29);
    if (std::isnan(gain)) refuse("gain must be a number, not NaN.");
    const nb::gil_scoped_release unlocked;
    return NullGain(first, second, stop_check(nullptr)).tail(gain);
}

std::pair<double, double> null_moments(std::uint32_t first, std::uint32_t second, std::uint32_t n_points) {
    check_sizes(first, second, n_points == 0 ? 1 << 13 : 1 << 29);  // without points n^2 / 4 gains are looked at
    check_range<std::uint32_t>("n_points", n_points, 0, 1 << 20);
    const nb::gil_scoped_release unlocked;
    NullGain null(first, second, stop_check(nullptr));
    const Moments moments = n_points == 0 ? null.moments() : null.approximate_moments(n_points);
    return {moments.mean, moments.variance};
}

NewArray<double> permuted(const ColumnStore& store, std::size_t j, const Vector<std::int32_t>& target,
                          std::uint32_t n_classes, bool multiway, std::uint32_t n_permutations, std::uint64_t seed) {
    const auto held = store.columns;
    const Column& column = store.at(j);
    check_length("target", target.size(), store.n_rows);
    check_classes(span_of(target), n_classes);
    check_range<std::uint32_t>("n_classes", n_classes, 1, CountCase::kLimit - 1);
    check_range<std::uint32_t>("n_permutations", n_permutations, 0, 1 << 28);
    std::vector<double> gains;
    {
        const nb::gil_scoped_release unlocked;
        SplitOptions options;
        options.multiway = multiway;
        gains = permuted_gains(column, span_of(target), n_classes, options, n_permutations, seed, stop_check(nullptr));
    }
    return to_numpy(std::move(gains));
}

NewArray<double> permuted_shares(const Vector<double>& y, const Vector<std::uint32_t>& sizes, bool multiway,
                                 std::uint32_t n_permutations, std::uint64_t seed) {
    check_range<std::uint64_t>("The number of rows", y.size(), 0, kMostRows);
    check_range<std::uint32_t>("n_permutations", n_permutations, 0, 1 << 28);
    for (const double value : span_of(y))
        if (!(std::abs(value) <= 1e100)) refuse("y must be finite, and at most 1e100: scale it.");
    std::uint64_t n_rows = 0;
    for (const auto size : span_of(sizes)) {
        if (size == 0) refuse("sizes must be positive.");
        n_rows += size;
    }
    if (n_rows != y.size()) refuse("sizes must sum up to the number of rows.");
    std::vector<double> shares;
    {
        const nb::gil_scoped_release unlocked;
        shares = permuted_reductions(span_of(y), span_of(sizes), multiway, n_permutations, seed, stop_check(nullptr));
    }
    return to_numpy(std::move(shares));
}

NewArray<double> ranks_by_ssv(const ColumnStore& store, std::size_t first, std::size_t last,
                              const Vector<std::int32_t>& target, std::uint32_t n_classes,
                              const std::optional<Vector<double>>& weights, const StopFlag* stop) {
    const auto held = store.columns;
    check_length("target", target.size(), store.n_rows);
    if (first > last || last > held->size())
        refuse("The columns must be from 0 to " + std::to_string(held->size()) + ", the first before the last.");
    check_classes(span_of(target), n_classes);
    if (weights) check_weights("weights", span_of(*weights), target.size());
    const auto columns = std::span<const Column>(*held).subspan(first, last - first);
    for (const auto& column : columns)
        if (column.has_missing && !column.nominal) refuse("A numeric column has missing values.");
    std::vector<double> ranks;
    {
        const nb::gil_scoped_release unlocked;
        ranks = ssv_ranks(columns, span_of(target), n_classes, span_of(weights), stop_check(stop));
    }
    return to_numpy(std::move(ranks));
}

// What both kinds of column need to be split.
void check_rows_to_split(std::size_t n, const Vector<std::int32_t>& y, std::uint32_t n_classes,
                         const Vector<double>& weights) {
    check_range<std::uint64_t>("The number of rows", n, 0, kMostRows);
    check_length("y", y.size(), n);
    check_classes(span_of(y), n_classes);
    if (n > 0)
        check_weights("weights", span_of(weights), n);
    else
        check_length("weights", weights.size(), 0);
}

void check_values_to_split(std::size_t n, const Vector<double>& y, const Vector<double>& weights) {
    check_range<std::uint64_t>("The number of rows", n, 1, kMostRows);
    check_length("y", y.size(), n);
    check_weights("weights", span_of(weights), n);
    check_quantity(span_of(y));
}

Criterion class_criterion(const std::string& name) {
    const Criterion criterion = criterion_of(name);
    if (criterion == Criterion::variance) refuse("criterion=\"variance\" needs a quantity, not classes.");
    return criterion;
}

SplitOptions whole_column(Criterion criterion, const std::string& missing) {
    SplitOptions options;
    options.criterion = criterion;
    options.missing = missing_of(missing);
    options.min_leaf = 0;
    return options;
}

// Gain, threshold, and whether missing values go left.
std::tuple<double, double, bool> split_numbers(const Vector<double>& x, const Response& response,
                                               const Vector<double>& weights, const SplitOptions& options) {
    const nb::gil_scoped_release unlocked;
    check_finite_or_missing(span_of(x));
    const Column column = code_numeric<double>(span_of(x), kMaxCodes);
    const Split split = split_column(column, response, span_of(weights), options);
    const double threshold = split.found() && std::isnan(split.threshold)
                                 ? column.threshold_between(split.cut, split.cut + 1)
                                 : split.threshold;
    return {split.gain, threshold, split.missing_branch == 0};
}

// Gain, and the branch of every category, -1 for those that do not occur.
std::tuple<double, std::vector<int>> split_categories(const Vector<std::int32_t>& codes, std::uint32_t n_categories,
                                                      const Response& response, const Vector<double>& weights,
                                                      const SplitOptions& options) {
    check_categories(span_of(codes), n_categories);
    const nb::gil_scoped_release unlocked;
    const Column column = code_nominal(span_of(codes), n_categories);
    const Split split = split_column(column, response, span_of(weights), options);
    std::vector<int> branches(n_categories, -1);
    for (std::size_t g = 0; g < split.grouping.categories.size(); ++g)
        if (split.grouping.categories[g] < n_categories)
            branches[split.grouping.categories[g]] = split.grouping.branches[g];
    return {split.gain, branches};
}

std::tuple<double, double, bool> best_split(const Vector<double>& x, const Vector<std::int32_t>& y, std::uint32_t n_classes,
                                            const Vector<double>& weights, const std::string& criterion,
                                            const std::string& missing) {
    check_rows_to_split(x.size(), y, n_classes, weights);
    return split_numbers(x, {span_of(y), n_classes}, weights, whole_column(class_criterion(criterion), missing));
}

std::tuple<double, double, bool> best_value_split(const Vector<double>& x, const Vector<double>& y,
                                                  const Vector<double>& weights, const std::string& missing) {
    check_values_to_split(x.size(), y, weights);
    return split_numbers(x, Response(span_of(y)), weights, whole_column(Criterion::variance, missing));
}

std::tuple<double, std::vector<int>> nominal_split(const Vector<std::int32_t>& codes, std::uint32_t n_categories,
                                                   const Vector<std::int32_t>& y, std::uint32_t n_classes,
                                                   const Vector<double>& weights, const std::string& criterion,
                                                   bool multiway, const std::string& missing) {
    check_rows_to_split(codes.size(), y, n_classes, weights);
    SplitOptions options = whole_column(class_criterion(criterion), missing);
    options.multiway = multiway;
    return split_categories(codes, n_categories, {span_of(y), n_classes}, weights, options);
}

std::tuple<double, std::vector<int>> nominal_value_split(const Vector<std::int32_t>& codes, std::uint32_t n_categories,
                                                         const Vector<double>& y, const Vector<double>& weights,
                                                         bool multiway, const std::string& missing) {
    check_values_to_split(codes.size(), y, weights);
    SplitOptions options = whole_column(Criterion::variance, missing);
    options.multiway = multiway;
    return split_categories(codes, n_categories, Response(span_of(y)), weights, options);
}

}  // namespace

void bind_columns(nb::module_& m) {
    m.def("null_tail", &null_tail, "first"_a, "second"_a, "gain"_a);
    m.def("null_moments", &null_moments, "first"_a, "second"_a, "n_points"_a = 0);
    m.def("permuted_gains", &permuted, "store"_a, "column"_a, "target"_a.noconvert(), "n_classes"_a, "multiway"_a,
          "n_permutations"_a, "seed"_a);
    m.def("permuted_reductions", &permuted_shares, "y"_a.noconvert(), "sizes"_a.noconvert(), "multiway"_a,
          "n_permutations"_a, "seed"_a);
    m.def("ssv_ranks", &ranks_by_ssv, "store"_a, "first"_a, "last"_a, "target"_a.noconvert(), "n_classes"_a,
          "weights"_a.none().noconvert(), "stop"_a.none() = nb::none());
    m.def("best_split", &best_split, "x"_a.noconvert(), "y"_a.noconvert(), "n_classes"_a, "weights"_a.noconvert(),
          "criterion"_a, "missing"_a);
    m.def("best_value_split", &best_value_split, "x"_a.noconvert(), "y"_a.noconvert(), "weights"_a.noconvert(), "missing"_a);
    m.def("nominal_value_split", &nominal_value_split, "codes"_a.noconvert(), "n_categories"_a, "y"_a.noconvert(),
          "weights"_a.noconvert(), "multiway"_a, "missing"_a);
    m.def("nominal_split", &nominal_split, "codes"_a.noconvert(), "n_categories"_a, "y"_a.noconvert(), "n_classes"_a,
          "weights"_a.noconvert(), "criterion"_a, "multiway"_a, "missing"_a);
}

}  // namespace foresift
