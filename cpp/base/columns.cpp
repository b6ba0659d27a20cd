#include "base/columns.hpp"

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

// The bin of a value is the quantile of the rows before it, so equal values never part. Keeps each bin's largest.
template <class Real>
void merge_into_bins(std::vector<std::uint32_t>& codes, std::vector<Real>& distinct, std::uint32_t room) {
    std::size_t last_bin = 0;
    std::uint32_t merged = 0, value = 0;
    for (std::size_t i = 0; i < codes.size(); ++i) {
        if (i > 0 && codes[i] != value) {
            const std::size_t bin = i * room / codes.size();
            merged += bin != last_bin;
            last_bin = bin;
        }
        value = codes[i];
        distinct[merged] = distinct[value];
        codes[i] = merged;
    }
    distinct.resize(merged + 1);
}

// All rows missing at first; the width of the codes follows from n_values.
void allocate_codes(Column& column, std::size_t n_rows, std::uint32_t missing_code) {
    if (column.n_values + 1 <= 256)
        column.narrow.assign(n_rows, static_cast<std::uint8_t>(missing_code));
    else
        column.wide.assign(n_rows, static_cast<std::uint16_t>(missing_code));
}

}  // namespace

double Column::threshold_between(std::uint32_t left, std::uint32_t right) const noexcept {
    const double low = value(left), high = value(binned ? right - 1 : right);
    const double middle = low / 2 + high / 2;
    return middle >= low && (middle < high || binned) ? middle : low;
}

std::uint32_t Column::last_at_or_below(double t, std::uint32_t low, std::uint32_t high) const noexcept {
    const auto search = [&](const auto& values) {
        const auto first = values.begin();
        const auto above = std::upper_bound(first + low, first + high, t);
        return above == first + low ? low : static_cast<std::uint32_t>(above - first) - 1;
    };
    return doubles.empty() ? search(floats) : search(doubles);
}

template <class Real>
Column code_numeric(std::span<const Real> values, std::uint32_t max_bins) {
    Column column;
    const auto items = sorted_rows(values);
    const std::size_t known = items.size();
    column.has_missing = known < values.size();
    const auto row_at = [&](std::size_t i) { return static_cast<std::uint32_t>(items[i]); };

    // The rank of every row in sorted order, and the distinct values.
    std::vector<std::uint32_t> codes(known);
    std::vector<Real> distinct;
    for (std::size_t i = 0; i < known; ++i) {
        const Real value = values[row_at(i)];
        if (i == 0 || value != distinct.back()) distinct.push_back(value + Real{0});  // never -0.0
        codes[i] = static_cast<std::uint32_t>(distinct.size()) - 1;
    }
    const std::uint32_t room = std::min(max_bins, kMaxCodes - (column.has_missing ? 1 : 0));
    column.binned = distinct.size() > room;
    if (column.binned) merge_into_bins(codes, distinct, room);

    column.n_values = static_cast<std::uint32_t>(distinct.size());
    allocate_codes(column, values.size(), column.n_values);
    if (!column.narrow.empty())
        for (std::size_t i = 0; i < known; ++i) column.narrow[row_at(i)] = static_cast<std::uint8_t>(codes[i]);
    else
        for (std::size_t i = 0; i < known; ++i) column.wide[row_at(i)] = static_cast<std::uint16_t>(codes[i]);
    distinct.shrink_to_fit();
    if constexpr (std::is_same_v<Real, float>)
        column.floats = std::move(distinct);
    else
        column.doubles = std::move(distinct);
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

Column take_rows(const Column& column, std::span<const std::uint32_t> rows) {
    Column taken;
    taken.nominal = column.nominal;
    taken.binned = column.binned;
    Codes::of(column).with([&](const auto* codes) {
        std::vector<std::uint32_t> place(std::size_t{column.n_values} + 1, 0);  // 1 if the code occurs, then its new number
        for (const auto row : rows) place[codes[row]] = 1;
        taken.has_missing = place.back() != 0;
        for (std::uint32_t code = 0; code < column.n_values; ++code) {
            if (place[code] == 0) continue;
            if (!column.doubles.empty()) taken.doubles.push_back(column.doubles[code]);
            if (!column.floats.empty()) taken.floats.push_back(column.floats[code]);
            place[code] = taken.n_values++;
        }
        place.back() = taken.n_values;
        allocate_codes(taken, rows.size(), taken.n_values);
        const auto gather = [&](auto& to) {
            using Code = typename std::remove_reference_t<decltype(to)>::value_type;
            for (std::size_t i = 0; i < to.size(); ++i) to[i] = static_cast<Code>(place[codes[rows[i]]]);
        };
        taken.narrow.empty() ? gather(taken.wide) : gather(taken.narrow);
    });
    return taken;
}

}  // namespace foresift
