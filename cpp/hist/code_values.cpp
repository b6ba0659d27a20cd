#include "hist/code_values.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <vector>

namespace foresift {
namespace {

constexpr std::size_t kCuts = 255, kTile = 256;  // a tile of rows stays in the cache while all columns are read

// The number of cuts below a value, by halving without branches; `cuts` has 255 numbers, infinity after the last.
template <class Real>
std::uint8_t n_below(const Real* cuts, Real value) noexcept {
    std::size_t at = 0;
    for (std::size_t step = 128; step > 0; step /= 2) at += cuts[at + step - 1] < value ? step : 0;
    return static_cast<std::uint8_t>(at);
}

// The largest float that is no larger: a float lies below a cut just if it lies below that, or is equal.
template <class Real>
Real rounded_down(double cut) noexcept {
    auto near = static_cast<Real>(cut);
    if (double(near) > cut) near = std::nextafter(near, -std::numeric_limits<Real>::infinity());
    return near;
}

}  // namespace

template <class Real>
void code_values(const NumberBlock<Real>& block, const Cuts& cuts, std::span<std::uint8_t> codes) {
    std::vector<std::array<Real, kCuts>> padded(block.n_columns);
    for (std::size_t j = 0; j < block.n_columns; ++j) {
        padded[j].fill(std::numeric_limits<Real>::infinity());
        const auto own = cuts.cuts.subspan(cuts.begins[j], cuts.begins[j + 1] - cuts.begins[j]);
        std::transform(own.begin(), own.end(), padded[j].begin(), rounded_down<Real>);
    }
    for (std::size_t begin = 0; begin < block.n_rows; begin += kTile) {
        const std::size_t end = std::min(begin + kTile, block.n_rows);
        for (std::size_t j = 0; j < block.n_columns; ++j) {
            const auto missing = static_cast<std::uint8_t>(cuts.begins[j + 1] - cuts.begins[j] + 1);
            const Real* value = block.values + static_cast<std::ptrdiff_t>(begin) * block.row_step +
                                static_cast<std::ptrdiff_t>(j) * block.column_step;
            std::uint8_t* const to = codes.data() + j * block.n_rows;
            for (std::size_t i = begin; i < end; ++i, value += block.row_step)
                to[i] = *value == *value ? n_below(padded[j].data(), *value) : missing;
        }
    }
}

template void code_values(const NumberBlock<float>&, const Cuts&, std::span<std::uint8_t>);
template void code_values(const NumberBlock<double>&, const Cuts&, std::span<std::uint8_t>);

}  // namespace foresift
