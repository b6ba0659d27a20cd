#include "columns.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <type_traits>
#include <utility>

namespace foresift {
namespace {

// An unsigned integer in the order of the floating-point number. -0.0 and 0.0 share one.
std::uint64_t ordered_bits(double value) noexcept {
    const auto bits = std::bit_cast<std::uint64_t>(value + 0.0);
    return bits >> 63 ? ~bits : bits | (1ULL << 63);
}
std::uint64_t ordered_bits(float value) noexcept {
    const auto bits = std::bit_cast<std::uint32_t>(value + 0.0F);
    return std::uint64_t{bits >> 31 ? ~bits : bits | (1U << 31)} << 32;
}

// Sorts by the upper 32 bits, stable: three counting passes of 11 bits.
void radix_sort_upper(std::vector<std::uint64_t>& items, std::vector<std::uint64_t>& spare) {
    constexpr int kBits = 11;
    constexpr std::uint64_t kMask = (1U << kBits) - 1;
    std::array<std::array<std::uint32_t, kMask + 1>, 3> starts{};
    for (const auto item : items)
        for (int pass = 0; pass < 3; ++pass) ++starts[pass][(item >> (32 + kBits * pass)) & kMask];
    spare.resize(items.size());
    for (int pass = 0; pass < 3; ++pass) {
        auto& start = starts[pass];
        const int shift = 32 + kBits * pass;
        if (start[(items[0] >> shift) & kMask] == items.size()) continue;
        std::uint32_t sum = 0;
        for (auto& s : start) sum += std::exchange(s, sum);
        for (const auto item : items) spare[start[(item >> shift) & kMask]++] = item;
        items.swap(spare);
    }
}

// Rows of the known values in ascending order of value, as (upper half of the key, row) in 64 bits.
template <class Real>
std::vector<std::uint64_t> sorted_rows(std::span<const Real> values) {
    std::vector<std::uint64_t> items, spare;
    items.reserve(values.size());
    constexpr std::uint64_t kUpper = 0xffffffff00000000ULL;
    for (std::size_t row = 0; row < values.size(); ++row)
        if (!std::isnan(values[row])) items.push_back((ordered_bits(values[row]) & kUpper) | row);
    if (items.size() < 256)
        std::sort(items.begin(), items.end());
    else
        radix_sort_upper(items, spare);
    if constexpr (std::is_same_v<Real, double>) {
        // The upper half of a double decides nearly always; finish the runs where it does not.
        for (std::size_t begin = 0, end; begin < items.size(); begin = end) {
            for (end = begin + 1; end < items.size() && !((items[begin] ^ items[end]) & kUpper);) ++end;
            if (end - begin > 1)
                std::sort(items.begin() + begin, items.begin() + end, [&](std::uint64_t a, std::uint64_t b) {
                    return values[static_cast<std::uint32_t>(a)] < values[static_cast<std::uint32_t>(b)];
                });
        }
    }
    return items;
}

// Calls store(row, code) with the final code type chosen by n_values.
void allocate_codes(Column& column, std::size_t n_rows, std::uint32_t missing_code) {
    if (column.n_values + 1 <= 256)
        column.narrow.assign(n_rows, static_cast<std::uint8_t>(missing_code));
    else
        column.wide.assign(n_rows, static_cast<std::uint16_t>(missing_code));
}

}  // namespace

double Column::threshold_between(std::uint32_t left, std::uint32_t right) const noexcept {
    const double low = upper[left], high = smallest(right);
    const double middle = low / 2 + high / 2;
    return middle >= low && middle < high ? middle : low;
}

template <class Real>
Column code_numeric(std::span<const Real> values, std::uint32_t max_bins) {
    Column column;
    const auto items = sorted_rows(values);
    const std::size_t known = items.size();
    column.has_missing = known < values.size();
    const auto row_at = [&](std::size_t i) { return static_cast<std::uint32_t>(items[i]); };
    const auto new_value = [&](std::size_t i) { return i == 0 || values[row_at(i)] != values[row_at(i - 1)]; };

    std::uint32_t distinct = 0;
    for (std::size_t i = 0; i < known; ++i) distinct += new_value(i);
    const std::uint32_t room = std::min(max_bins, kMaxCodes - (column.has_missing ? 1 : 0));
    const bool binned = distinct > room;

    // Bin of a value = the quantile of the rows before it, so equal values never part.
    std::vector<std::uint32_t> code_of(known);
    std::uint32_t code = 0;
    std::size_t last_bin = 0;
    column.upper.reserve(std::min(distinct, room));
    for (std::size_t i = 0; i < known; ++i) {
        if (new_value(i)) {
            const std::size_t bin = binned ? i * room / known : 0;
            if (i == 0 || !binned || bin != last_bin) {
                if (i > 0) ++code;
                column.upper.push_back(0);
                if (binned) column.lower.push_back(static_cast<double>(values[row_at(i)]) + 0.0);
            }
            last_bin = bin;
            column.upper[code] = static_cast<double>(values[row_at(i)]) + 0.0;
        }
        code_of[i] = code;
    }
    column.n_values = static_cast<std::uint32_t>(column.upper.size());
    allocate_codes(column, values.size(), column.n_values);
    if (!column.narrow.empty())
        for (std::size_t i = 0; i < known; ++i) column.narrow[row_at(i)] = static_cast<std::uint8_t>(code_of[i]);
    else
        for (std::size_t i = 0; i < known; ++i) column.wide[row_at(i)] = static_cast<std::uint16_t>(code_of[i]);
    return column;
}

template Column code_numeric<float>(std::span<const float>, std::uint32_t);
template Column code_numeric<double>(std::span<const double>, std::uint32_t);

Column code_nominal(std::span<const std::int32_t> codes, std::uint32_t n_categories) {
    Column column;
    column.nominal = true;
    column.n_values = n_categories;
    allocate_codes(column, codes.size(), n_categories);
    for (std::size_t row = 0; row < codes.size(); ++row) {
        if (codes[row] < 0)
            column.has_missing = true;
        else if (!column.narrow.empty())
            column.narrow[row] = static_cast<std::uint8_t>(codes[row]);
        else
            column.wide[row] = static_cast<std::uint16_t>(codes[row]);
    }
    return column;
}

}  // namespace foresift
