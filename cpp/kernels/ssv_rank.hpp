// The two feature rankings of Grabczewski & Jankowski (section 2.1): both grow full SSV trees and delete their final
// splits, those whose sides are leaves, in the order of the training errors they save.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "base/columns.hpp"
#include "base/interrupt.hpp"
#include "grow/node.hpp"

namespace foresift {

/// One split of a tree. The splits of a tree come in preorder: a parent before its sides, the left before the right.
struct PrunableSplit {
    std::int32_t parent = -1;  // position among the splits; -1: the root
    std::int32_t node = -1;    // position in the node table, if there is one
    double ssv = 0;
    double saved = 0;  // training errors of the node as a leaf, less those of its sides as leaves
};

/// The splits of a grown tree. Savings that differ by rounding only (1e-12 of all rows) are made equal.
std::vector<PrunableSplit> splits_of(std::span<const Node> nodes, std::span<const double> counts,
                                     std::size_t n_classes);

/// Algorithm 1: deletes one final split after another, each time the one that saves least (of equals the one of
/// least SSV, of these the leftmost). Returns the largest (sum of SSV) / ln(2 + i) on the way, i being the number of
/// splits that are left; 0 for a tree without splits.
double rank_by_pruning(std::span<const PrunableSplit> splits);

/// Algorithm 2: in each round deletes all final splits that save least, then, again and again, those that save
/// nothing. Returns the round, from 0, in which each split goes.
std::vector<std::int32_t> rounds_of_pruning(std::span<const PrunableSplit> splits);

/// Algorithm 1 for each of the columns by itself. target[i] in 0..n_classes-1; `weights`: empty, or one finite value
/// >= 0 per row. Precondition: no numeric column has missing values; of a nominal one they are one more category.
/// `stop` is polled every few milliseconds; true ends the work with Interrupted.
std::vector<double> ssv_ranks(std::span<const Column> columns, std::span<const std::int32_t> target,
                              std::uint32_t n_classes, std::span<const double> weights,
                              const Stop& stop);

}  // namespace foresift
