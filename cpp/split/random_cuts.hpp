// Cuts of a numeric column drawn at random, as extremely randomised trees have them.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include "base/columns.hpp"
#include "split/cuts.hpp"
#include "split/node_rows.hpp"
#include "split/sums_rows.hpp"

namespace foresift {

template <class Case, class Score>
class RandomCuts {
public:
    using Weight = typename Case::Weight;

    explicit RandomCuts(Score score) : score_(score) {}

    /// Improves `best` by cuts between the smallest and the largest known value, one for each draw from [0, 1).
    void search(const Known<Case>& known, const Frame<Case>& frame, const Column& column, std::span<const double> draws,
                Cut& best);

private:
    void draw_values(double low, double high, double last_below_high, std::span<const double> draws);
    void tally_between(const Known<Case>& known, const Column& column, const typename Case::Sums& like);

    Score score_;
    SumsRows<Case> between_;  // what the rows between two neighbouring cuts add up to
    typename Case::Sums left_;
    std::vector<std::uint32_t> drawn_codes_;
    std::vector<double> drawn_, drawn_values_;
};

/// How many of the sorted numbers lie below x. Their number must be a power of two less one; no branches.
template <class Number>
std::size_t count_below(std::span<const Number> sorted, Number x) noexcept {
    std::size_t below = 0;
    for (std::size_t half = (sorted.size() + 1) / 2; half > 0; half /= 2) below += half * std::size_t{sorted[below + half - 1] < x};
    return below;
}

// Draws values between the smallest and the largest known one, in rising order, filled up with infinity.
template <class Case, class Score>
void RandomCuts<Case, Score>::draw_values(double low, double high, double last_below_high, std::span<const double> draws) {
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

// Adds up the rows between two neighbouring drawn values.
template <class Case, class Score>
void RandomCuts<Case, Score>::tally_between(const Known<Case>& known, const Column& column,
                                            const typename Case::Sums& like) {
    constexpr std::size_t kFew = 256;  // rows for which looking up their values costs less than the codes of the cuts
    between_.assign(drawn_.size() + 1, like);
    const auto count = [&](std::size_t i, std::size_t between) { between_.add(between, known.members[i].of); };
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
void RandomCuts<Case, Score>::search(const Known<Case>& known, const Frame<Case>& frame, const Column& column,
                                         std::span<const double> draws, Cut& best) {
    if (known.low == known.high) return;
    draw_values(column.value(known.low), column.value(known.high), column.value(known.high - 1), draws);
    tally_between(known, column, frame.totals);
    left_ = frame.start;
    auto& left = left_;
    for (std::size_t j = 0; j < drawn_.size(); ++j) {
        const Weight more = between_.weight(j);
        between_.move(j, left, true);
        left.total += more;
        if ((more == 0 && j > 0) || !frame.admissible(left.total)) continue;
        const double score = score_of(score_, left, frame.totals), t = drawn_values_[j];
        if (score <= std::max(best.score, frame.floor) - frame.tie) continue;
        const std::uint32_t code = column.last_at_or_below(t, known.low, known.high);
        const Cut before = best;
        frame.offer(score, code, best);
        const bool inside = !column.binned && t < column.value(code + 1);
        if (best.score != before.score || best.code != before.code)
            best.threshold = inside ? t : std::numeric_limits<double>::quiet_NaN();
    }
}

}  // namespace foresift
