// Groups of the categories of a nominal column, a branch each: C4.5's grouping of values (Quinlan 1993, chapter 7).
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace foresift {

/// A column with more categories than this at a node is not grouped there: each has a branch of its own.
inline constexpr std::size_t kMostGrouped = 256;

/// The group of every category, groups numbered by their first category. `counts` has one row of class weights per
/// category, each with a positive sum; rows of the total weight `missing` have no known category.
///
/// It begins with a group per category. As long as there are more than two, the two groups are merged that give the best
/// gain ratio together, if that is better than before, or if fewer than two groups weigh `min_leaf`. No merging leaves
/// fewer than two such groups where there were two. Ratios that differ by less than kNear are equal, and of equal
/// pairs the first is merged. O(k^2 (k + n_classes)) for k categories.
std::vector<std::uint16_t> group_categories(std::span<const double> counts, std::size_t n_classes, double missing,
                                            double min_leaf);

}  // namespace foresift
