// The column store: every column as small integer codes. Codes of a numeric column are ranks of its distinct
// values, so a split on codes is the exact split; codes of a nominal column have no order. The code after the
// last value stands for "missing".
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace foresift {

struct Column {
    std::vector<std::uint8_t> narrow;  // codes, when all of them fit in 8 bits
    std::vector<std::uint16_t> wide;   // codes otherwise; exactly one of the two is filled
    std::vector<float> floats;         // numeric: value of each code (binned: the largest), if the data was float
    std::vector<double> doubles;       // the same, if the data was double
    std::uint32_t n_values = 0;        // codes 0 .. n_values - 1; n_values means missing
    bool nominal = false;
    bool has_missing = false;
    bool binned = false;  // several values may share a code

    double value(std::uint32_t code) const noexcept { return doubles.empty() ? floats[code] : doubles[code]; }

    /// A threshold that parts codes left and right: half way between their values, where the arithmetic allows
    /// it; of a binned column, between the largest values of `left` and of the code before `right`.
    double threshold_between(std::uint32_t left, std::uint32_t right) const noexcept;

    /// The last code in low..high-1 whose value is at or below t; low, if there is none.
    std::uint32_t last_at_or_below(double t, std::uint32_t low, std::uint32_t high) const noexcept;
};

/// The codes of one column, wherever they lie; exactly one pointer is set.
struct Codes {
    const std::uint8_t* narrow = nullptr;
    const std::uint16_t* wide = nullptr;

    static Codes of(const Column& column) noexcept {
        return column.wide.empty() ? Codes{column.narrow.data(), nullptr} : Codes{nullptr, column.wide.data()};
    }
    /// Calls visit(pointer to the codes).
    template <class Visit> decltype(auto) with(Visit visit) const { return narrow ? visit(narrow) : visit(wide); }
};

/// Codes as signed numbers in the same order, and back.
constexpr std::int16_t as_signed(std::uint16_t code) noexcept { return static_cast<std::int16_t>(code ^ 0x8000U); }
constexpr std::uint16_t as_unsigned(std::int16_t code) noexcept { return static_cast<std::uint16_t>(code) ^ 0x8000U; }

/// The most codes a column can have, missing included.
inline constexpr std::uint32_t kMaxCodes = 65536;

/// Codes one numeric column. NaN is missing. At most `max_bins` (2..65536) codes for values: a column with
/// more distinct values is cut into quantile bins of about equal numbers of rows.
/// Precondition: no infinite values, values.size() < 2^32.
template <class Real>
Column code_numeric(std::span<const Real> values, std::uint32_t max_bins);

/// Codes one nominal column. codes[i] in 0..n_categories-1, or -1 for missing; n_categories < 65535, so that
/// branches, one of them for missing values, can be counted in 16 bits.
Column code_nominal(std::span<const std::int32_t> codes, std::uint32_t n_categories);

/// The column of some rows, with the codes that coding them alone would give: those that occur, numbered anew in
/// their order. A binned column keeps its bins. rows[i] < the number of rows.
Column take_rows(const Column& column, std::span<const std::uint32_t> rows);

}  // namespace foresift
