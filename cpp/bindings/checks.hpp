// What a binding asks of its arguments before a kernel sees them. A wrong one is answered by std::invalid_argument,
// which becomes a ValueError; kernels themselves take what they are given.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <span>
#include <stdexcept>
#include <string>

namespace foresift {

inline constexpr std::size_t kMostRows = std::size_t{1} << 30;     // nodes are counted in 31 bits, two per row
inline constexpr std::size_t kMostColumns = std::size_t{1} << 24;
inline constexpr std::size_t kMostClasses = 65535;  // whatever the number of rows
inline constexpr std::size_t kMostAtOnce = std::size_t{1} << 33;   // numbers that one option may ask memory for
inline constexpr double kMostWeight = 1e150;  // so that the squares of sums are finite
inline constexpr double kMostValue = 1e150;

[[noreturn]] inline void refuse(const std::string& why) { throw std::invalid_argument(why); }

inline std::string shown(double number) {
    char text[32];
    std::snprintf(text, sizeof text, "%.10g", number);
    return text;
}

/// A number that must lie in a range; NaN never does.
template <class Number>
void check_range(const char* name, Number value, Number least, Number most) {
    if (value >= least && value <= most) return;
    refuse(std::string(name) + " must be from " + shown(double(least)) + " to " + shown(double(most)) + ", but is " +
           shown(double(value)) + ".");
}

inline void check_length(const char* name, std::size_t length, std::size_t wanted) {
    if (length == wanted) return;
    refuse(std::string(name) + " must have " + std::to_string(wanted) + " entries, but has " + std::to_string(length) +
           ".");
}

/// That a times b numbers are no absurd thing to ask for.
inline void check_memory(const char* name, std::size_t a, std::size_t b, std::size_t most = kMostAtOnce) {
    if (b > 0 && a > most / b) refuse(std::string(name) + " is too large: it would take " + std::to_string(a) + " x " +
                                      std::to_string(b) + " numbers.");
}

/// Memory that is read as T must lie where a T may: np.frombuffer with an odd offset does not see to that.
template <class T>
void check_aligned(const void* data) {
    if (reinterpret_cast<std::uintptr_t>(data) % alignof(T) != 0) refuse("An array is not aligned in memory: copy it.");
}

/// What is written to must not be what is read: the checks of that would no longer hold.
inline void check_apart(const void* out, std::size_t out_bytes, const void* in, std::size_t in_bytes) {
    const auto a = reinterpret_cast<std::uintptr_t>(out), b = reinterpret_cast<std::uintptr_t>(in);
    if (a < b + in_bytes && b < a + out_bytes) refuse("out shares memory with another argument: pass an array of its own.");
}

inline void check_classes(std::span<const std::int32_t> codes, std::uint32_t n_classes) {
    check_range<std::uint64_t>("n_classes", n_classes, 1, std::max(kMostClasses, codes.size()));
    for (const auto code : codes)
        if (code < 0 || static_cast<std::uint32_t>(code) >= n_classes)
            refuse("A class code is out of range: " + std::to_string(code) + " of " + std::to_string(n_classes) +
                   " classes.");
}

inline void check_quantity(std::span<const double> values) {
    if (values.empty()) refuse("A quantity needs values.");
    for (const double value : values)
        if (!(std::abs(value) <= kMostValue)) refuse("A quantity must be finite and at most 1e150 in size.");
}

inline void check_categories(std::span<const std::int32_t> codes, std::uint32_t n_categories) {
    check_range<std::uint64_t>("n_categories", n_categories, 0, 65534);  // see code_nominal
    for (const auto code : codes)
        if (code < -1 || code >= static_cast<std::int64_t>(n_categories))
            refuse("A category code is out of range: " + std::to_string(code) + " of " + std::to_string(n_categories) +
                   " categories.");
}

/// One finite weight >= 0 for each of `n` things, and one that is positive.
template <class Real>
void check_weights(const char* name, std::span<const Real> weights, std::size_t n) {
    check_length(name, weights.size(), n);
    double sum = 0;
    for (const Real weight : weights) {
        if (!(weight >= 0)) refuse(std::string(name) + " must not be negative or NaN.");
        sum += double(weight);
    }
    if (!(sum > 0 && sum <= kMostWeight)) refuse(std::string(name) + " must have a positive sum, and at most 1e150.");
}

/// Numbers of rows, columns and so on.
template <class Index>
void check_below(const char* name, std::span<const Index> indices, std::size_t n) {
    for (const auto index : indices)
        if (index >= n)
            refuse(std::string(name) + " has the number " + std::to_string(index) + ", but there are only " +
                   std::to_string(n) + ".");
}

template <class Real>
void check_finite_or_missing(std::span<const Real> values) {
    for (const Real value : values)
        if (std::isinf(value)) refuse("A numeric column has infinite values: replace them by NaN or finite numbers.");
}

}  // namespace foresift
