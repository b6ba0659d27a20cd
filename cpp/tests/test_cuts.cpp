// The search for the best cut, histogram or sorted, against trying every cut.
#include "split/cuts.hpp"

#include <algorithm>
#include <map>

#include "split/random_cuts.hpp"
#include "tests/tools.hpp"

using namespace foresift;
using namespace foresift::tests;

namespace {

template <class Case>
struct Problem {
    using Weight = typename Case::Weight;
    std::vector<std::uint16_t> codes;
    std::vector<Member<Case>> members;
    Tally<Weight> totals, start;  // start: rows with a missing value, where they go left
    double min_leaf = 1, floor = -kInfinity, tie = 0;

    Known<Case> known() const {
        const auto [low, high] = std::minmax_element(codes.begin(), codes.end());
        return {codes, members, *low, *high};
    }
    Frame<Case> frame() const { return {totals, start, min_leaf, floor, tie, start.total > 0}; }
};

// Few or many codes, crowded or spread; a signal somewhere; `n_missing` rows that start on the left.
template <class Case>
Problem<Case> make_problem(Dice& dice, std::size_t n, std::uint32_t n_codes, std::uint32_t n_classes,
                           std::size_t n_missing, bool real) {
    Problem<Case> p{{}, {}, Tally<typename Case::Weight>(n_classes), Tally<typename Case::Weight>(n_classes)};
    const std::uint32_t first = dice.below(65536 - n_codes + 1), step = dice.below(n_codes);
    const bool crowded = dice.below(2), light = dice.below(2);  // light: every row weighs 1
    for (std::size_t i = 0; i < n + n_missing; ++i) {
        const double u = dice.unit();
        const auto code = first + static_cast<std::uint32_t>((crowded ? u * u * u : u) * n_codes);
        const bool signal = dice.below(10) < 7;
        const auto cls = signal ? (code > first + step ? 0U : n_classes - 1) : dice.below(n_classes);
        const auto row = Case::make(cls, real ? 0.1 + dice.unit() : light ? 1 : 1 + dice.below(3));
        p.totals.add(row);
        if (i >= n) {
            p.start.add(row);
            continue;
        }
        p.codes.push_back(static_cast<std::uint16_t>(code));
        p.members.push_back({static_cast<std::uint32_t>(i), row});
    }
    p.tie = 1e-11 * double(p.totals.total) * double(p.totals.total);
    return p;
}

template <class Case>
void scale(Problem<Case>& p, double by) {
    p.totals.clear();
    for (auto& member : p.members) {
        member.of = Case::make(member.of.cls(), by * double(member.of.weight()));
        p.totals.add(member.of);
    }
    p.tie = 1e-13 * double(p.totals.total);
}

std::vector<double> x_log_x() {
    std::vector<double> table(1 << 14);
    for (std::size_t i = 0; i < table.size(); ++i) table[i] = xlog2x(double(i));
    return table;
}

// {code: score} of every allowed cut between distinct codes.
template <class Case, class Score>
std::map<std::uint32_t, double> every_score(const Problem<Case>& p, const Score& score) {
    std::map<std::uint32_t, Tally<typename Case::Weight>> at;
    for (std::size_t i = 0; i < p.codes.size(); ++i)
        at.try_emplace(p.codes[i], p.totals.n_classes()).first->second.add(p.members[i].of);
    std::map<std::uint32_t, double> scores;
    auto left = p.start;
    for (auto it = at.begin(); std::next(it) != at.end(); ++it) {
        for (std::size_t c = 0; c < left.n_classes(); ++c) left.by_class[c] += it->second.by_class[c];
        left.total += it->second.total;
        if (double(left.total) >= p.min_leaf && double(p.totals.total - left.total) >= p.min_leaf)
            scores[it->first] = score_of(score, left, p.totals);
    }
    return scores;
}

// The code of every_score that parts the rows as a cut at `code` does.
std::uint32_t last_at_or_below(const std::vector<std::uint16_t>& codes, std::uint32_t code) {
    std::uint32_t last = 0;
    for (const auto c : codes)
        if (c <= code) last = std::max<std::uint32_t>(last, c);
    return last;
}

template <class Case, class Score>
void check(const Problem<Case>& p, CutSearch<Case, Score>& search) {
    Cut best;
    search.every_cut(p.known(), p.frame(), best);
    const auto scores = every_score(p, search.score());
    if (scores.empty()) {
        assert(!best.found());
        return;
    }
    double highest = -kInfinity;
    for (const auto& [code, score] : scores) highest = std::max(highest, score);
    if (highest < p.floor) {  // of no interest: anything that is not better will do
        assert(best.score <= highest + 2 * p.tie);
        return;
    }
    assert(std::abs(best.score - highest) <= 2 * p.tie);
    assert(best.missing_left == (p.start.total > 0) && std::isnan(best.threshold));
    const auto code = last_at_or_below(p.codes, best.code);
    assert(scores.count(code) && std::abs(scores.at(code) - highest) <= 2 * p.tie);
    for (const auto& [smaller, score] : scores)  // the first of equals
        assert(smaller >= code || score < highest - p.tie / 2);
}

template <class Case, class Score>
void searches(const Score& score, bool real, const std::vector<double>& limits) {
    CutSearch<Case, Score> search(score);  // its buffers are used again and again
    Dice dice(17);
    for (const std::size_t n : {2, 3, 7, 20, 21, 32, 33, 60, 300, 3000})
        for (const std::uint32_t n_codes : {2U, 7U, 40U, 1000U, 65536U})
            for (const std::uint32_t n_classes : {2U, 3U})
                for (const double limit : limits) {
                    auto p = make_problem<Case>(dice, n, n_codes, n_classes, dice.below(2) * n / 5, real);
                    p.min_leaf = limit < 1 ? limit * double(p.totals.total) : limit;
                    for (int column = 0; column < 5; ++column) check(p, search);  // the later ones by tables
                    const auto scores = every_score(p, score);
                    if (scores.empty()) continue;
                    // A floor below the best must not hide it, one above may.
                    double highest = -kInfinity;
                    for (const auto& [code, s] : scores) highest = std::max(highest, s);
                    for (const double shift : {-1.0, -1e-3, 1e-3, 1.0}) {
                        p.floor = highest + shift * (1 + std::abs(highest));
                        check(p, search);
                    }
                }
}

void whole_and_real(const std::vector<double>& limits) {
    const auto table = x_log_x();
    searches<CountCase>(EntropyScore<TableLog>{{table.data()}}, false, limits);
    searches<CountCase>(GiniScore<>{}, false, limits);
    searches<CountCase>(SsvScore{}, false, limits);
    searches<RealCase>(EntropyScore<RealLog>{}, true, limits);
    searches<RealCase>(GiniScore<>{}, true, limits);
}

// Where nothing is gained, as SSV has it of light rows, the best cut takes one row off an end, inside the first bin or
// the last; and missing rows on the left may tell more than any cut beside them.
void best_beside_the_ends() {
    const auto table = x_log_x();
    const auto each = [](auto score, auto of) {
        using Case = decltype(of);
        CutSearch<Case, decltype(score)> search(score);
        Dice dice(21);
        for (int round = 0; round < 60; ++round) {
            const std::size_t n = 40 + dice.below(400);
            auto p = make_problem<Case>(dice, n, 2000 + dice.below(60000), 2, 0, std::is_same_v<Case, RealCase>);
            if (std::is_same_v<typename Case::Weight, double> && dice.below(2)) scale(p, 1e-3);
            p.min_leaf = 0;
            for (std::size_t i = 0; round % 2 && i < n; ++i) {
                const auto row = Case::make(0, double(p.members[i].of.weight()));
                p.start.add(row), p.totals.add(row);
            }
            check(p, search);
            p.min_leaf = 0.25 * double(p.start.total);
            check(p, search);
        }
    };
    each(SsvScore{}, RealCase{});
    each(GiniScore<>{}, RealCase{});
    each(EntropyScore<RealLog>{}, RealCase{});
    each(SsvScore{}, CountCase{});
    each(EntropyScore<TableLog>{{table.data()}}, CountCase{});
}

void one_code_is_no_cut() {
    Dice dice(3);
    for (const std::size_t n : {1, 5, 100}) {
        auto p = make_problem<CountCase>(dice, n, 1, 2, 0, false);
        CutSearch<CountCase, GiniScore<>> search{GiniScore<>{}};
        Cut best;
        search.every_cut(p.known(), p.frame(), best);
        assert(!best.found());
        const std::vector<double> draws{0.5};
        RandomCuts<CountCase, GiniScore<>>{GiniScore<>{}}.search(p.known(), p.frame(), Column{}, draws, best);
        assert(!best.found());
    }
}

// A cut that is found already is kept unless a better one, or an equal one at a smaller code, turns up.
void improves_what_is_there() {
    Dice dice(4);
    for (const std::size_t n : {10, 500}) {
        const auto p = make_problem<CountCase>(dice, n, 50, 2, 0, false);
        CutSearch<CountCase, GiniScore<>> search{GiniScore<>{}};
        Cut best;
        search.every_cut(p.known(), p.frame(), best);
        const Cut found = best;
        best = {found.score + 1, 99, true, 0.5};
        search.every_cut(p.known(), p.frame(), best);
        assert(best.score == found.score + 1 && best.code == 99 && best.missing_left);
        best = {found.score, 65535, true, kNaN};
        search.every_cut(p.known(), p.frame(), best);
        assert(best.code == found.code && !best.missing_left);
    }
}

void random_cuts() {
    Dice dice(5);
    for (const std::size_t n : {2, 10, 300})
        for (const std::uint32_t n_classes : {2U, 4U})
            for (int round = 0; round < 20; ++round) {
                std::vector<double> values(n), draws;
                for (auto& v : values) v = dice.below(2) ? dice.unit() : double(dice.below(3));
                values[0] = -1;
                const Column column = code_numeric<double>(values, kMaxCodes);
                Problem<RealCase> p{{}, {}, Tally<double>(n_classes), Tally<double>(n_classes)};
                for (std::size_t i = 0; i < n; ++i) {
                    p.codes.push_back(column.narrow.empty() ? column.wide[i] : column.narrow[i]);
                    p.members.push_back({std::uint32_t(i), RealCase::make(dice.below(n_classes), 0.5 + dice.unit())});
                    p.totals.add(p.members.back().of);
                }
                p.min_leaf = dice.below(3);
                p.tie = 1e-12;
                for (std::uint32_t i = 0; i <= dice.below(5); ++i) draws.push_back(dice.unit());
                Cut best;
                RandomCuts<RealCase, GiniScore<>>{GiniScore<>{}}.search(p.known(), p.frame(), column, draws, best);

                const double low = -1, high = *std::max_element(values.begin(), values.end());
                double highest = -kInfinity;
                for (const double u : draws) {
                    Tally<double> left(n_classes);
                    for (std::size_t i = 0; i < n; ++i)
                        if (values[i] <= low + u * (high - low)) left.add(p.members[i].of);
                    if (left.total >= p.min_leaf && p.totals.total - left.total >= p.min_leaf)
                        highest = std::max(highest, score_of(GiniScore<>{}, left, p.totals));
                }
                assert(near(best.score, highest));
                if (!best.found()) continue;
                assert(best.threshold >= low && best.threshold < high);
                for (std::size_t i = 0; i < n; ++i)
                    assert((values[i] <= best.threshold) == (p.codes[i] <= best.code));
            }
}

}  // namespace

int main() {
    one_code_is_no_cut();
    best_beside_the_ends();
    improves_what_is_there();
    random_cuts();
    whole_and_real({1});
    whole_and_real({0.02, 0.2, 0.5, 7});  // least sizes: where the edge of a bin may not be a cut
    return passed("cuts");
}
