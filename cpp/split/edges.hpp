// Scores at the edges of a histogram of two classes, and bounds of what any cut between two edges could score.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <type_traits>
#include <vector>

#include "split/criterion.hpp"
#include "split/node_rows.hpp"

namespace foresift {

/// The smallest weight that is no less than `least`.
template <class Weight>
Weight least_weight(double least) {
    return static_cast<Weight>(std::is_integral_v<Weight> ? std::ceil(std::min(least, 4e9)) : least);
}

/// Score of a node of two classes by what lies left of a cut.
template <class Weight, class Score>
class PlainTerms {
public:
    using Sum = typename Score::Sum;
    PlainTerms(const Score& score, const Tally<Weight>& totals)
        : score_(score), n_{totals.by_class[0], totals.by_class[1]}, total_(totals.total) {}

    Sum first(Weight left) const noexcept { return score_.term(left, Weight(n_[0] - left)); }
    Sum second(Weight left) const noexcept { return score_.term(left, Weight(n_[1] - left)); }
    double join(Sum sum, Weight left) const noexcept { return score_.join(sum, left, Weight(total_ - left)); }

private:
    Score score_;
    std::array<Weight, 2> n_;
    Weight total_;
};

/// The same from tables of one node: three look-ups for six, to the last bit. They are worth making if many columns
/// are tried at the node.
class TabledTerms {
public:
    using Sum = double;

    void make(const EntropyScore<TableLog>& score, const Tally<std::uint32_t>& totals) {
        fill(score, totals.by_class[0], first_);
        fill(score, totals.by_class[1], second_);
        fill(score, totals.total, both_);
    }
    Sum first(std::uint32_t left) const noexcept { return first_[left]; }
    Sum second(std::uint32_t left) const noexcept { return second_[left]; }
    double join(Sum sum, std::uint32_t left) const noexcept { return sum - both_[left]; }

private:
    static void fill(const EntropyScore<TableLog>& score, std::uint32_t n, std::vector<double>& table) {
        table.resize(std::size_t{n} + 1);
        for (std::uint32_t left = 0; left <= n; ++left) table[left] = score.term(left, n - left);
    }
    std::vector<double> first_, second_, both_;
};

/// A bin: what lies left of it, and what no cut inside scores more than.
template <class Weight>
struct Bin {
    std::size_t number;
    std::array<Weight, 2> left;
    double bound;
};

/// Scores edges of bins of two classes. Nearly no branch depends on the data: a wrong guess costs as much as a score.
template <class Weight, class Terms>
class EdgeScan {
public:
    EdgeScan(const Terms& terms, const Tally<Weight>& totals, double min_leaf)
        : terms_(terms), total_(totals.total), least_(least_weight<Weight>(min_leaf)) {}

    bool admissible(Weight left) const noexcept { return left >= least_ && total_ - left >= least_; }

    /// Goes through some bins of the histogram `weights`, two class weights per bin, from number `first` to the one
    /// before `last`; `left` lies before the first. Writes a Bin for each of them, and calls offer(score, number) for
    /// bins at whose end a cut is allowed that scores more than bar(). At the end of the histogram none is.
    template <class Bar, class Offer>
    void scan(std::span<const Weight> weights, std::size_t first, std::size_t last, std::array<Weight, 2> left,
              Bin<Weight>* bins, Bar bar, Offer offer) const {
        const std::size_t n_bins = weights.size() / 2;
        auto sum0 = terms_.first(left[0]);
        auto sum1 = terms_.second(left[1]);
        // Nobody has scored what lies left of the whole histogram: that is no cut between two values.
        const double before = terms_.join(sum0 + sum1, left[0] + left[1]);
        double refused = first == 0 ? before : refusal(left[0] + left[1], before);
        for (std::size_t b = first; b < last; ++b, ++bins) {
            const std::array<Weight, 2> next{left[0] + weights[2 * b], left[1] + weights[2 * b + 1]};
            const Weight n_next = next[0] + next[1];
            const auto next0 = terms_.first(next[0]);
            const auto next1 = terms_.second(next[1]);
            const double corner0 = terms_.join(next0 + sum1, next[0] + left[1]);
            const double corner1 = terms_.join(sum0 + next1, left[0] + next[1]);
            const double edge = terms_.join(next0 + next1, n_next);
            // An edge that may not be cut, because a side is too small, still bounds the cuts beside it.
            const double also = b + 1 == n_bins ? edge : refusal(n_next, edge);
            *bins = {b, left, std::max(std::max(corner0, corner1), std::max(refused, also))};
            if (edge > bar() && b + 1 < n_bins && admissible(n_next)) offer(edge, b);
            left = next, sum0 = next0, sum1 = next1, refused = also;
        }
    }

private:
    double refusal(Weight left, double score) const noexcept {
        return admissible(left) ? -std::numeric_limits<double>::infinity() : score;
    }

    const Terms& terms_;
    Weight total_, least_;
};

}  // namespace foresift
