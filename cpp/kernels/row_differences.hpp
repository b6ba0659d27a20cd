// How far apart two rows of mixed values are, feature by feature.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace foresift {

/// Distances that differ by less, relative to the number of features, are equal.
inline constexpr double kDistanceTie = 1e-12;

/// The data are n rows of p values, row after row. Numeric: scaled to [0, 1]; nominal: a code. NaN is missing.
/// n_values[f] is 0 for a numeric feature, else the number of its categories.
///
/// The difference of two values of a numeric feature is that of the scaled values; if one is missing the largest it
/// could be, if both are, 1. Of a nominal one: 1 if they differ; 1 - 1 / n_values if one is missing or both.
/// Distance is the sum of the differences.
class RowDifferences {
public:
    /// The spans must outlive the object.
    RowDifferences(std::span<const double> rows, std::span<const std::uint32_t> n_values);

    std::size_t n_features() const noexcept { return n_values_.size(); }
    std::uint32_t n_values(std::size_t feature) const noexcept { return n_values_[feature]; }
    const double* row(std::size_t i) const noexcept { return &rows_[i * n_features()]; }

    double distance(std::uint32_t a, std::uint32_t b) const noexcept;

    /// Adds the differences of two rows, times `by`, to `sums`, one per feature.
    void add(std::uint32_t a, std::uint32_t b, double by, std::span<double> sums) const noexcept;

private:
    double difference(std::size_t feature, double a, double b) const noexcept;

    std::span<const double> rows_;
    std::span<const std::uint32_t> n_values_;
    bool plain_;  // numeric features without missing values only
};

}  // namespace foresift
