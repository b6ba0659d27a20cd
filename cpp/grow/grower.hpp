// Grows trees into flat node tables.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <vector>

#include "base/columns.hpp"
#include "base/interrupt.hpp"
#include "grow/node.hpp"
#include "grow/options.hpp"
#include "grow/shared_gains.hpp"

namespace foresift {

/// A permutation of the rows; see Grower::shadow_rows and Grower::shadow_ratios.
struct Shadow {
    std::vector<std::uint32_t> rows;
    std::vector<double> ratios;
};

/// What all trees of a forest share. Const and safe to use from many threads.
class Grower {
public:
    /// `columns` and what `response` refers to must outlive the grower. Classes in 0..n_classes-1; values finite, and
    /// the square of their range too. `weights`: empty, or one finite value >= 0 per row. A quantity goes with
    /// Criterion::variance, and that with nothing else.
    Grower(std::span<const Column> columns, const Response& response, std::span<const double> weights,
           const GrowOptions& options);

    /// Grows the trees of these numbers; each depends on its number only, not on the others.
    /// A tree of some columns is the one that data of these columns alone would give, but for their numbers.
    /// `stop` is polled every few milliseconds; true ends the work with Interrupted.
    std::vector<Tree> grow(std::span<const std::uint64_t> trees, const ColumnDraw& draw,
                           const Stop& stop) const;

    /// Grows the trees and adds the class shares, or the mean, of the leaf that rows[i] reaches in each to
    /// shares[i * n_outputs ...], tree after tree. The rows are read from the columns' codes; those of weight 0 are what the trees have not seen.
    void vote(std::span<const std::uint64_t> trees, const ColumnDraw& draw, std::span<const std::uint32_t> rows,
              std::span<double> shares, const Stop& stop) const;

    /// The row whose values row i has in shadow `shadow` of every column: a permutation of the rows of positive weight.
    std::vector<std::uint32_t> shadow_rows(std::uint64_t shadow) const;

    /// By what the weight of row i is multiplied in shadow `shadow`; empty: no weights, or none that vary within a class
    /// (a quantity: within a tenth of the rows).
    /// Values bring their weights along, so that shadows of a column from which weights were made have to do with the
    /// weights as the column has. What is brought is the rank of a weight in its class, and row i gets the weight of
    /// that rank in its own class, so that weights keep what they have to do with the classes.
    std::vector<double> shadow_ratios(std::uint64_t shadow) const;

    /// How often each row is drawn for tree `tree`. Rows of weight 0 never are, as if they were not there.
    std::vector<std::uint32_t> drawn_rows(std::uint64_t tree) const;

private:
    void scale_values();
    void find_strata();
    void find_many_categories();
    void unscale(Tree& tree) const;
    using Take = std::function<void(Tree&&)>;
    void grow_each(std::span<const std::uint64_t> trees, const ColumnDraw& draw, const Stop& stop,
                   const Take& take) const;
    template <class Case, class Score>
    void grow_with(Score score, std::span<const std::uint64_t> trees, const ColumnDraw& draw,
                   const Stop& stop, const Take& take) const;

    std::span<const Column> columns_;
    Response response_;
    std::vector<double> values_;        // a quantity divided by 2^scale_, so that its squares are neither huge nor tiny
    int scale_ = 0;
    std::vector<std::uint32_t> order_;  // see Response::order
    std::vector<std::int32_t> strata_;  // groups of rows with a similar target
    std::int32_t n_strata_ = 0;
    std::vector<double> weights_;
    std::vector<std::uint32_t> heavy_;  // the rows of positive weight; empty: all of them
    GrowOptions options_;
    std::vector<Shadow> shadows_;
    std::vector<std::uint8_t> has_many_;  // per column: whether it has many categories; empty if nobody asks
    std::unique_ptr<SharedTrials> shared_;  // what trees have found that others may ask for
    bool whole_ = false;            // weights are whole numbers, and not too large
    std::vector<double> of_whole_;  // x log2 x, or for Gini 1/x, of whole weights
};

}  // namespace foresift
