// Sends rows down grown trees. Works on values as the user has them, not on codes: numeric values, category
// codes for nominal columns (anything not seen at a node takes its majority branch), NaN for missing.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "base/interrupt.hpp"
#include "walk/table_check.hpp"

namespace foresift {

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
/// after tree. `stop` is asked now and then; true ends the work with Interrupted.
template <class Real>
void add_probabilities(std::span<const TreeView> trees, Matrix<Real> x, bool may_miss,
                       std::span<const std::uint32_t> rows, std::span<double> probabilities,
                       const Stop& stop);

}  // namespace foresift
