// How trees are grown.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "split/splitter.hpp"

namespace foresift {

/// What C4.5 does with a tree once it is grown. It must have been grown with multiway splits, missing values as
/// fractions, and SplitOptions::c45.
struct FinishOptions {
    bool wanted = false;
    bool collapse = true;           // subtrees that make no fewer training errors than a leaf become leaves
    double confidence = 0;          // of error-based pruning, up to 1/2; 0: none
    bool raise = true;              // pruning may also put a node's largest branch in its place
    bool value_thresholds = false;  // the largest training value that goes left, instead of half way to the next
};

/// A nominal column with more categories than this, in the rows of positive weight, has many.
inline constexpr std::uint32_t kManyCategories = 16;

enum class Draw : std::uint8_t { all, bootstrap, subsample };

struct GrowOptions {
    SplitOptions split;
    std::uint32_t max_features = 1;  // columns tried per node; constant ones count
    bool constant_leaf = false;      // whether a node is a leaf if all of them are constant; else more are drawn, one by
                                     // one, until one is not
    std::int32_t max_depth = -1;     // -1: no limit
    double min_split = 2;            // least weight of a node that may be split
    double min_gain = 0;             // least gain of a split
    bool record_tried = false;
    std::uint32_t n_permutations = 0;       // each trial again with the node's classes shuffled, so often (record_tried)
    std::vector<std::uint8_t> permute_column;  // per column: whether that is wanted; empty: for all
    // A nominal column with more than kManyCategories splits only if it gains more than with the node's classes
    // shuffled, and the difference is what it is chosen by (not of SSV). If it does not, it counts as constant where
    // columns are drawn.
    bool correct_nominal = false;
    // Oblivious tree: one column per level. A node takes the first of these, from its own level on, that splits it;
    // its children are one level below that column's. Empty: the best column splits.
    std::vector<std::uint32_t> level_columns;
    // Each trial again with fixed permutations of all rows, so many; not below a split on the same column, which uses up
    // what it knows. Not with n_permutations.
    std::uint32_t n_shadows = 0;
    // Which permutation every shadow of every column has, column by column; empty: shadow t has permutation t.
    std::vector<std::uint32_t> shadow_of;
    // The row whose values each row has, permutation by permutation, if rows are not to be permuted freely.
    std::vector<std::uint32_t> shadow_rows;
    std::uint32_t shadows_per_tree = 0;  // only so many of the shadows, in turn; the others gain NaN. 0: all of them
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

}  // namespace foresift
