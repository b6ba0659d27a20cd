// Sends rows down grown trees. Works on values as the user has them, not on codes: numeric values, category
// codes for nominal columns (anything not seen at a node takes its majority branch), NaN for missing.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>

#include "tree.hpp"

namespace foresift {

/// A node table that lives elsewhere; the same arrays as in Tree. Only one that `checked` returned may be walked.
struct TreeView {
    std::span<const Node> nodes;
    std::span<const double> counts;
    std::span<const std::int32_t> set_offsets;
    std::span<const std::uint16_t> set_codes, set_branches;
    std::size_t n_classes = 0;
    // What `checked` has seen.
    std::size_t n_features = 0;  // rows must have so many columns
    bool sets = false;           // some split is by sets of categories
    bool fractions = false;      // at some split missing values take all branches
};

/// Looks at every node once, for a table can come from anywhere. Throws std::invalid_argument unless children come after
/// their parents, branches, features, counts and category sets are there, and each way down can be walked; where rows
/// take several of them, see check_children.
TreeView checked(TreeView tree);

/// Throws unless no node has two parents, so that all ways down together are no longer than the table. For a table that
/// `checked` returned.
void check_children(const TreeView& tree);

/// Throws unless every parent comes before its children: what the way up needs.
void check_parents(std::span<const Node> nodes);

/// Row-major values.
template <class Real>
struct Matrix {
    const Real* data;
    std::size_t n_rows, n_columns;
    const Real* row(std::size_t i) const noexcept { return data + i * n_columns; }
};

/// Whether any value is NaN; without one the walk is faster.
template <class Real>
bool any_missing(Matrix<Real> x) noexcept;

/// leaves[i] = the leaf that row rows[i] (or i, when `rows` is empty) reaches. Where a missing value goes to
/// all children in parts, the walk follows the largest. `may_miss` false promises that no value is NaN.
template <class Real>
void find_leaves(const TreeView& tree, Matrix<Real> x, bool may_miss, std::span<const std::uint32_t> rows,
                 std::span<std::int32_t> leaves);

/// Adds the class shares of the leaf each row reaches in each tree to probabilities[row * n_classes ...], tree
/// after tree. `stop` is asked now and then; true ends the work early.
template <class Real>
void add_probabilities(std::span<const TreeView> trees, Matrix<Real> x, bool may_miss,
                       std::span<const std::uint32_t> rows, std::span<double> probabilities,
                       const std::function<bool()>& stop);

}  // namespace foresift
