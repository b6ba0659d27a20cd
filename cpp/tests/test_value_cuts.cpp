// The search for the best cut for a quantity, histogram or sorted, against trying every cut; sums of groups; bounds.
#include "split/value_cuts.hpp"

#include <algorithm>
#include <cmath>
#include <map>

#include "split/random_cuts.hpp"
#include "split/splitter.hpp"
#include "tests/tools.hpp"

using namespace foresift;
using namespace foresift::tests;

namespace {

using Whole = ValueCase<std::uint32_t>;
using Real = ValueCase<double>;
template <class Case> using Search = ValueCuts<Case, VarianceScore>;

template <class Case>
struct Problem {
    std::vector<std::uint16_t> codes;
    std::vector<Member<Case>> members;
    typename Case::Sums totals, start;  // start: rows with a missing value, where they go left
    double min_leaf = 1, floor = -kInfinity, tie = 0;

    Known<Case> known() const {
        const auto [low, high] = std::minmax_element(codes.begin(), codes.end());
        return {codes, members, *low, *high};
    }
    Frame<Case> frame() const { return {totals, start, min_leaf, floor, tie, start.total > 0}; }
};

enum class Values { normal, whole, two, heavy, offset, one_far };
constexpr Values kValues[] = {Values::normal, Values::whole,  Values::two,
                              Values::heavy,  Values::offset, Values::one_far};

double draw(Dice& dice, Values values) {
    const double u = dice.unit(), bell = dice.unit() + dice.unit() + dice.unit() - 1.5;
    switch (values) {
        case Values::normal: return bell;
        case Values::whole: return double(dice.below(5)) - 2;
        case Values::two: return dice.below(2) ? 3.25 : -1;
        case Values::heavy: return std::tan(3.14159265 * (u - 0.5));
        case Values::offset: return 1e9 + bell;
        case Values::one_far: return dice.below(200) ? bell : 1e6;
    }
    return 0;
}

// Few or many codes, crowded or spread; a signal somewhere; `n_missing` rows that start on the left. The center is
// near the mean, at it, or far from it.
template <class Case>
Problem<Case> make_problem(Dice& dice, std::size_t n, std::uint32_t n_codes, Values values, std::size_t n_missing) {
    constexpr bool real = std::is_same_v<Case, Real>;
    Problem<Case> p;
    const std::uint32_t first = dice.below(65536 - n_codes + 1), step = dice.below(n_codes);
    const bool crowded = dice.below(2), light = dice.below(2);
    double sum = 0, weight = 0, low = kInfinity, high = -kInfinity;
    std::vector<Case> cases;
    std::vector<std::uint32_t> codes;
    for (std::size_t i = 0; i < n + n_missing; ++i) {
        const double u = dice.unit();
        codes.push_back(first + static_cast<std::uint32_t>((crowded ? u * u * u : u) * n_codes));
        const double y = draw(dice, values) + (codes.back() > first + step ? 0.75 : 0.0);
        cases.push_back(Case::make(y, real ? 0.01 + dice.unit() : light ? 1 : 1 + dice.below(3)));
        sum += y * double(cases.back().weight()), weight += double(cases.back().weight());
        low = std::min(low, y), high = std::max(high, y);
    }
    const double centers[] = {sum / weight, sum / weight, low + 0.3 * (high - low)};
    p.totals.center = p.start.center = centers[dice.below(3)];
    for (std::size_t i = 0; i < n + n_missing; ++i) {
        p.totals.add(cases[i]);
        if (i >= n) {
            p.start.add(cases[i]);
            continue;
        }
        p.codes.push_back(static_cast<std::uint16_t>(codes[i]));
        p.members.push_back({static_cast<std::uint32_t>(i), cases[i]});
    }
    p.tie = 1e-12 * p.totals.spread();
    return p;
}

// {code: score} of every allowed cut between distinct codes, by the textbook: spread of all less those of the sides.
template <class Case>
std::map<std::uint32_t, double> every_score(const Problem<Case>& p) {
    using Number = long double;
    struct Sums {
        Number weight = 0, sum = 0;
        void add(Number w, Number d) { weight += w, sum += w * d; }
    };
    // Differences from the mean, so that no digit is lost.
    const Number mean = Number(p.totals.center) + Number(p.totals.sum) / Number(p.totals.total);
    std::map<std::uint32_t, Sums> at;
    Sums left{Number(p.start.total), Number(p.start.sum)};
    left.sum += left.weight * (Number(p.start.center) - mean);
    Sums all = left;
    for (std::size_t i = 0; i < p.codes.size(); ++i) {
        const auto& c = p.members[i].of;
        at[p.codes[i]].add(Number(c.weight()), Number(c.y()) - mean);
        all.add(Number(c.weight()), Number(c.y()) - mean);
    }
    std::map<std::uint32_t, double> scores;
    for (auto it = at.begin(); std::next(it) != at.end(); ++it) {
        left.weight += it->second.weight;
        left.sum += it->second.sum;
        const Number right = all.weight - left.weight, rest = all.sum - left.sum;
        if (double(left.weight) < p.min_leaf || double(right) < p.min_leaf) continue;
        scores[it->first] = double(left.sum * left.sum / left.weight + rest * rest / right);
    }
    return scores;
}

std::uint32_t last_at_or_below(const std::vector<std::uint16_t>& codes, std::uint32_t code) {
    std::uint32_t last = 0;
    for (const auto c : codes)
        if (c <= code) last = std::max<std::uint32_t>(last, c);
    return last;
}

template <class Case>
double highest_of(const Problem<Case>& p) {
    double highest = -kInfinity;
    for (const auto& [code, score] : every_score(p)) highest = std::max(highest, score);
    return highest;
}

template <class Case>
void check(const Problem<Case>& p, Search<Case>& search) {
    Cut best;
    search.every_cut(p.known(), p.frame(), best);
    const auto scores = every_score(p);
    if (scores.empty()) {
        assert(!best.found());
        return;
    }
    const double highest = highest_of(p);
    if (highest <= p.floor) {  // of no interest: anything that is not better will do
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

template <class Case>
void finds_the_best(const std::vector<double>& limits) {
    Search<Case> search{VarianceScore{}};  // its buffers are used again and again
    Dice dice(17);
    for (const std::size_t n : {2, 3, 8, 9, 16, 17, 32, 33, 48, 49, 300, 3000})
        for (const std::uint32_t n_codes : {2U, 7U, 40U, 1000U, 65536U})
            for (const auto values : kValues)
                for (const double limit : limits) {
                    auto p = make_problem<Case>(dice, n, n_codes, values, dice.below(2) * n / 5);
                    p.min_leaf = limit < 1 ? limit * double(p.totals.total) : limit;
                    check(p, search);
                    const double highest = highest_of(p);
                    if (highest == -kInfinity) continue;
                    // A floor below the best must not hide it, one above may.
                    for (const double shift : {-0.5, -1e-3, -1e-9, 1e-9, 1e-3, 0.5}) {
                        p.floor = highest + shift * p.totals.spread();
                        check(p, search);
                    }
                }
}

// A far value alone in a bin, on either side of the center: what a sum can reach inside a bin goes by its parts.
void far_values_in_one_bin() {
    Search<Real> search{VarianceScore{}};
    Dice dice(5);
    for (int round = 0; round < 300; ++round) {
        auto p = make_problem<Real>(dice, 64 + dice.below(200), 65536, Values::normal, 0);
        const std::size_t at = dice.below(std::uint32_t(p.codes.size()));
        const double far = std::ldexp(dice.below(2) ? 1 : -1, int(dice.below(12)));
        for (const std::size_t i : {at, (at + 1) % p.codes.size()}) {  // two that all but cancel, side by side
            p.codes[i] = static_cast<std::uint16_t>(20000 + i - at);
            p.members[i].of = Real::make(i == at ? far : 0.01 - far, 0.5);
        }
        p.totals.clear();
        for (const auto& m : p.members) p.totals.add(m.of);
        p.tie = 1e-12 * p.totals.spread();
        for (const double floor : {-kInfinity, 0.0, 0.5, 0.999}) {
            p.floor = floor > 0 ? floor * highest_of(p) : floor;
            check(p, search);
        }
    }
}

void light_and_heavy_weights() {
    Dice dice(6);
    Search<Real> search{VarianceScore{}};
    for (const double scale : {1e-100, 1e-9, 1e9, 1e120})
        for (const std::size_t n : {20, 400}) {
            auto p = make_problem<Real>(dice, n, 60000, Values::normal, n / 4);
            Cut best, moved;
            p.min_leaf = 0;
            search.every_cut(p.known(), p.frame(), best);
            auto q = p;
            q.totals.clear(), q.start.clear();
            for (auto& m : q.members) {
                m.of = m.of.weighing(scale * m.of.weight());
                q.totals.add(m.of);
            }
            q.start.total = scale * p.start.total, q.start.sum = scale * p.start.sum;
            q.start.squares = scale * p.start.squares;
            q.totals.add(q.start);
            q.tie *= scale;
            search.every_cut(q.known(), q.frame(), moved);
            assert(moved.code == best.code && near(moved.score / scale, best.score));
        }
}

void one_code_is_no_cut() {
    Dice dice(3);
    for (const std::size_t n : {1, 5, 100}) {
        auto p = make_problem<Whole>(dice, n, 1, Values::normal, 0);
        Cut best;
        Search<Whole>{VarianceScore{}}.every_cut(p.known(), p.frame(), best);
        assert(!best.found());
    }
}

// A cut that is found already is kept unless a better one, or an equal one at a smaller code, turns up.
void improves_what_is_there() {
    Dice dice(4);
    for (const std::size_t n : {10, 500}) {
        const auto p = make_problem<Whole>(dice, n, 50, Values::normal, 0);
        Search<Whole> search{VarianceScore{}};
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
        for (int round = 0; round < 40; ++round) {
            std::vector<double> values(n), draws;
            for (auto& v : values) v = dice.below(2) ? dice.unit() : double(dice.below(3));
            values[0] = -1;
            const Column column = code_numeric<double>(values, kMaxCodes);
            auto p = make_problem<Real>(dice, n, 9, Values::heavy, 0);
            for (std::size_t i = 0; i < n; ++i) p.codes[i] = column.narrow.empty() ? column.wide[i] : column.narrow[i];
            p.min_leaf = dice.below(3);
            for (std::uint32_t i = 0; i <= dice.below(5); ++i) draws.push_back(dice.unit());
            Cut best;
            RandomCuts<Real, VarianceScore>{VarianceScore{}}.search(p.known(), p.frame(), column, draws, best);
            const double low = -1, high = *std::max_element(values.begin(), values.end());
            double highest = -kInfinity;
            for (const double u : draws) {
                ValueSums<double> left;
                left.clear_like(p.totals);
                for (std::size_t i = 0; i < n; ++i)
                    if (values[i] <= low + u * (high - low)) left.add(p.members[i].of);
                if (left.total >= p.min_leaf && p.totals.total - left.total >= p.min_leaf)
                    highest = std::max(highest, score_of(VarianceScore{}, left, p.totals));
            }
            assert(best.score == highest || std::abs(best.score - highest) <= 2 * p.tie);
            if (!best.found()) continue;
            assert(best.threshold >= low && best.threshold < high);
            for (std::size_t i = 0; i < n; ++i) assert((values[i] <= best.threshold) == (p.codes[i] <= best.code));
        }
}

// No division of the rows in two gains more than most_gain, and one into pure or, of few rows, the best sides gains it.
template <class Case>
void most_gain_is_reached() {
    Dice dice(9);
    SplitOptions options;
    options.criterion = Criterion::variance;
    for (const std::size_t n : {2, 3, 5, 9, 16})
        for (const auto values : kValues) {
            const auto p = make_problem<Case>(dice, n, 100, values, 0);
            Splitter<Case, VarianceScore> splitter({}, options);
            const double most = splitter.most_gain({p.members, p.totals}) * double(p.totals.total);
            double best = 0;
            for (std::uint32_t side = 1; side + 1 < (1U << n); ++side) {
                typename Case::Sums left;
                left.clear_like(p.totals);
                for (std::size_t i = 0; i < n; ++i)
                    if (side >> i & 1) left.add(p.members[i].of);
                best = std::max(best, score_of(VarianceScore{}, left, p.totals));
            }
            assert(std::abs(most - best) <= 2 * p.tie);
            assert(most <= p.totals.spread() * (1 + 1e-12));
            // Fractions leave rows out: then only pure sides are a bound.
            options.missing = Missing::fractional;
            Splitter<Case, VarianceScore> in_parts({}, options);
            assert(near(in_parts.most_gain({p.members, p.totals}) * double(p.totals.total), p.totals.spread()));
            options.missing = Missing::learn;
        }
}

template <class Case>
void groups_add_up() {
    Dice dice(11);
    const auto p = make_problem<Case>(dice, 200, 40, Values::offset, 0);
    SumsRows<Case> groups;
    groups.assign(1, p.totals);
    for (std::size_t g = 1; g < 7; ++g) groups.push_back();
    assert(groups.size() == 7);
    for (std::size_t i = 0; i < p.members.size(); ++i) groups.add(i % 7, p.members[i].of);
    typename Case::Sums all, half;
    all.clear_like(p.totals), half.clear_like(p.totals);
    for (std::size_t g = 0; g < 7; ++g) {
        groups.move(g, all, true);
        assert(all.total == 0);  // of which users keep count
        if (g < 3) half.add(groups.row(g));
        double weight = 0, sum = 0;
        for (std::size_t i = g; i < p.members.size(); i += 7) {
            weight += double(p.members[i].of.weight());
            sum += double(p.members[i].of.weight()) * (p.members[i].of.y() - p.totals.center);
        }
        assert(near(double(groups.weight(g)), weight) && near(groups.key(g, 0, groups.weight(g)), sum / weight));
    }
    assert(near(all.sum, p.totals.sum) && near(all.squares, p.totals.squares));
    typename Case::Sums rest;
    rest.set_rest(p.totals, half);
    assert(near(double(rest.total + half.total), double(p.totals.total)) && near(rest.sum + half.sum, p.totals.sum));
    assert(groups.n_orders() == 1 && groups.one_order_suffices() && !groups.is_flat(0, all));
}

void cases_keep_value_and_weight() {
    for (const double y : {0.0, -1.5, 1e-300, 1e150, 1e9 + 1e-6}) {
        assert(Whole::make(y, 7).y() == y && Whole::make(y, 7).weight() == 7);
        assert(Whole::make(y, 7).weighing(3).y() == y && Whole::make(y, 7).weighing(3).weight() == 3);
        assert(Real::make(y, 0.3).y() == y && Real::make(y, 0.3).weighing(0.1).weight() == 0.1);
    }
    const std::vector<double> tiny{0, 3e-200}, huge{-1e150, 1e150}, same{5, 5};
    for (const auto* values : {&tiny, &huge}) {
        const auto inside = scaled(*values, scale_of(*values));
        assert(inside[1] - inside[0] >= 1 && inside[1] - inside[0] < 2);
    }
    assert(scale_of(same) == 0);
}

}  // namespace

int main() {
    cases_keep_value_and_weight();
    groups_add_up<Whole>();
    groups_add_up<Real>();
    one_code_is_no_cut();
    improves_what_is_there();
    far_values_in_one_bin();
    light_and_heavy_weights();
    random_cuts();
    most_gain_is_reached<Whole>();
    most_gain_is_reached<Real>();
    for (const auto& limits : {std::vector<double>{0, 1}, {0.02, 0.2, 0.5, 7}}) {
        finds_the_best<Whole>(limits);
        finds_the_best<Real>(limits);
    }
    return passed("value cuts");
}
