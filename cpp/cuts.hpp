// The best cut of a numeric column at one node.
//
// Two classes: rows are counted into coarse bins of codes; the score at every bin's edge is exact, and the
// corner property of criterion.hpp bounds what any cut inside a bin, or inside several, could score. Only bins
// whose bound beats the best edge are sorted and searched, so the answer is the exact best cut at the price of a
// histogram.
// More classes: the rows are sorted by code and scanned, every row updating the two sums of the score.
#pragma once

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include "cases.hpp"
#include "columns.hpp"

namespace foresift {

/// Rows with code <= `code` go left. `threshold` is NaN unless the cut was drawn at random.
struct Cut {
    double score = -std::numeric_limits<double>::infinity();
    std::uint32_t code = 0;
    bool missing_left = false;
    double threshold = std::numeric_limits<double>::quiet_NaN();

    bool found() const noexcept { return score > -std::numeric_limits<double>::infinity(); }
};

/// The known values of a column at a node: codes[i] belongs to members[i].
template <class Case>
struct Known {
    std::span<const std::uint16_t> codes;
    std::span<const Member<Case>> members;
    std::uint32_t low, high;  // smallest and largest code
};

/// What a search must respect. `totals` covers every row that the cut divides, `start` those that are on the
/// left before the first known value (the missing ones, when they go left).
template <class Case>
struct Frame {
    const Tally<typename Case::Weight>& totals;
    const Tally<typename Case::Weight>& start;
    double min_leaf;  // least weight on either side
    double floor;     // scores below this are of no interest to the caller
    double tie;       // scores closer than this are equal; the smaller cut wins
    bool start_is_missing;
    bool count_cuts = false;  // every cut must be looked at, for n_cuts()
};

template <class Case, class Score>
class CutSearch {
public:
    using Weight = typename Case::Weight;

    explicit CutSearch(Score score) : score_(score) {}

    /// Improves `best` by every cut between distinct known codes.
    void every_cut(const Known<Case>& known, const Frame<Case>& frame, Cut& best) {
        if (known.low == known.high) return;
        if (frame.totals.n_classes() == 2 && known.codes.size() > kRankSorted && !frame.count_cuts)
            binned(known, frame, best);
        else
            sorted(known, frame, best);
    }

    /// Improves `best` by `n_thresholds` cuts drawn uniformly between the smallest and largest known value.
    void random_cuts(const Known<Case>& known, const Frame<Case>& frame, const Column& column,
                     std::span<const double> draws, Cut& best);

    /// How many cuts the last every_cut() found admissible, if it was told to count them.
    std::uint32_t n_cuts() const noexcept { return n_cuts_; }

    const Score& score() const noexcept { return score_; }

private:
    static constexpr std::size_t kLeastBins = 16, kMostBins = 4096, kStretch = 8;

    void offer(double score, std::uint32_t code, const Frame<Case>& frame, Cut& best) const noexcept {
        if (score > best.score + frame.tie || (score > best.score - frame.tie && code < best.code))
            best = {score, code, frame.start_is_missing, std::numeric_limits<double>::quiet_NaN()};
    }
    static bool admissible(Weight left, Weight total, const Frame<Case>& frame) noexcept {
        return double(left) >= frame.min_leaf && double(total - left) >= frame.min_leaf;
    }

    // The two sides at the edges of bins of two classes, from the first to the last.
    class EdgeWalk {
    public:
        EdgeWalk(const CutSearch& search, const Known<Case>& known, const Frame<Case>& frame, std::size_t n_bins)
            : search_(search), frame_(frame), low_(known.low), n_bins_(n_bins), n0_(frame.totals.by_class[0]),
              n1_(frame.totals.by_class[1]), l0_(frame.start.by_class[0]), l1_(frame.start.by_class[1]) {
            look();
            refused_ = score(sum0_ + sum1_, l0_ + l1_);
        }

        /// Moves the rows up to bin `next` to the left, and scores that cut unless it is the last edge. Returns the
        /// most that a cut before it could score.
        double move(Weight in0, Weight in1, std::size_t next, unsigned shift, Cut& best) {
            double bound = refused_;
            if (in0 + in1 == 0) return bound;
            const auto& of = search_.score_;
            const auto next0 = in0 > 0 ? of.term(Weight(l0_ + in0), Weight(n0_ - l0_ - in0)) : sum0_;
            const auto next1 = in1 > 0 ? of.term(Weight(l1_ + in1), Weight(n1_ - l1_ - in1)) : sum1_;
            if (in0 > 0 && in1 > 0)  // with one class only, the best is at an edge
                bound = std::max({bound, score(next0 + sum1_, l0_ + in0 + l1_), score(sum0_ + next1, l0_ + l1_ + in1)});
            l0_ += in0, l1_ += in1;
            sum0_ = next0, sum1_ = next1;
            const double edge = score(sum0_ + sum1_, l0_ + l1_);
            if (next < n_bins_ && admissible(l0_ + l1_, frame_.totals.total, frame_)) {
                search_.offer(edge, low_ + static_cast<std::uint32_t>(next << shift) - 1, frame_, best);
                refused_ = -std::numeric_limits<double>::infinity();
            } else {
                refused_ = edge;
                bound = std::max(bound, edge);
            }
            return bound;
        }

        /// Moves rows to the left up to an edge that has been scored already.
        void jump(Weight in0, Weight in1) {
            if (in0 + in1 == 0) return;
            l0_ += in0, l1_ += in1;
            look();
            const bool scored = admissible(l0_ + l1_, frame_.totals.total, frame_);
            refused_ = scored ? -std::numeric_limits<double>::infinity() : score(sum0_ + sum1_, l0_ + l1_);
        }

    private:
        void look() {
            sum0_ = search_.score_.term(l0_, Weight(n0_ - l0_));
            sum1_ = search_.score_.term(l1_, Weight(n1_ - l1_));
        }
        double score(typename Score::Sum sum, Weight left) const {
            return search_.score_.join(sum, left, Weight(frame_.totals.total - left));
        }

        const CutSearch& search_;
        const Frame<Case>& frame_;
        std::uint32_t low_;
        std::size_t n_bins_;
        Weight n0_, n1_, l0_, l1_;
        typename Score::Sum sum0_, sum1_;
        // An edge that may not be cut, because a side is too small, still bounds the cuts in the bins beside it.
        double refused_;
    };

    void binned(const Known<Case>& known, const Frame<Case>& frame, Cut& best);
    void search_edges(const Known<Case>& known, const Frame<Case>& frame, unsigned shift, Cut& best);
    void search_inside(const Known<Case>& known, const Frame<Case>& frame, unsigned shift, Cut& best);
    void sorted(const Known<Case>& known, const Frame<Case>& frame, Cut& best);
    void draw_values(double low, double high, double last_below_high, std::span<const double> draws);
    void tally_between(const Known<Case>& known, const Column& column, std::size_t n_classes);
    void scan(std::span<const Item<Case>> items, const Frame<Case>& frame, Cut& best);

    Score score_;
    std::uint32_t n_cuts_ = 0;
    std::vector<Weight> bins_;        // class weights, two per bin
    std::vector<double> bounds_;      // per bin: no cut inside scores more
    std::vector<Weight> stretches_;   // the same as bins_ for several bins together
    std::vector<double> stretch_bounds_;
    std::vector<std::uint8_t> open_;  // per bin: 1 if it may hold the best cut
    ItemBuffers<Case> buffers_;
    Tally<Weight> left_;
    std::vector<std::uint32_t> drawn_codes_;
    std::vector<double> drawn_;
    std::vector<double> drawn_values_;
};

template <class Case, class Score>
void CutSearch<Case, Score>::binned(const Known<Case>& known, const Frame<Case>& frame, Cut& best) {
    // More bins cost more edges but leave fewer rows to sort. The share of rows left to sort falls about as rows
    // per bin over sqrt(n), which puts the balance near n^(3/4) bins.
    const double root = std::sqrt(double(known.codes.size()));
    const auto wanted = std::clamp(static_cast<std::size_t>(root * std::sqrt(root)), kLeastBins, kMostBins);
    unsigned shift = 0;
    while ((std::size_t{known.high - known.low} >> shift) >= wanted) ++shift;
    const std::size_t n_bins = ((known.high - known.low) >> shift) + 1;
    bins_.assign(2 * n_bins, Weight{0});
    for (std::size_t i = 0; i < known.codes.size(); ++i)
        bins_[2 * std::size_t((known.codes[i] - known.low) >> shift) + known.members[i].of.cls()] +=
            known.members[i].of.weight();
    search_edges(known, frame, shift, best);
    if (shift > 0) search_inside(known, frame, shift, best);
}

// Scores the edge after every bin, and in bounds_ the most that a cut inside the bin could score. What holds for a
// bin holds for several taken together: stretches that cannot hold the best cut are passed over.
template <class Case, class Score>
void CutSearch<Case, Score>::search_edges(const Known<Case>& known, const Frame<Case>& frame, unsigned shift,
                                          Cut& best) {
    const std::size_t n_bins = bins_.size() / 2;
    bounds_.assign(n_bins, -std::numeric_limits<double>::infinity());
    const bool one_by_one = n_bins < 3 * kStretch;
    if (!one_by_one) {
        const std::size_t n_stretches = (n_bins + kStretch - 1) / kStretch;
        stretches_.resize(2 * n_stretches);
        stretch_bounds_.resize(n_stretches);
        EdgeWalk walk(*this, known, frame, n_bins);
        for (std::size_t s = 0; s < n_stretches; ++s) {
            const std::size_t end = std::min(n_bins, (s + 1) * kStretch);
            Weight in0 = 0, in1 = 0;
            for (std::size_t b = s * kStretch; b < end; ++b) in0 += bins_[2 * b], in1 += bins_[2 * b + 1];
            stretches_[2 * s] = in0, stretches_[2 * s + 1] = in1;
            stretch_bounds_[s] = walk.move(in0, in1, end, shift, best);
        }
    }
    EdgeWalk walk(*this, known, frame, n_bins);
    for (std::size_t b = 0; b < n_bins;) {
        const std::size_t s = b / kStretch, end = one_by_one ? n_bins : std::min(n_bins, (s + 1) * kStretch);
        if (!one_by_one && stretch_bounds_[s] <= std::max(best.score, frame.floor) - frame.tie)
            walk.jump(stretches_[2 * s], stretches_[2 * s + 1]), b = end;
        else
            for (; b < end; ++b) bounds_[b] = walk.move(bins_[2 * b], bins_[2 * b + 1], b + 1, shift, best);
    }
}

// Sorts and scans the rows of the bins whose bound beats everything so far.
template <class Case, class Score>
void CutSearch<Case, Score>::search_inside(const Known<Case>& known, const Frame<Case>& frame, unsigned shift,
                                           Cut& best) {
    const double bar = std::max(best.score, frame.floor) - frame.tie;
    const std::size_t n_bins = bounds_.size();
    open_.resize(n_bins);
    std::size_t n_open = 0;
    for (std::size_t b = 0; b < n_bins; ++b) n_open += open_[b] = bounds_[b] > bar;
    if (n_open == 0) return;

    auto* const kept_items = buffers_.reserve(known.codes.size() + 1);
    std::size_t kept = 0;
    for (std::size_t i = 0; i < known.codes.size(); ++i) {
        kept_items[kept] = {known.codes[i], known.members[i].of};
        kept += open_[(known.codes[i] - known.low) >> shift];
    }
    const auto items = buffers_.sort(kept, known.low, known.high);

    Weight l0 = frame.start.by_class[0], l1 = frame.start.by_class[1];
    const auto& n = frame.totals;
    std::size_t i = 0;
    for (std::size_t b = 0; i < kept; ++b) {
        if (open_[b]) {
            Weight left[2] = {l0, l1};
            const std::uint32_t end = known.low + static_cast<std::uint32_t>((b + 1) << shift);
            for (; i < kept && items[i].code < end; ++i) {
                left[items[i].row.cls()] += items[i].row.weight();
                const bool edge = i + 1 == kept || items[i + 1].code >= end;
                const Weight n_left = left[0] + left[1];
                if (edge || items[i + 1].code == items[i].code || !admissible(n_left, n.total, frame)) continue;
                const auto sum = score_.term(left[0], Weight(n.by_class[0] - left[0])) +
                                 score_.term(left[1], Weight(n.by_class[1] - left[1]));
                offer(score_.join(sum, n_left, Weight(n.total - n_left)), items[i].code, frame, best);
            }
        }
        l0 += bins_[2 * b];
        l1 += bins_[2 * b + 1];
    }
}

template <class Case, class Score>
void CutSearch<Case, Score>::sorted(const Known<Case>& known, const Frame<Case>& frame, Cut& best) {
    const std::size_t n = known.codes.size();
    auto* const items = buffers_.reserve(n);
    for (std::size_t i = 0; i < n; ++i) items[i] = {known.codes[i], known.members[i].of};
    scan(buffers_.sort(n, known.low, known.high), frame, best);
}

template <class Case, class Score>
void CutSearch<Case, Score>::scan(std::span<const Item<Case>> items, const Frame<Case>& frame, Cut& best) {
    std::uint32_t n_cuts = 0;
    left_ = frame.start;
    auto& left = left_;
    const auto& n = frame.totals;
    typename Score::Sum sum{};
    for (std::size_t c = 0; c < left.n_classes(); ++c)
        sum += score_.term(left.by_class[c], Weight(n.by_class[c] - left.by_class[c]));
    for (std::size_t i = 0; i + 1 < items.size(); ++i) {
        const auto c = items[i].row.cls();
        const Weight l = left.by_class[c], r = n.by_class[c] - l, w = items[i].row.weight();
        sum += score_.term(Weight(l + w), Weight(r - w)) - score_.term(l, r);
        left.by_class[c] = l + w;
        left.total += w;
        if (items[i + 1].code != items[i].code && admissible(left.total, n.total, frame)) {
            offer(score_.join(sum, left.total, Weight(n.total - left.total)), items[i].code, frame, best);
            ++n_cuts;
        }
    }
    n_cuts_ = n_cuts;
}

/// How many of the sorted numbers lie below x. Their number must be a power of two less one; no branches.
template <class Number>
std::size_t count_below(std::span<const Number> sorted, Number x) noexcept {
    std::size_t below = 0;
    for (std::size_t half = (sorted.size() + 1) / 2; half > 0; half /= 2) below += half * std::size_t{sorted[below + half - 1] < x};
    return below;
}

// Draws values between the smallest and the largest known one, in rising order, filled up with infinity.
template <class Case, class Score>
void CutSearch<Case, Score>::draw_values(double low, double high, double last_below_high, std::span<const double> draws) {
    const std::size_t n = draws.size();
    drawn_.resize(n);
    for (std::size_t j = 0; j < n; ++j) {
        const double t = low * (1 - draws[j]) + high * draws[j];  // high - low may overflow
        drawn_[j] = t < high ? std::max(t, low) : last_below_high;
    }
    drawn_values_.assign(std::bit_ceil(n + 1) - 1, std::numeric_limits<double>::infinity());
    if (n > kRankSorted) {
        std::sort(drawn_.begin(), drawn_.end());
        std::copy(drawn_.begin(), drawn_.end(), drawn_values_.begin());
        return;
    }
    for (std::size_t j = 0; j < n; ++j) {  // no branches to mispredict
        std::size_t rank = 0;
        for (std::size_t i = 0; i < j; ++i) rank += drawn_[i] <= drawn_[j];
        for (std::size_t i = j + 1; i < n; ++i) rank += drawn_[i] < drawn_[j];
        drawn_values_[rank] = drawn_[j];
    }
}

// Weighs the rows between two neighbouring drawn values, per class.
template <class Case, class Score>
void CutSearch<Case, Score>::tally_between(const Known<Case>& known, const Column& column, std::size_t n_classes) {
    constexpr std::size_t kFew = 256;  // rows for which looking up their values costs less than the codes of the cuts
    bins_.assign((drawn_.size() + 1) * n_classes, Weight{0});
    const auto count = [&](std::size_t i, std::size_t between) {
        bins_[between * n_classes + known.members[i].of.cls()] += known.members[i].of.weight();
    };
    if (known.codes.size() <= kFew) {
        const std::span<const double> cuts(drawn_values_);
        for (std::size_t i = 0; i < known.codes.size(); ++i) count(i, count_below(cuts, column.value(known.codes[i])));
        return;
    }
    drawn_codes_.assign(drawn_values_.size(), kMaxCodes);  // the last code at or below each drawn value
    for (std::size_t j = 0; j < drawn_.size(); ++j)
        drawn_codes_[j] = column.last_at_or_below(drawn_values_[j], known.low, known.high);
    const std::span<const std::uint32_t> cuts(drawn_codes_);
    for (std::size_t i = 0; i < known.codes.size(); ++i) count(i, count_below(cuts, std::uint32_t{known.codes[i]}));
}

template <class Case, class Score>
void CutSearch<Case, Score>::random_cuts(const Known<Case>& known, const Frame<Case>& frame, const Column& column,
                                         std::span<const double> draws, Cut& best) {
    if (known.low == known.high) return;
    const std::size_t n_classes = frame.totals.n_classes();
    draw_values(column.value(known.low), column.value(known.high), column.value(known.high - 1), draws);
    tally_between(known, column, n_classes);
    left_ = frame.start;
    auto& left = left_;
    for (std::size_t j = 0; j < drawn_.size(); ++j) {
        Weight more = 0;
        for (std::size_t c = 0; c < n_classes; ++c) {
            left.by_class[c] += bins_[j * n_classes + c];
            more += bins_[j * n_classes + c];
        }
        left.total += more;
        if ((more == 0 && j > 0) || !admissible(left.total, frame.totals.total, frame)) continue;
        const double score = score_of(score_, left, frame.totals), t = drawn_values_[j];
        if (score <= std::max(best.score, frame.floor) - frame.tie) continue;
        const std::uint32_t code = column.last_at_or_below(t, known.low, known.high);
        const Cut before = best;
        offer(score, code, frame, best);
        const bool inside = !column.binned && t < column.value(code + 1);
        if (best.score != before.score || best.code != before.code)
            best.threshold = inside ? t : std::numeric_limits<double>::quiet_NaN();
    }
}

}  // namespace foresift
