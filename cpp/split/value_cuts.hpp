// The best cut of a numeric column at one node, for a quantity.
//
// Rows are added up in bins of codes. The score at every bin's edge is exact. Between two edges weight and sum of the
// left side stay in a box: the weight between those at the edges, the sum no further from that at the first edge than
// all negative, or all positive, parts of the bin. The score is convex in both, so a corner of the box bounds it, and
// only bins whose bound beats the best edge are sorted.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include "split/cuts.hpp"
#include "split/node_rows.hpp"

namespace foresift {

template <class Case, class Score>
class ValueCuts {
public:
    explicit ValueCuts(Score score) : score_(score) {}

    /// See CutSearch.
    void every_cut(const Known<Case>& known, const Frame<Case>& frame, Cut& best) {
        if (known.low == known.high) return;
        center_ = frame.totals.center;
        mean_ = frame.totals.mean();
        total_ = double(frame.totals.total);
        if (known.codes.size() <= kRankSorted)
            sorted(known, frame, best);
        else
            binned(known, frame, best);
    }

    std::uint32_t n_cuts() const noexcept { return 0; }  // only C4.5 asks
    const Score& score() const noexcept { return score_; }

private:
    static constexpr std::size_t kLeastBins = 16, kMostBins = 8192, kBinsPerRow = 2;

    struct Bin {
        double weight = 0, minus = 0, plus = 0;  // `minus` and `plus`: sums of the parts below and above the center
    };
    struct Open {
        std::size_t number;
        double weight, sum;  // of what lies left of it
    };

    double part_of(const Case& c) const noexcept { return double(c.weight()) * (c.y() - center_); }
    double score_at(double weight, double sum) const noexcept { return score_.of(weight, sum - weight * mean_, total_); }
    void fill(const Known<Case>& known, unsigned shift);
    void binned(const Known<Case>& known, const Frame<Case>& frame, Cut& best);
    void search_edges(const Known<Case>& known, const Frame<Case>& frame, unsigned shift, Cut& best);
    void search_inside(const Known<Case>& known, const Frame<Case>& frame, unsigned shift, Cut& best);
    void sorted(const Known<Case>& known, const Frame<Case>& frame, Cut& best);

    Score score_;
    double center_ = 0, mean_ = 0, total_ = 0;  // of all rows that the cut divides
    std::vector<Bin> bins_;
    std::vector<double> bounds_;
    std::vector<Open> open_;
    std::vector<std::uint8_t> is_open_;  // per bin
    ItemBuffers<Case> buffers_;
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
        bin.minus += std::min(part, 0.0);
        bin.plus += std::max(part, 0.0);
    }
}

template <class Case, class Score>
void ValueCuts<Case, Score>::search_edges(const Known<Case>& known, const Frame<Case>& frame, unsigned shift, Cut& best) {
    const std::size_t n_bins = bins_.size();
    bounds_.resize(n_bins);
    // A whole weight on either side is at least 1; real weights can be as small as you like.
    const double least = std::max(frame.min_leaf, std::is_integral_v<typename Case::Weight> ? 1.0 : 0.0);
    struct Side {
        double weight, factor;  // what a squared sum is multiplied by
    };
    const auto side = [&](double left) {
        const double weight = std::clamp(left, least, std::max(least, total_ - least));
        const double both = weight * (total_ - weight);
        return Side{weight, both > 0 ? total_ / both : std::numeric_limits<double>::max()};
    };
    const auto corner = [&](const Side& at, double low, double high) {
        const double shift_by = at.weight * mean_, a = low - shift_by, b = high - shift_by;
        return std::max(a * a, b * b) * at.factor;
    };
    double weight = double(frame.start.total), sum = frame.start.sum;
    Side before = side(weight);
    double bar = best.score - frame.tie;
    for (std::size_t b = 0; b < n_bins; ++b) {
        const Bin& bin = bins_[b];
        const double low = sum + bin.minus, high = sum + bin.plus;
        weight += bin.weight;
        sum += bin.minus + bin.plus;
        const Side after = side(weight);
        bounds_[b] = std::max(corner(before, low, high), corner(after, low, high));
        if (b + 1 < n_bins && weight >= frame.min_leaf && total_ - weight >= frame.min_leaf) {
            const double moved = sum - weight * mean_, edge = moved * moved * after.factor;
            if (edge > bar) {
                frame.offer(edge, known.low + static_cast<std::uint32_t>((b + 1) << shift) - 1, best);
                bar = best.score - frame.tie;
            }
        }
        before = after;
    }
    open_.clear();
    if (shift == 0) return;
    bar = std::max(best.score, frame.floor) - frame.tie;
    weight = double(frame.start.total), sum = frame.start.sum;
    for (std::size_t b = 0; b < n_bins; ++b) {
        if (bounds_[b] > bar && bins_[b].weight > 0) open_.push_back({b, weight, sum});
        weight += bins_[b].weight;
        sum += bins_[b].minus + bins_[b].plus;
    }
}

// Sorts and scans the rows of the bins whose bound beats everything so far.
template <class Case, class Score>
void ValueCuts<Case, Score>::search_inside(const Known<Case>& known, const Frame<Case>& frame, unsigned shift, Cut& best) {
    is_open_.assign(bins_.size(), 0);
    for (const auto& bin : open_) is_open_[bin.number] = 1;
    auto* const kept_items = buffers_.reserve(known.codes.size() + 1);
    std::size_t kept = 0;
    for (std::size_t i = 0; i < known.codes.size(); ++i) {
        kept_items[kept] = {known.codes[i], known.members[i].of};
        kept += is_open_[(known.codes[i] - known.low) >> shift];
    }
    const auto items = buffers_.sort(kept, known.low, known.high);
    std::size_t i = 0;
    for (const auto& bin : open_) {
        double weight = bin.weight, sum = bin.sum;
        const std::uint32_t end = known.low + static_cast<std::uint32_t>((bin.number + 1) << shift);
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

template <class Case, class Score>
void ValueCuts<Case, Score>::sorted(const Known<Case>& known, const Frame<Case>& frame, Cut& best) {
    const std::size_t n = known.codes.size();
    auto* const unsorted = buffers_.reserve(n);
    for (std::size_t i = 0; i < n; ++i) unsorted[i] = {known.codes[i], known.members[i].of};
    const auto items = buffers_.sort(n, known.low, known.high);
    double weight = double(frame.start.total), sum = frame.start.sum;
    double bar = best.score - frame.tie;
    for (std::size_t i = 0; i + 1 < n; ++i) {
        weight += double(items[i].row.weight());
        sum += part_of(items[i].row);
        const bool cut = (items[i + 1].code != items[i].code) & (weight >= frame.min_leaf) &
                         (total_ - weight >= frame.min_leaf);
        const double score = score_at(weight, sum);
        if (cut && score > bar) {
            frame.offer(score, items[i].code, best);
            bar = best.score - frame.tie;
        }
    }
}

}  // namespace foresift
