// Relief and ReliefF: how much a feature differs between a row and its nearest neighbours of other classes, less how
// much it differs between the row and its nearest neighbours of its own class (Kira & Rendell; Kononenko).
//
// To find the nearest rows, distances to all of them are estimated from coarse values, one byte each (two where there
// are many features, whose errors add up), with a bound on the error; only rows that may be among the nearest are
// measured in double precision. No matrix of distances is kept.
#pragma once

#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "base/interrupt.hpp"

namespace foresift {

struct ReliefOptions {
    double n_neighbors = 10;   // nearest hits, and nearest misses of every class
    bool pool_misses = false;  // all other classes together are one (Relief)
};

/// The data are n rows of p values, row after row. Numeric: scaled to [0, 1]; nominal: a code. NaN is missing.
/// n_values[f] is 0 for a numeric feature, else the number of its categories.
///
/// The difference of two values of a numeric feature is that of the scaled values; if one is missing the largest it
/// could be, if both are, 1. Of a nominal one: 1 if they differ; 1 - 1 / n_values if one is missing or both.
/// Distance is the sum of the differences.
///
/// `weights`: how often each row is there, all positive; empty: once. Where several rows are equally far and not all of
/// them are wanted, they share what is left, so that the outcome does not depend on the order of the rows.
class Relief {
public:
    /// The spans must outlive the object. target[i] in 0..n_classes-1.
    Relief(std::span<const double> rows, std::span<const std::uint32_t> n_values, std::span<const std::int32_t> target,
           std::uint32_t n_classes, std::span<const double> weights, const ReliefOptions& options);

    /// Sums over the rows `sample` of their weight times (differences to misses - differences to hits), one per
    /// feature, added to `sums`. Const and safe to use from many threads. `stop` is polled; true throws Interrupted.
    void add(std::span<const std::uint32_t> sample, std::span<double> sums, const Stop& stop) const;

private:
    struct Near {
        double distance;
        std::uint32_t row;
        double share;  // of the row's weight
    };
    struct Scratch {
        std::vector<Near> candidates, nearest;
        std::vector<std::pair<double, double>> heap;  // distance, weight
    };

    std::size_t n_rows() const noexcept { return target_.size(); }
    double weight(std::uint32_t row) const noexcept { return weights_.empty() ? 1.0 : weights_[row]; }
    template <class Coarse> void write_coarse(std::vector<Coarse>& lines);
    template <class Coarse>
    void estimate(const std::vector<Coarse>& lines, std::span<const std::uint32_t> rows,
                  std::span<std::uint64_t> estimates, const Stop& stop) const;
    double difference(std::size_t feature, double a, double b) const noexcept;
    double distance(std::uint32_t a, std::uint32_t b) const noexcept;
    void collect(std::uint32_t row, std::size_t of_class, std::span<const std::uint64_t> estimates,
                 Scratch& scratch) const;
    void settle(std::uint32_t row, Scratch& scratch) const;
    void count(std::uint32_t row, double factor, const Scratch& scratch, std::span<double> sums) const;
    void judge(std::uint32_t row, std::span<const std::uint64_t> estimates, Scratch& scratch,
               std::span<double> sums) const;

    std::span<const double> rows_;
    std::span<const std::uint32_t> n_values_;
    std::span<const std::int32_t> target_;
    std::span<const double> weights_;
    ReliefOptions options_;
    std::size_t n_features_;
    std::vector<double> class_weight_;      // of every class
    std::vector<std::uint32_t> order_;      // rows by class
    std::vector<std::uint32_t> place_;      // of each row in order_
    std::vector<std::size_t> class_begin_;  // in order_; one more at the end
    std::vector<std::uint32_t> numeric_, nominal_;
    bool plain_ = true;  // numeric features without missing values only
    // One line per row, in the order of order_: numeric features, then nominal ones, each part padded with zeros. The
    // distance of two rows is (what their lines say) / scale_ + offset_ of both, give or take error_ of both.
    std::size_t numeric_width_, width_;
    std::vector<std::uint8_t> bytes_;  // one of the two
    std::vector<std::int16_t> words_;
    double scale_ = 1;
    std::vector<double> offset_, error_;
    double least_offset_ = 0, most_error_ = 0;
};

}  // namespace foresift
