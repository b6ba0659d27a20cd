// Relief and ReliefF: how much a feature differs between a row and its nearest neighbours of other classes, less how
// much it differs between the row and its nearest neighbours of its own class (Kira & Rendell; Kononenko). For a
// quantity, RReliefF: how much a feature differs between near rows, and how much where the quantity differs
// (Robnik-Sikonja & Kononenko).
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
#include "kernels/row_differences.hpp"

namespace foresift {

struct ReliefOptions {
    double n_neighbors = 10;   // nearest hits, and nearest misses of every class
    bool pool_misses = false;  // all other classes together are one (Relief)
    double sigma = 0;          // the influence of neighbour r = 0, 1, ... is exp(-(r / sigma)^2); 0: all have the same
};

/// Differences and distances are those of `RowDifferences`.
///
/// `weights`: how often each row is there, all positive; empty: once. Where several rows are equally far and not all of
/// them are wanted, they share what is left, so that the outcome does not depend on the order of the rows.
class Relief {
public:
    /// The spans must outlive the object. target[i] in 0..n_classes-1. `quantity`: from 0 to 1; empty if there are
    /// classes, otherwise n_classes is 1.
    Relief(std::span<const double> rows, std::span<const std::uint32_t> n_values, std::span<const std::int32_t> target,
           std::uint32_t n_classes, std::span<const double> weights, const ReliefOptions& options,
           std::span<const double> quantity = {});

    /// Length of the sums.
    std::size_t n_sums() const noexcept { return quantity_.empty() ? n_features_ : 2 * n_features_ + 1; }

    /// Sums over the rows `sample` of their weight times (differences to misses - differences to hits), one per
    /// feature, added to `sums`. For a quantity: of their weight times the differences to neighbours, one per feature;
    /// then those times the differences of the quantity; last the latter. Const and safe to use from many threads.
    /// `stop` is polled; true throws Interrupted.
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
    void collect(std::uint32_t row, std::size_t of_class, std::span<const std::uint64_t> estimates,
                 Scratch& scratch) const;
    double influence_up_to(double rank) const noexcept;
    void settle(std::uint32_t row, Scratch& scratch) const;
    void count(std::uint32_t row, double factor, const Scratch& scratch, std::span<double> sums) const;
    void judge_quantity(std::uint32_t row, Scratch& scratch, std::span<double> sums) const;
    void judge(std::uint32_t row, std::span<const std::uint64_t> estimates, Scratch& scratch,
               std::span<double> sums) const;

    RowDifferences differences_;
    std::span<const std::int32_t> target_;
    std::span<const double> weights_, quantity_;
    ReliefOptions options_;
    std::vector<double> influence_;  // of the first 0, 1, ... neighbours together, with sigma
    std::size_t n_features_;
    std::vector<double> class_weight_;      // of every class
    std::vector<std::uint32_t> order_;      // rows by class
    std::vector<std::uint32_t> place_;      // of each row in order_
    std::vector<std::size_t> class_begin_;  // in order_; one more at the end
    std::vector<std::uint32_t> numeric_, nominal_;
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
