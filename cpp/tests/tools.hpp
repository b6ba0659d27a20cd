// What the tests share: comparison of numbers, scores by their definitions, random problems.
#pragma once

#undef NDEBUG
#include <cassert>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <limits>
#include <vector>

#include "base/rng.hpp"
#include "split/criterion.hpp"

namespace foresift::tests {

inline constexpr double kInfinity = std::numeric_limits<double>::infinity();
inline constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();
inline constexpr Criterion kCriteria[] = {Criterion::entropy, Criterion::gini, Criterion::ssv};

inline bool near(double a, double b, double tolerance = 1e-9) {
    return a == b || std::abs(a - b) <= tolerance * (1 + std::abs(a) + std::abs(b));
}

using Counts = std::vector<double>;  // one per class

inline double sum(const Counts& counts) {
    double total = 0;
    for (const double c : counts) total += c;
    return total;
}

inline double entropy(const Counts& counts) {
    double bits = 0;
    for (const double c : counts)
        if (c > 0) bits -= c / sum(counts) * std::log2(c / sum(counts));
    return bits;
}

inline double gini(const Counts& counts) {
    double pure = 0;
    for (const double c : counts) pure += c / sum(counts) * c / sum(counts);
    return 1 - pure;
}

/// Gain of dividing a node into `left` and `right`, written as in a textbook.
inline double textbook_gain(Criterion criterion, const Counts& left, const Counts& right) {
    const double nl = sum(left), nr = sum(right), n = nl + nr;
    Counts all(left);
    for (std::size_t c = 0; c < all.size(); ++c) all[c] += right[c];
    if (criterion == Criterion::ssv) {
        double value = 0;
        for (std::size_t c = 0; c < all.size(); ++c)
            value += 2 * left[c] * (nr - right[c]) - std::min(left[c], right[c]);
        return value;
    }
    const auto impurity = [&](const Counts& counts) {
        return sum(counts) == 0 ? 0 : criterion == Criterion::gini ? gini(counts) : entropy(counts);
    };
    return impurity(all) - nl / n * impurity(left) - nr / n * impurity(right);
}

/// A stream of small random numbers; tests are the same at every run.
struct Dice {
    Bits bits;
    explicit Dice(std::uint64_t seed) : bits(seed, 0, 0) {}
    std::uint32_t below(std::uint32_t n) { return bits.below(n); }
    double unit() { return bits.unit(); }
};

inline int passed(const char* name) {
    std::printf("%s: passed\n", name);
    return 0;
}

}  // namespace foresift::tests
