// Scores of splits: the value of the textbook, and the corner property that the search for cuts relies on.
#include "split/criterion.hpp"

#include "split/node_rows.hpp"
#include "tests/tools.hpp"

using namespace foresift;
using namespace foresift::tests;

namespace {

template <class Weight>
Tally<Weight> tally(const Counts& counts) {
    Tally<Weight> result(counts.size());
    for (std::size_t c = 0; c < counts.size(); ++c) {
        result.by_class[c] = static_cast<Weight>(counts[c]);
        result.total += result.by_class[c];
    }
    return result;
}

template <class Weight, class Score>
double gain_of(const Score& score, const Counts& left, const Counts& right) {
    Counts all(left);
    for (std::size_t c = 0; c < all.size(); ++c) all[c] += right[c];
    const auto totals = tally<Weight>(all);
    const double unsplit = score_of(score, tally<Weight>(Counts(all.size())), totals);
    return score.gain(score_of(score, tally<Weight>(left), totals), unsplit, double(totals.total));
}

template <class Weight, class Score>
void equals_the_textbook(Criterion criterion, const Score& score, bool whole) {
    Dice dice(1);
    for (int round = 0; round < 500; ++round) {
        Counts left(2 + dice.below(4)), right(left.size());
        for (auto* side : {&left, &right})
            for (auto& c : *side) c = dice.below(3) == 0 ? 0 : whole ? dice.below(50) : 20 * dice.unit();
        left[0] += 1;
        right[1] += 1;
        assert(near(gain_of<Weight>(score, left, right), textbook_gain(criterion, left, right)));
        assert(near(gain_of<Weight>(score, right, left), textbook_gain(criterion, left, right)));
    }
}

// Over a box of left counts the largest score is at one of the corners.
template <class Score>
void corners_bound_the_inside(const Score& score) {
    Dice dice(2);
    for (int round = 0; round < 2000; ++round) {
        Counts all{1 + 40 * dice.unit(), 1 + 40 * dice.unit()}, low(2), high(2);
        for (int c = 0; c < 2; ++c) {
            const double a = dice.unit() * all[c], b = dice.unit() * all[c];
            low[c] = std::min(a, b);
            high[c] = std::max(a, b);
        }
        const auto totals = tally<double>(all);
        const auto at = [&](double a, double b) { return score_of(score, tally<double>({a, b}), totals); };
        const double bound = std::max(std::max(at(low[0], low[1]), at(high[0], high[1])),
                                      std::max(at(low[0], high[1]), at(high[0], low[1])));
        for (int i = 0; i < 20; ++i) {
            const double inside = at(low[0] + dice.unit() * (high[0] - low[0]),
                                     low[1] + dice.unit() * (high[1] - low[1]));
            assert(inside <= bound + 1e-9 * (1 + std::abs(bound)));
        }
    }
}

template <class Score>
void score_at_undoes_gain(const Score& score) {
    Dice dice(3);
    for (int round = 0; round < 100; ++round) {
        const double s = 100 * dice.unit(), unsplit = 50 * dice.unit(), n = 1 + 100 * dice.unit();
        assert(near(score.score_at(score.gain(s, unsplit, n), unsplit, n), s));
    }
}

void by_hand() {
    // (3, 3) into (2, 0) and (1, 3).
    assert(near(textbook_gain(Criterion::entropy, {2, 0}, {1, 3}), 0.459147917027245));
    assert(near(textbook_gain(Criterion::gini, {2, 0}, {1, 3}), 0.25));
    assert(near(textbook_gain(Criterion::ssv, {2, 0}, {1, 3}), 11));
    assert(xlog2x(0) == 0 && xlog2x(1) == 0 && xlog2x(2) == 2 && xlog2x(8) == 24);
}

}  // namespace

int main() {
    by_hand();
    std::vector<double> table(1000);
    for (std::size_t i = 0; i < table.size(); ++i) table[i] = xlog2x(double(i));
    const EntropyScore<TableLog> whole_entropy{{table.data()}};
    const EntropyScore<RealLog> entropy_score{};
    equals_the_textbook<std::uint32_t>(Criterion::entropy, whole_entropy, true);
    equals_the_textbook<double>(Criterion::entropy, entropy_score, false);
    for (const bool whole : {true, false}) {
        equals_the_textbook<double>(Criterion::gini, GiniScore<>{}, whole);
        equals_the_textbook<double>(Criterion::ssv, SsvScore{}, whole);
    }
    equals_the_textbook<std::uint32_t>(Criterion::gini, GiniScore<>{}, true);
    equals_the_textbook<std::uint32_t>(Criterion::ssv, SsvScore{}, true);
    corners_bound_the_inside(entropy_score);
    corners_bound_the_inside(GiniScore<>{});
    corners_bound_the_inside(SsvScore{});
    score_at_undoes_gain(entropy_score);
    score_at_undoes_gain(GiniScore<>{});
    score_at_undoes_gain(SsvScore{});
    return passed("criterion");
}
