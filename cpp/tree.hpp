// Grows one classification tree into a flat node table.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <stdexcept>
#include <vector>

#include "columns.hpp"
#include "shared_trials.hpp"
#include "splitter.hpp"

namespace foresift {

/// One row of the node table; children are contiguous. The Python side reads it as a structured array.
struct Node {
    std::int32_t parent = -1;
    std::int32_t first_child = -1;   // -1: leaf
    std::int32_t feature = -1;       // -1: leaf
    std::int32_t category_set = -1;  // -1: numeric cut
    std::uint16_t n_children = 0;
    std::uint16_t majority_branch = 0;  // the largest child: where an unseen category goes
    std::int32_t missing_branch = 0;    // child a missing value takes; -1: all of them, as fractions
    double threshold = 0;  // numeric: x <= threshold takes child 0, else child 1
    double gain = 0;
    double size = 0;  // weight of the rows
};
static_assert(sizeof(Node) == 48);

/// The gain of one feature tried at one node, whether it won or not.
struct Tried {
    std::int32_t node;
    std::int32_t feature;
    double gain;
};

/// Category set s holds set_codes[set_offsets[s] .. set_offsets[s + 1]), each with its child.
struct Tree {
    std::vector<Node> nodes;
    std::vector<double> counts;  // one row of class weights per node
    std::vector<std::int32_t> set_offsets{0};
    std::vector<std::uint16_t> set_codes, set_branches;
    std::vector<Tried> tried;
    std::vector<double> permuted;  // per trial, n_permutations or n_twins gains; NaN for what was not asked for
};

/// What C4.5 does with a tree once it is grown. It must have been grown with multiway splits, missing values as
/// fractions, and SplitOptions::c45.
struct FinishOptions {
    bool wanted = false;
    bool collapse = true;           // subtrees that make no fewer training errors than a leaf become leaves
    double confidence = 0;          // of error-based pruning, up to 1/2; 0: none
    bool raise = true;              // pruning may also put a node's largest branch in its place
    bool value_thresholds = false;  // the largest training value that goes left, instead of half way to the next
};

enum class Draw : std::uint8_t { all, bootstrap, subsample };

struct GrowOptions {
    SplitOptions split;
    std::uint32_t max_features = 1;  // columns tried per node; constant ones count, yet one more is tried
    std::int32_t max_depth = -1;     // -1: no limit
    double min_split = 2;            // least weight of a node that may be split
    double min_gain = 0;             // least gain of a split
    bool record_tried = false;
    std::uint32_t n_permutations = 0;       // each trial again with the node's classes shuffled, so often (record_tried)
    std::vector<std::uint8_t> permute_column;  // per column: whether that is wanted; empty: for all
    // Oblivious tree: one column per level. A node takes the first of these, from its own level on, that splits it;
    // its children are one level below that column's. Empty: the best column splits.
    std::vector<std::uint32_t> level_columns;
    std::uint32_t n_twins = 0;  // each trial again with fixed permutations of all rows, so many (not n_permutations)
    std::uint32_t twins_per_tree = 0;  // only so many of the twins, in turn; the others gain NaN. 0: all of them
    std::vector<std::uint32_t> column_order;  // the columns that may be drawn, in the order that draws count in;
                                              // empty: all as they stand. feature_weights must then be empty
    Draw draw = Draw::all;
    std::uint32_t n_draw = 0;  // rows per bootstrap or subsample
    std::uint64_t seed = 0;
    FinishOptions finish;
};

/// Which columns the nodes of a tree may draw, and how.
struct ColumnDraw {
    std::span<const double> weights;         // empty: uniform, else one weight per column
    std::span<const std::uint32_t> allowed;  // empty: all, else these alone, rising; then `weights` must be empty
    std::uint32_t max_features = 0;          // columns tried per node; 0: as the options say

    ColumnDraw(std::span<const double> w = {}) : weights(w) {}
    ColumnDraw(std::span<const std::uint32_t> columns, std::uint32_t n) : allowed(columns), max_features(n) {}
};

/// Thrown when the caller asked for the work to stop.
struct Interrupted : std::runtime_error {
    Interrupted() : std::runtime_error("interrupted") {}
};

/// A permutation of the rows for all columns; see Grower::twin_rows and Grower::twin_ratios.
struct Twin {
    std::vector<std::uint32_t> rows;
    std::vector<double> ratios;
};

/// What all trees of a forest share. Const and safe to use from many threads.
class Grower {
public:
    /// `columns` and `target` must outlive the grower. target[i] in 0..n_classes-1. `weights`: empty, or one
    /// finite value >= 0 per row.
    Grower(std::span<const Column> columns, std::span<const std::int32_t> target, std::uint32_t n_classes,
           std::span<const double> weights, const GrowOptions& options);

    /// Grows the trees of these numbers; each depends on its number only, not on the others.
    /// A tree of some columns is the one that data of these columns alone would give, but for their numbers.
    /// `stop` is polled every few milliseconds; true ends the work with Interrupted.
    std::vector<Tree> grow(std::span<const std::uint64_t> trees, const ColumnDraw& draw,
                           const std::function<bool()>& stop) const;

    /// Grows the trees and adds the class shares of the leaf that rows[i] reaches in each to shares[i * n_classes ...],
    /// tree after tree. The rows are read from the columns' codes; those of weight 0 are what the trees have not seen.
    void vote(std::span<const std::uint64_t> trees, const ColumnDraw& draw, std::span<const std::uint32_t> rows,
              std::span<double> shares, const std::function<bool()>& stop) const;

    /// The row whose values row i has in twin `twin` of every column: a permutation of the rows of positive weight.
    std::vector<std::uint32_t> twin_rows(std::uint64_t twin) const;

    /// By what the weight of row i is multiplied in twin `twin`; empty: no weights, or none that vary within a class.
    /// Values bring their weights along, so that twins of a column from which weights were made have to do with the
    /// weights as the column has. What is brought is the rank of a weight in its class, and row i gets the weight of
    /// that rank in its own class, so that weights keep what they have to do with the classes.
    std::vector<double> twin_ratios(std::uint64_t twin) const;

    /// How often each row is drawn for tree `tree`. Rows of weight 0 never are, as if they were not there.
    std::vector<std::uint32_t> drawn_rows(std::uint64_t tree) const;

private:
    using Take = std::function<void(Tree&&)>;
    void grow_each(std::span<const std::uint64_t> trees, const ColumnDraw& draw, const std::function<bool()>& stop,
                   const Take& take) const;
    template <class Case, class Score>
    void grow_with(Score score, std::span<const std::uint64_t> trees, const ColumnDraw& draw,
                   const std::function<bool()>& stop, const Take& take) const;

    std::span<const Column> columns_;
    std::span<const std::int32_t> target_;
    std::uint32_t n_classes_;
    std::vector<double> weights_;
    std::vector<std::uint32_t> heavy_;  // the rows of positive weight; empty: all of them
    GrowOptions options_;
    std::vector<Twin> twins_;
    std::unique_ptr<SharedTrials> shared_;  // what trees have found that others may ask for
    std::vector<double> of_whole_;  // x log2 x, or for Gini 1/x; empty: weights are not whole numbers, or too large
};

/// For every trial whether its feature was split on above the node: what it knew has been used there.
std::vector<std::uint8_t> below_own_split(std::span<const Node> nodes, std::span<const Tried> tried);

}  // namespace foresift
