// What a split is worth. Of classes, from their counts on its two sides: every criterion is a sum over classes and
// a formula that finishes it, so a scan can update the sum one row at a time:
//
//     score = join( sum_c term(l_c, r_c),  n_left,  n_right )
//
// `score` orders the splits of one node; `gain` turns it into the reported value; no split of a node scores more
// than `pure`, and only those into pure sides as much. Each score is convex in
// every single l_c, so over a box of left counts its largest value is at a corner of the box: the splitter
// relies on that to skip stretches of a column that cannot hold the best cut. Of a quantity, see VarianceScore.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

namespace foresift {

enum class Criterion : std::uint8_t { entropy, gini, gain_ratio, ssv, variance };

/// x log2 x, with 0 at 0.
inline double xlog2x(double x) noexcept { return x > 0 ? x * std::log2(x) : 0.0; }

/// Reads x log2 x of whole numbers from a table that covers the total weight of the data.
struct TableLog {
    const double* table;
    double operator()(std::uint32_t x) const noexcept { return table[x]; }
};

/// Computes x log2 x of real weights.
struct RealLog {
    double operator()(double x) const noexcept { return xlog2x(x); }
};

/// Divides by a whole number with a table of 1/x, and 0 at 0, that covers the total weight of the data.
struct TableQuotient {
    const double* inverse;
    double operator()(double sum, std::uint32_t n) const noexcept { return sum * inverse[n]; }
};

/// Divides by a real weight; 0 / 0 is 0.
struct RealQuotient {
    double operator()(double sum, double n) const noexcept { return n > 0 ? sum / n : 0.0; }
};

/// n times the information gain, in bits, up to a constant of the node.
template <class XLogX>
struct EntropyScore {
    using Sum = double;
    XLogX xlogx;
    template <class N> Sum term(N l, N r) const noexcept { return xlogx(l) + xlogx(r); }
    template <class N> double join(Sum sum, N nl, N nr) const noexcept { return sum - (xlogx(nl) + xlogx(nr)); }
    template <class Sums> double pure(const Sums&) const noexcept { return 0; }
    double gain(double score, double unsplit, double n) const noexcept { return (score - unsplit) / n; }
    double score_at(double gain, double unsplit, double n) const noexcept { return gain * n + unsplit; }
};

/// n times the decrease of the Gini impurity, up to a constant of the node.
template <class Quotient = RealQuotient>
struct GiniScore {
    struct Sum {
        double left = 0, right = 0;
        Sum& operator+=(Sum o) noexcept { return left += o.left, right += o.right, *this; }
        friend Sum operator+(Sum a, Sum b) noexcept { return a += b; }
        friend Sum operator-(Sum a, Sum b) noexcept { return {a.left - b.left, a.right - b.right}; }
    };
    Quotient quotient{};
    template <class N> Sum term(N l, N r) const noexcept { return {double(l) * double(l), double(r) * double(r)}; }
    template <class N> double join(Sum sum, N nl, N nr) const noexcept {
        return quotient(sum.left, nl) + quotient(sum.right, nr);
    }
    template <class Sums> double pure(const Sums& totals) const noexcept { return double(totals.total); }
    double gain(double score, double unsplit, double n) const noexcept { return (score - unsplit) / n; }
    double score_at(double gain, double unsplit, double n) const noexcept { return gain * n + unsplit; }
};

/// Separability of split value: 2 sum_c L_c (R - R_c) - sum_c min(L_c, R_c) (Grabczewski & Jankowski, 2).
struct SsvScore {
    using Sum = double;
    template <class N> Sum term(N l, N r) const noexcept { return -2 * double(l) * double(r) - double(std::min(l, r)); }
    template <class N> double join(Sum sum, N nl, N nr) const noexcept { return 2 * double(nl) * double(nr) + sum; }
    // Depends on the sizes.
    template <class Sums> double pure(const Sums&) const noexcept { return std::numeric_limits<double>::infinity(); }
    double gain(double score, double, double) const noexcept { return score; }
    double score_at(double gain, double, double) const noexcept { return gain; }
};

/// n times the decrease of the variance. With the quantity centred at the node, a side of weight n_left and sum s
/// decreases it by s^2 n / (n_left n_right) / n. That is convex in (n_left, s), and grows with |s|.
struct VarianceScore {
    double of(double left, double sum, double n) const noexcept {
        const double both = left * (n - left);
        return both > 0 ? sum * sum * (n / both) : 0.0;
    }
    template <class Sums> double pure(const Sums& totals) const noexcept { return totals.spread(); }
    double gain(double score, double, double n) const noexcept { return score / n; }
    double score_at(double gain, double, double n) const noexcept { return gain * n; }
};

}  // namespace foresift
