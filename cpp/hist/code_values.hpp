// Numbers as 8-bit codes, by cut points that are known before.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace foresift {

/// Some columns of numbers, rows and columns any distance apart (counted in numbers, not bytes).
template <class Real>
struct NumberBlock {
    const Real* values;
    std::size_t n_rows, n_columns;
    std::ptrdiff_t row_step, column_step;
};

/// Cut points of column j are cuts[begins[j]] to cuts[begins[j + 1]], ascending, at most 254.
struct Cuts {
    std::span<const double> cuts;
    std::span<const std::uint32_t> begins;
};

/// codes[j * n_rows + i] = how many cut points of column j lie below the number in row i; one more than there are cut
/// points where it is NaN.
template <class Real>
void code_values(const NumberBlock<Real>& block, const Cuts& cuts, std::span<std::uint8_t> codes);

}  // namespace foresift
