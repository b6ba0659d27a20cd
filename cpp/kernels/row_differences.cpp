#include "kernels/row_differences.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace foresift {

RowDifferences::RowDifferences(std::span<const double> rows, std::span<const std::uint32_t> n_values)
    : rows_(rows), n_values_(n_values),
      plain_(std::ranges::all_of(n_values, [](auto n) { return n == 0; }) &&
             std::ranges::none_of(rows, [](double v) { return std::isnan(v); })) {}

double RowDifferences::difference(std::size_t feature, double a, double b) const noexcept {
    if (const auto n = n_values_[feature]; n > 0) {
        if (std::isnan(a) || std::isnan(b)) return 1.0 - 1.0 / n;
        return a != b;
    }
    if (std::isnan(a)) return std::isnan(b) ? 1.0 : std::max(b, 1 - b);
    if (std::isnan(b)) return std::max(a, 1 - a);
    return std::abs(a - b);
}

double RowDifferences::distance(std::uint32_t a, std::uint32_t b) const noexcept {
    const double *x = row(a), *y = row(b);
    constexpr std::size_t kLanes = 8;  // sums side by side, for vectors
    double sums[kLanes] = {}, sum = 0;
    std::size_t f = 0;
    if (plain_)
        for (; f + kLanes <= n_features(); f += kLanes)
            for (std::size_t k = 0; k < kLanes; ++k) sums[k] += std::abs(x[f + k] - y[f + k]);
    for (; f < n_features(); ++f) sum += difference(f, x[f], y[f]);
    return std::accumulate(std::begin(sums), std::end(sums), sum);
}

void RowDifferences::add(std::uint32_t a, std::uint32_t b, double by, std::span<double> sums) const noexcept {
    const double *x = row(a), *y = row(b);
    if (plain_)
        for (std::size_t f = 0; f < n_features(); ++f) sums[f] += by * std::abs(x[f] - y[f]);
    else
        for (std::size_t f = 0; f < n_features(); ++f) sums[f] += by * difference(f, x[f], y[f]);
}

}  // namespace foresift
