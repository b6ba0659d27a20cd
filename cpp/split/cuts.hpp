// The best cut of a numeric column at one node.
//
// Two classes: rows are counted into bins of codes; the score at every bin's edge is exact, and the corner property
// of criterion.hpp bounds what any cut inside a bin, or inside several, could score. From coarse bins to fine ones,
// only those whose bound beats the best edge are looked into, and in the end sorted, so the answer is the exact best
// cut at the price of a histogram. A few rows of weight 1 without ties need no histogram: a bit for each will do.
// More classes: the rows are sorted by code and scanned, every row updating the two sums of the score.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include "split/code_bits.hpp"
#include "split/edges.hpp"
#include "split/node_rows.hpp"

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
    double ties = 0;          // about how many pairs of rows share a code
};

/// What a search must respect. `totals` covers every row that the cut divides, `start` those that are on the
/// left before the first known value (the missing ones, when they go left).
template <class Case>
struct Frame {
    const typename Case::Sums& totals;
    const typename Case::Sums& start;
    double min_leaf;  // least weight on either side
    double floor;     // scores below this are of no interest to the caller
    double tie;       // scores closer than this are equal; the smaller cut wins
    bool start_is_missing;
    bool count_cuts = false;  // every cut must be looked at, for CutSearch::n_cuts()

    /// Whether a cut may leave so much on the left.
    bool admissible(typename Case::Weight left) const noexcept {
        return double(left) >= min_leaf && double(totals.total - left) >= min_leaf;
    }
    /// Improves `best` by a cut.
    void offer(double score, std::uint32_t code, Cut& best) const noexcept {
        if (score > best.score + tie || (score > best.score - tie && code < best.code))
            best = {score, code, start_is_missing, std::numeric_limits<double>::quiet_NaN()};
    }
};

template <class Case, class Score>
class CutSearch {
public:
    using Weight = typename Case::Weight;

    explicit CutSearch(Score score) : score_(score) {}

    /// Improves `best` by every cut between distinct known codes.
    void every_cut(const Known<Case>& known, const Frame<Case>& frame, Cut& best) {
        if (known.low == known.high) return;
        if (frame.totals.n_classes() != 2 || known.codes.size() <= kRankSorted || frame.count_cuts)
            sorted(known, frame, best);
        else if (!worth_bits(known, frame) || !by_bits(known, frame, best))
            binned(known, frame, best);
    }

    /// How many cuts the last every_cut() found admissible, if it was told to count them.
    std::uint32_t n_cuts() const noexcept { return n_cuts_; }

    const Score& score() const noexcept { return score_; }

private:
    static constexpr std::size_t kLeastBins = 16, kMostBins = 8192, kBinsPerRow = 2, kStretch = 4, kFewColumns = 4,
                                 kTablePerBin = 16, kFewRows = 1024, kCodesPerRow = 64;

    bool worth_bits(const Known<Case>& known, const Frame<Case>& frame) const;
    bool by_bits(const Known<Case>& known, const Frame<Case>& frame, Cut& best);
    void binned(const Known<Case>& known, const Frame<Case>& frame, Cut& best);
    static void stack(const std::vector<Weight>& bins, std::vector<Weight>& above);
    bool tables_pay(const Tally<Weight>& totals, std::size_t n_bins);
    // Calls use(the terms of the score).
    template <class Use> void with_terms(const Tally<Weight>& totals, std::size_t n_bins, Use use) {
        if constexpr (kTables)
            if (tables_pay(totals, n_bins)) return use(tabled_);
        use(PlainTerms<Weight, Score>(score_, totals));
    }
    template <class Terms>
    void search_edges(const Terms& terms, const Known<Case>& known, const Frame<Case>& frame, unsigned shift,
                      Cut& best);
    void search_inside(const Known<Case>& known, const Frame<Case>& frame, unsigned shift, Cut& best);
    void sorted(const Known<Case>& known, const Frame<Case>& frame, Cut& best);
    void scan(std::span<const Item<Case>> items, const Frame<Case>& frame, Cut& best);

    Score score_;
    std::uint32_t n_cuts_ = 0;
    std::vector<Weight> bins_;                        // class weights, two per bin
    std::array<std::vector<Weight>, 2> above_;        // the same of stretches of bins, and of stretches of these
    std::vector<Bin<Weight>> tops_, middles_, open_;  // what may hold the best cut, level by level
    static constexpr bool kTables = std::is_same_v<Score, EntropyScore<TableLog>>;
    struct NoTables {};
    std::conditional_t<kTables, TabledTerms, NoTables> tabled_;
    std::array<Weight, 2> node_{};  // the class totals that came last, and how often without a break
    std::size_t times_ = 0;
    bool tables_made_ = false;  // of these class totals
    std::vector<std::uint8_t> is_open_;  // per bin
    CodeBits code_bits_;
    ItemBuffers<Case> buffers_;
    Tally<Weight> left_;
};

// Every row weighs 1 if they weigh as much as there are: none weighs less. Against a floor, or if there are many rows,
// bounds leave little of a histogram to look at.
template <class Case, class Score>
bool CutSearch<Case, Score>::worth_bits(const Known<Case>& known, const Frame<Case>& frame) const {
    const std::size_t n = known.codes.size();
    return std::is_integral_v<Weight> && frame.totals.total == Weight(n) && n <= kFewRows &&
           frame.floor == -std::numeric_limits<double>::infinity() && known.ties < 0.5 &&
           known.high - known.low <= kCodesPerRow * n;
}

// Scores every cut; false: rows share a code after all.
template <class Case, class Score>
bool CutSearch<Case, Score>::by_bits(const Known<Case>& known, const Frame<Case>& frame, Cut& best) {
    code_bits_.set(known.codes, known.members, known.low, known.high);
    const std::uint32_t last = known.high - known.low;
    Cut found = best;
    std::uint32_t n = 0;
    with_terms(frame.totals, known.codes.size(), [&](const auto& terms) {
        double bar = found.score - frame.tie;
        n = code_bits_.take([&](std::uint32_t code, std::uint32_t n_left, std::uint32_t n_second) {
            const auto left = Weight(n_left), second = Weight(n_second);
            const double score = terms.join(terms.first(left - second) + terms.second(second), left);
            if (score <= bar || code == last || !frame.admissible(left)) return;
            frame.offer(score, known.low + code, found);
            bar = found.score - frame.tie;
        });
    });
    if (n < known.codes.size()) return false;
    best = found;
    return true;
}

template <class Case, class Score>
void CutSearch<Case, Score>::binned(const Known<Case>& known, const Frame<Case>& frame, Cut& best) {
    // More bins than rows leave few rows to sort, and none if every code has its own. Against a floor hardly any are
    // left anyhow, and fewer bins do: their share falls about as rows per bin over sqrt(n).
    const double root = std::sqrt(double(known.codes.size()));
    const bool coarse = frame.floor > -std::numeric_limits<double>::infinity();
    const auto n_wanted = coarse ? static_cast<std::size_t>(root * std::sqrt(root)) : kBinsPerRow * known.codes.size();
    const auto wanted = std::clamp(n_wanted, kLeastBins, kMostBins);
    unsigned shift = 0;
    while ((std::size_t{known.high - known.low} >> shift) >= wanted) ++shift;
    const std::size_t n_bins = ((known.high - known.low) >> shift) + 1;
    bins_.assign(2 * n_bins, Weight{0});
    for (std::size_t i = 0; i < known.codes.size(); ++i)
        bins_[2 * std::size_t((known.codes[i] - known.low) >> shift) + known.members[i].of.cls()] +=
            known.members[i].of.weight();
    stack(bins_, above_[0]);
    stack(above_[0], above_[1]);
    with_terms(frame.totals, n_bins, [&](const auto& terms) { search_edges(terms, known, frame, shift, best); });
    if (!open_.empty()) search_inside(known, frame, shift, best);
}

// Columns of a node come one after the other: the first few do without tables. So do all if weights are so large, or
// bins so few, that the tables would cost more than the look-ups they save.
template <class Case, class Score>
bool CutSearch<Case, Score>::tables_pay(const Tally<Weight>& totals, std::size_t n_bins) {
    const std::array<Weight, 2> node{totals.by_class[0], totals.by_class[1]};
    if (node != node_) node_ = node, times_ = 0, tables_made_ = false;
    if (++times_ < kFewColumns || totals.total > kTablePerBin * n_bins) return false;
    if (!tables_made_) tabled_.make(score_, totals);
    return tables_made_ = true;
}

// Adds up stretches of bins.
template <class Case, class Score>
void CutSearch<Case, Score>::stack(const std::vector<Weight>& bins, std::vector<Weight>& above) {
    const std::size_t n_bins = bins.size() / 2, n_full = n_bins / kStretch, n = (n_bins + kStretch - 1) / kStretch;
    above.resize(2 * n);
    const Weight* from = bins.data();
    for (std::size_t s = 0; s < n_full; ++s, from += 2 * kStretch) {
        Weight in[4] = {0, 0, 0, 0};  // two bins at a time: a vector instruction
        for (std::size_t b = 0; b < kStretch / 2; ++b)
            for (std::size_t k = 0; k < 4; ++k) in[k] += from[4 * b + k];
        above[2 * s] = in[0] + in[2];
        above[2 * s + 1] = in[1] + in[3];
    }
    if (n_full == n) return;
    above[2 * n_full] = above[2 * n_full + 1] = 0;
    for (std::size_t b = n_full * kStretch; b < n_bins; ++b, from += 2)
        above[2 * n_full] += from[0], above[2 * n_full + 1] += from[1];
}

// Scores the edges of stretches of stretches, then of stretches inside those that may hold the best cut, then of
// bins inside such stretches. Notes the bins inside which the best cut may be.
template <class Case, class Score>
template <class Terms>
void CutSearch<Case, Score>::search_edges(const Terms& terms, const Known<Case>& known, const Frame<Case>& frame,
                                          unsigned shift, Cut& best) {
    const EdgeScan<Weight, Terms> edges(terms, frame.totals, frame.min_leaf);
    const std::size_t n_bins = bins_.size() / 2, n_middle = above_[0].size() / 2, n_top = above_[1].size() / 2;
    const auto bar = [&] { return std::max(best.score, frame.floor) - frame.tie; };
    const auto keep_open = [&](std::vector<Bin<Weight>>& bins, std::size_t n) {
        const double least = bar();
        std::size_t kept = 0;
        for (std::size_t k = 0; k < n; ++k) {
            bins[kept] = bins[k];
            kept += bins[k].bound > least;
        }
        return kept;
    };
    // Goes through some bins of a level; `width` of the lowest level make one.
    const auto scan = [&](const std::vector<Weight>& weights, std::size_t width, std::size_t first, std::size_t last,
                          std::array<Weight, 2> left, Bin<Weight>* out) {
        edges.scan(std::span<const Weight>(weights), first, last, left, out, [&] { return best.score - frame.tie; },
                   [&](double score, std::size_t b) {
                       const std::size_t next = (b + 1) * width;
                       frame.offer(score, known.low + static_cast<std::uint32_t>(next << shift) - 1, best);
                   });
    };
    const std::array<Weight, 2> start{frame.start.by_class[0], frame.start.by_class[1]};
    std::size_t n_open = 0;
    middles_.resize(n_middle + kStretch);
    if (n_middle > 3 * kStretch) {
        tops_.resize(n_top);
        scan(above_[1], kStretch * kStretch, 0, n_top, start, tops_.data());
        const std::size_t n_open_tops = keep_open(tops_, n_top);
        for (std::size_t k = 0; k < n_open_tops; ++k) {
            const std::size_t first = tops_[k].number * kStretch, last = std::min(n_middle, first + kStretch);
            scan(above_[0], kStretch, first, last, tops_[k].left, middles_.data() + n_open);
            n_open += last - first;
        }
    } else {
        scan(above_[0], kStretch, 0, n_middle, start, middles_.data());
        n_open = n_middle;
    }
    n_open = keep_open(middles_, n_open);
    open_.clear();
    std::array<Bin<Weight>, kStretch> inside;
    for (std::size_t k = 0; k < n_open; ++k) {
        const std::size_t first = middles_[k].number * kStretch, last = std::min(n_bins, first + kStretch);
        scan(bins_, 1, first, last, middles_[k].left, inside.data());
        if (shift == 0) continue;
        for (std::size_t i = 0; i < last - first; ++i) {
            if (inside[i].bound <= bar()) continue;
            // With one class only, the best is at an edge, if both may be cut; the ends of the histogram may not.
            const Weight in0 = bins_[2 * (first + i)], in1 = bins_[2 * (first + i) + 1];
            const Weight left = inside[i].left[0] + inside[i].left[1];
            const bool at_edges = (in0 == 0 || in1 == 0) && first + i > 0 && first + i + 1 < n_bins &&
                                  edges.admissible(left) && edges.admissible(left + in0 + in1);
            if (!at_edges) open_.push_back(inside[i]);
        }
    }
    std::erase_if(open_, [&](const Bin<Weight>& bin) { return bin.bound <= bar(); });
}

// Sorts and scans the rows of the bins whose bound beats everything so far.
template <class Case, class Score>
void CutSearch<Case, Score>::search_inside(const Known<Case>& known, const Frame<Case>& frame, unsigned shift,
                                           Cut& best) {
    is_open_.assign(bins_.size() / 2, 0);
    for (const auto& bin : open_) is_open_[bin.number] = 1;
    auto* const kept_items = buffers_.reserve(known.codes.size() + 1);
    std::size_t kept = 0;
    for (std::size_t i = 0; i < known.codes.size(); ++i) {
        kept_items[kept] = {known.codes[i], known.members[i].of};
        kept += is_open_[(known.codes[i] - known.low) >> shift];
    }
    const auto items = buffers_.sort(kept, known.low, known.high);

    const auto& n = frame.totals;
    std::size_t i = 0;
    for (const auto& bin : open_) {
        auto left = bin.left;
        const std::uint32_t end = known.low + static_cast<std::uint32_t>((bin.number + 1) << shift);
        for (; i < kept && items[i].code < end; ++i) {
            left[items[i].row.cls()] += items[i].row.weight();
            const bool edge = i + 1 == kept || items[i + 1].code >= end;
            const Weight n_left = left[0] + left[1];
            if (edge || items[i + 1].code == items[i].code || !frame.admissible(n_left)) continue;
            const auto sum = score_.term(left[0], Weight(n.by_class[0] - left[0])) +
                             score_.term(left[1], Weight(n.by_class[1] - left[1]));
            frame.offer(score_.join(sum, n_left, Weight(n.total - n_left)), items[i].code, best);
        }
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
    const auto& n = frame.totals;
    const Weight least = least_weight<Weight>(frame.min_leaf);
    left_ = frame.start;
    Weight* const left = left_.by_class.data();
    typename Score::Sum sum{};
    for (std::size_t c = 0; c < n.n_classes(); ++c) sum += score_.term(left[c], Weight(n.by_class[c] - left[c]));
    Weight n_left = left_.total;
    double bar = best.score - frame.tie;
    n_cuts_ = 0;
    for (std::size_t i = 0; i + 1 < items.size(); ++i) {
        const auto c = items[i].row.cls();
        const Weight l = left[c], r = n.by_class[c] - l, w = items[i].row.weight();
        sum += score_.term(Weight(l + w), Weight(r - w)) - score_.term(l, r);
        left[c] = l + w;
        n_left += w;
        const bool cut = (items[i + 1].code != items[i].code) & (n_left >= least) & (Weight(n.total - n_left) >= least);
        n_cuts_ += cut;
        const double score = score_.join(sum, n_left, Weight(n.total - n_left));
        if (cut && score > bar) {
            frame.offer(score, items[i].code, best);
            bar = best.score - frame.tie;
        }
    }
}

}  // namespace foresift
