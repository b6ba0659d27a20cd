// The best cut of a numeric column at one node, for a quantity.
//
// Rows are added up in bins of codes. The score at every bin's edge is exact. Between two edges weight and sum of the
// left side stay in a box: the weight between those at the edges, the sum no further from that at the first edge than
// all negative, or all positive, parts of the bin. The score is convex in both, so a corner of the box bounds it, and
// only bins whose bound beats the best edge are sorted.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <limits>
#include <span>
#include <type_traits>
#include <vector>

#include "split/cuts.hpp"
#include "split/node_rows.hpp"

namespace foresift {

template <class Case, class Score>
class ValueCuts {
public:
    using Weight = typename Case::Weight;

    explicit ValueCuts(Score score) : score_(score) {}

    /// See CutSearch.
    void every_cut(const Known<Case>& known, const Frame<Case>& frame, Cut& best) {
        if (known.low == known.high) return;
        center_ = frame.totals.center;
        mean_ = frame.totals.mean();
        total_ = double(frame.totals.total);
        const std::size_t n = known.codes.size();
        if (n <= 8)
            ranked<8>(known, frame, best);
        else if (n <= 16)
            ranked<16>(known, frame, best);
        else if (n <= 32)
            ranked<32>(known, frame, best);
        else if (n <= kRanked)
            ranked<kRanked>(known, frame, best);
        else
            binned(known, frame, best);
    }

    std::uint32_t n_cuts() const noexcept { return 0; }  // only C4.5 asks
    const Score& score() const noexcept { return score_; }

private:
    static constexpr bool kWhole = std::is_integral_v<Weight>;
    static constexpr std::size_t kRanked = 48;      // rows up to which comparing all with all is fastest
    static constexpr std::uint32_t kTabled = 96;  // weight of a node up to which factors are kept
    static constexpr std::size_t kLeastBins = 16, kMostBins = 8192, kBinsPerRow = 2;

    struct Bin {
        double weight = 0;
        std::array<double, 2> sums{};  // of the parts below and above the center
    };

    double part_of(const Case& c) const noexcept { return double(c.weight()) * (c.y() - center_); }
    double score_at(double weight, double sum) const noexcept { return score_.of(weight, sum - weight * mean_, total_); }
    void fill(const Known<Case>& known, unsigned shift);
    void binned(const Known<Case>& known, const Frame<Case>& frame, Cut& best);
    void search_edges(const Known<Case>& known, const Frame<Case>& frame, unsigned shift, Cut& best);
    void search_inside(const Known<Case>& known, const Frame<Case>& frame, unsigned shift, Cut& best);
    template <std::size_t kRows> void ranked(const Known<Case>& known, const Frame<Case>& frame, Cut& best);
    const double* factors_of(Weight total);

    Score score_;
    double center_ = 0, mean_ = 0, total_ = 0;  // of all rows that the cut divides
    std::vector<Bin> bins_;
    // Weight and sum of what lies left of every bin, the score of a cut there and what a squared sum is multiplied by.
    std::vector<double> weights_, sums_, scores_, factors_at_;
    std::vector<double> low_, high_, bounds_;  // of every bin: how far sums go inside, and scores
    std::vector<std::size_t> open_;
    std::vector<std::uint8_t> is_open_;  // per bin
    ItemBuffers<Case> buffers_;
    std::array<std::vector<double>, kTabled + 1> factors_;  // by the weight of a node
};

template <class Case, class Score>
void ValueCuts<Case, Score>::binned(const Known<Case>& known, const Frame<Case>& frame, Cut& best) {
    // See CutSearch::binned.
    const double root = std::sqrt(double(known.codes.size()));
    const bool coarse = frame.floor > -std::numeric_limits<double>::infinity();
    const auto n_wanted = coarse ? static_cast<std::size_t>(root * std::sqrt(root)) : kBinsPerRow * known.codes.size();
    const auto wanted = std::clamp(n_wanted, kLeastBins, kMostBins);
    unsigned shift = 0;
    while ((std::size_t{known.high - known.low} >> shift) >= wanted) ++shift;
    fill(known, shift);
    search_edges(known, frame, shift, best);
    if (!open_.empty()) search_inside(known, frame, shift, best);
}

template <class Case, class Score>
void ValueCuts<Case, Score>::fill(const Known<Case>& known, unsigned shift) {
    bins_.assign(((known.high - known.low) >> shift) + std::size_t{1}, {});
    for (std::size_t i = 0; i < known.codes.size(); ++i) {
        const Case& c = known.members[i].of;
        const double part = part_of(c);
        Bin& bin = bins_[(known.codes[i] - known.low) >> shift];
        bin.weight += double(c.weight());
        bin.sums[part > 0] += part;  // no branch to mispredict
    }
}

template <class Case, class Score>
void ValueCuts<Case, Score>::search_edges(const Known<Case>& known, const Frame<Case>& frame, unsigned shift, Cut& best) {
    const std::size_t n_bins = bins_.size();
    for (auto* numbers : {&weights_, &sums_, &scores_, &factors_at_, &low_, &high_, &bounds_})
        if (numbers->size() < n_bins + 1) numbers->resize(n_bins + 1);
    double weight = double(frame.start.total), sum = frame.start.sum;
    weights_[0] = weight, sums_[0] = sum;
    for (std::size_t b = 0; b < n_bins; ++b) {
        const auto [below, above] = bins_[b].sums;
        low_[b] = sum + below;
        high_[b] = sum + above;
        weights_[b + 1] = weight += bins_[b].weight;
        sums_[b + 1] = sum += below + above;
    }
    // A whole weight on either side is at least 1; real weights have no lower limit.
    const double least = std::max(frame.min_leaf, kWhole ? 1.0 : 1e-300), most = std::max(least, total_ - least);
    const double n = total_, mean = mean_, slack = std::abs(mean_);
    for (std::size_t b = 0; b <= n_bins; ++b) {
        const double allowed = std::min(std::max(weights_[b], least), most), moved = sums_[b] - weights_[b] * mean;
        factors_at_[b] = n / (allowed * (n - allowed));
        scores_[b] = moved * moved * factors_at_[b];
    }
    for (std::size_t b = 0; b < n_bins; ++b) {
        const double middle = weights_[b] * mean, width = (weights_[b + 1] - weights_[b]) * slack;
        const double low = low_[b] - middle - width, high = high_[b] - middle + width;
        bounds_[b] = std::max(low * low, high * high) * std::max(factors_at_[b], factors_at_[b + 1]);
    }
    double bar = best.score - frame.tie;
    for (std::size_t b = 1; b < n_bins; ++b) {
        if (!(scores_[b] > bar)) continue;
        if (weights_[b] < frame.min_leaf || total_ - weights_[b] < frame.min_leaf) continue;
        frame.offer(scores_[b], known.low + static_cast<std::uint32_t>(b << shift) - 1, best);
        bar = best.score - frame.tie;
    }
    open_.clear();
    if (shift == 0) return;
    bar = std::max(best.score, frame.floor) - frame.tie;
    for (std::size_t b = 0; b < n_bins; ++b)
        if (bounds_[b] > bar && bins_[b].weight > 0) open_.push_back(b);
}

// Sorts and scans the rows of the bins whose bound beats everything so far.
template <class Case, class Score>
void ValueCuts<Case, Score>::search_inside(const Known<Case>& known, const Frame<Case>& frame, unsigned shift, Cut& best) {
    is_open_.assign(bins_.size(), 0);
    for (const auto bin : open_) is_open_[bin] = 1;
    auto* const kept_items = buffers_.reserve(known.codes.size() + 1);
    std::size_t kept = 0;
    for (std::size_t i = 0; i < known.codes.size(); ++i) {
        kept_items[kept] = {known.codes[i], known.members[i].of};
        kept += is_open_[(known.codes[i] - known.low) >> shift];
    }
    const auto items = buffers_.sort(kept, known.low, known.high);
    std::size_t i = 0;
    for (const auto bin : open_) {
        double weight = weights_[bin], sum = sums_[bin];
        const std::uint32_t end = known.low + static_cast<std::uint32_t>((bin + 1) << shift);
        for (; i < kept && items[i].code < end; ++i) {
            weight += double(items[i].row.weight());
            sum += part_of(items[i].row);
            const bool edge = i + 1 == kept || items[i + 1].code >= end;
            if (edge || items[i + 1].code == items[i].code) continue;
            if (weight < frame.min_leaf || total_ - weight < frame.min_leaf) continue;
            frame.offer(score_at(weight, sum), items[i].code, best);
        }
    }
}

// Few rows, at most kRows: each finds its rank by comparing it with all. Loops of fixed length and no branch that
// depends on the data: a wrong guess costs more than a row does.
template <class Case, class Score>
template <std::size_t kRows>
void ValueCuts<Case, Score>::ranked(const Known<Case>& known, const Frame<Case>& frame, Cut& best) {
    static_assert(kRows <= kRanked);
    const std::size_t n = known.codes.size();
    std::array<std::int32_t, kRows> keys, ranks{};
    keys.fill(std::numeric_limits<std::int32_t>::max());
    for (std::size_t i = 0; i < n; ++i) keys[i] = static_cast<std::int32_t>((std::uint32_t{known.codes[i]} << 6) | i);
    for (std::size_t j = 0; j < n; ++j) {
        const std::int32_t key = keys[j];
        for (std::size_t i = 0; i < kRows; ++i) ranks[i] += key < keys[i];
    }
    std::array<std::int32_t, kRows> codes;
    std::array<Weight, kRows> weights;
    std::array<double, kRows> sums, scores;
    for (std::size_t i = 0; i < n; ++i) {
        const auto rank = static_cast<std::size_t>(ranks[i]);
        const Case& c = known.members[i].of;
        codes[rank] = keys[i] >> 6;
        weights[rank] = c.weight();
        sums[rank] = part_of(c);
    }
    const double* const factors = factors_of(frame.totals.total);
    Weight weight = frame.start.total;
    double sum = frame.start.sum;
    for (std::size_t i = 0; i + 1 < n; ++i) {
        weights[i] = weight += weights[i];
        sum += sums[i];
        const double moved = sum - double(weight) * mean_;
        if constexpr (kWhole)
            scores[i] = moved * moved * (factors ? factors[weight] : score_.of(double(weight), 1.0, total_));
        else
            scores[i] = score_.of(weight, moved, total_);
    }
    const Weight least = least_weight<Weight>(frame.min_leaf);
    double highest = -std::numeric_limits<double>::infinity();
    for (std::size_t i = 0; i + 1 < n; ++i) {
        const bool cut = (codes[i + 1] != codes[i]) & (weights[i] >= least) & (frame.totals.total - weights[i] >= least);
        scores[i] = cut ? scores[i] : -std::numeric_limits<double>::infinity();
        highest = std::max(highest, scores[i]);
    }
    double bar = std::max(best.score, frame.floor) - frame.tie;
    if (!(highest > bar)) return;
    bar = best.score - frame.tie;
    for (std::size_t i = 0; i + 1 < n; ++i) {
        if (!(scores[i] > bar)) continue;
        frame.offer(scores[i], static_cast<std::uint32_t>(codes[i]), best);
        bar = best.score - frame.tie;
    }
}

// What the square of a sum is multiplied by, for every weight on the left; null if there are too many.
template <class Case, class Score>
const double* ValueCuts<Case, Score>::factors_of(Weight total) {
    if constexpr (!kWhole) {
        return nullptr;
    } else {
        if (total > kTabled) return nullptr;
        auto& factors = factors_[total];
        if (factors.empty())
            for (Weight left = 0; left <= total; ++left) factors.push_back(score_.of(double(left), 1.0, double(total)));
        return factors.data();
    }
}

}  // namespace foresift
