// The best split by a histogram, against the splitter on the rows themselves and against trying every cut.
#include "hist/histogram_search.hpp"

#include <algorithm>

#include "tests/tools.hpp"

using namespace foresift;
using namespace foresift::tests;

namespace {

struct Rows {
    std::vector<std::uint8_t> codes;   // n_values: missing
    std::vector<std::int32_t> target;  // classes, or numbers of scores
};

struct Kind {
    std::uint32_t n_values;
    bool nominal;
    double missing;
};

// What a tree asks for: every kind of column at every slot, itself and as a shadow.
struct Problem {
    std::vector<Kind> kinds;
    std::vector<std::uint32_t> scores;  // empty: classes
    std::uint32_t n_codes;
    SplitOptions options;
    std::vector<Rows> rows;  // of every request and slot
    std::uint32_t n_slots;

    bool quantity() const { return !scores.empty(); }
    std::size_t n_requests() const { return rows.size() / n_slots; }
    const Kind& kind(std::size_t request) const { return kinds[request % kinds.size()]; }

    LevelPlan plan() const {
        LevelPlan plan;
        plan.nodes_of = {0, n_slots};
        plan.requests_of = {0, static_cast<std::uint32_t>(n_requests())};
        plan.node_column.assign(n_slots, 0);
        plan.first_child.assign(n_slots, 0);
        plan.child_of.assign(n_slots * kCodes, 0);
        for (std::uint32_t k = 0; k < n_slots; ++k) plan.slot.push_back(k);
        plan.n_slots = {n_slots};
        plan.depth = {0};
        for (std::uint32_t r = 0; r < n_requests(); ++r) {
            plan.request_column.push_back(static_cast<std::uint32_t>(r % kinds.size()));
            plan.request_shadow.push_back(static_cast<std::uint32_t>(r / kinds.size()));
        }
        for (const auto& of : kinds) plan.width.push_back(of.n_values + 1);
        plan.n_codes = n_codes;
        plan.scores = scores;
        return plan;
    }
    std::vector<std::int64_t> sums() const {
        std::vector<std::int64_t> all;
        for (std::size_t r = 0; r < rows.size(); ++r) {
            const std::size_t width = kind(r / n_slots).n_values + 1;
            std::vector<std::int64_t> own(width * (quantity() ? 2 : n_codes));
            for (std::size_t i = 0; i < rows[r].codes.size(); ++i) {
                const auto y = std::size_t(rows[r].target[i]);
                ++own[(quantity() ? 0 : y) * width + rows[r].codes[i]];
                if (quantity()) own[width + rows[r].codes[i]] += scores[y];
            }
            all.insert(all.end(), own.begin(), own.end());
        }
        return all;
    }
};

Problem make_problem(Dice& dice, std::vector<Kind> kinds, std::uint32_t n_codes, bool quantity, std::size_t most_rows) {
    Problem problem{std::move(kinds), {}, n_codes, {}, {}, 1 + dice.below(3)};
    problem.options.criterion = quantity ? Criterion::variance : Criterion::entropy;
    if (quantity)
        for (std::uint32_t c = 0; c < n_codes; ++c) problem.scores.push_back(dice.below(dice.below(2) ? 4 : 1U << 24));
    for (std::size_t r = 0; r < 2 * problem.kinds.size() * problem.n_slots; ++r) {
        const Kind& of = problem.kind(r / problem.n_slots);
        Rows rows;
        const auto low = dice.below(of.n_values);  // a node has only some of the codes
        for (std::size_t i = dice.below(std::uint32_t(most_rows)); i > 0; --i) {
            const std::uint32_t code = low + dice.below(of.n_values - low);
            rows.codes.push_back(static_cast<std::uint8_t>(dice.unit() < of.missing ? of.n_values : code));
            const auto y = dice.unit() < 0.3 ? std::min(n_codes - 1, code * n_codes / of.n_values) : dice.below(n_codes);
            rows.target.push_back(static_cast<std::int32_t>(y));
        }
        problem.rows.push_back(rows);
    }
    return problem;
}

LevelGains search(const Problem& problem) {
    std::vector<std::uint8_t> nominal;
    for (const auto& of : problem.kinds) nominal.push_back(of.nominal ? 1 : 0);
    return search_level(problem.plan(), 0, problem.sums(), nominal, problem.options, {});
}

// The gain of rows divided into so many children, as in a textbook.
double gain_of(const Problem& problem, const Rows& rows, std::uint32_t n_children, auto child_of) {
    const double n = double(rows.codes.size());
    if (problem.quantity()) {
        std::vector<double> size(n_children), sum(n_children);
        double all = 0, gain = 0;
        for (std::size_t i = 0; i < rows.codes.size(); ++i) {
            const double y = problem.scores[std::size_t(rows.target[i])];
            size[child_of(rows.codes[i])] += 1, sum[child_of(rows.codes[i])] += y, all += y;
        }
        for (std::uint32_t k = 0; k < n_children; ++k)
            if (size[k] > 0) gain += size[k] / n * (sum[k] / size[k] - all / n) * (sum[k] / size[k] - all / n);
        return gain;
    }
    std::vector<Counts> counts(n_children, Counts(problem.n_codes));
    Counts all(problem.n_codes);
    for (std::size_t i = 0; i < rows.codes.size(); ++i) {
        counts[child_of(rows.codes[i])][std::size_t(rows.target[i])] += 1;
        all[std::size_t(rows.target[i])] += 1;
    }
    double gain = entropy(all);
    for (const auto& own : counts) gain -= sum(own) > 0 ? sum(own) / n * entropy(own) : 0;
    return gain;
}

// The largest gain of a cut that leaves enough on either side, if there is one; -infinity without any cut.
double best_cut(const Problem& problem, const Rows& rows, const Kind& of) {
    const double n = double(rows.codes.size());
    for (const double least : {std::max(1.0, problem.options.min_share * n), 1.0}) {
        double best = -kInfinity;
        for (std::uint32_t cut = 0; cut <= of.n_values; ++cut)
            for (const bool missing_left : {false, true}) {
                const auto child_of = [&](std::uint8_t code) {
                    return code == of.n_values ? std::size_t(!missing_left) : std::size_t(code >= cut);
                };
                const auto right = std::count_if(rows.codes.begin(), rows.codes.end(), child_of);
                if (double(right) < least || n - double(right) < least) continue;
                best = std::max(best, gain_of(problem, rows, 2, child_of));
            }
        if (best > -kInfinity) return best;
    }
    return -kInfinity;
}

Split by_rows(const Problem& problem, const Rows& rows, const Kind& of) {
    Column column;
    column.narrow = rows.codes;
    column.n_values = of.n_values;
    column.nominal = of.nominal;
    column.has_missing = std::count(rows.codes.begin(), rows.codes.end(), std::uint8_t(of.n_values)) > 0;
    column.doubles.resize(of.n_values);
    for (std::uint32_t k = 0; k < of.n_values; ++k) column.doubles[k] = k;
    const std::vector<double> weights(rows.codes.size(), 1.0);
    std::vector<double> values;
    for (const auto y : rows.target) values.push_back(problem.quantity() ? problem.scores[std::size_t(y)] : 0.0);
    if (rows.codes.empty()) return {};
    const Response response = problem.quantity() ? Response(values) : Response(rows.target, problem.n_codes);
    return split_column(column, response, weights, problem.options);
}

std::size_t check(const Problem& problem) {
    const LevelGains found = search(problem);
    std::size_t own = 0, row_begin = 0, n_found = 0;
    assert(found.gains.size() == problem.rows.size());
    for (std::size_t r = 0; r < problem.rows.size(); ++r) {
        const Rows& rows = problem.rows[r];
        const std::size_t request = r / problem.n_slots;
        const Kind& of = problem.kind(request);
        const double unit = problem.quantity() ? std::ldexp(1.0, 48) : 1;
        const Split split = by_rows(problem, rows, of);
        const double gain = found.gains[r];
        const bool apart = problem.options.min_share > 0 && of.missing > 0;  // the splitter asks in another order
        if (!apart || of.nominal) assert(near(gain / unit, (split.found() ? split.gain : 0) / unit));
        const double expected = of.nominal ? split.gain : best_cut(problem, rows, of);
        if (!of.nominal) assert(near(gain / unit, std::max(0.0, expected) / unit));
        if (request >= problem.kinds.size()) continue;  // a shadow has no children
        const std::uint32_t n_children = found.n_children[own];
        assert((n_children > 0) == (expected > -kInfinity));
        const std::uint8_t* const child_of = found.child_of.data() + own * kCodes;
        std::vector<std::int64_t> n_rows(n_children);
        for (const auto code : rows.codes) {
            if (n_children == 0) break;
            assert(child_of[code] < n_children);
            ++n_rows[child_of[code]];
        }
        for (std::uint32_t k = 0; k < n_children; ++k) {
            assert(n_rows[k] > 0);
            assert(found.child_rows[row_begin + k] == n_rows[k]);
        }
        if (n_children > 0) {
            const double own_gain = gain_of(problem, rows, n_children, [&](std::uint8_t code) { return child_of[code]; });
            assert(near(gain / unit, own_gain / unit));
        }
        ++own;
        row_begin += n_children;
        n_found += n_children > 0;
    }
    assert(own == found.n_children.size() && row_begin == found.child_rows.size());
    assert(found.child_of.size() == own * kCodes);
    return n_found;
}

const std::vector<Kind> kNumeric{{2, false, 0}, {5, false, 0.3}, {1, false, 0.5}, {40, false, 0}, {255, false, 0.1}};
const std::vector<Kind> kNominal{{2, true, 0}, {5, true, 0.3}, {1, true, 0.5}, {12, true, 0.1}, {255, true, 0.05}};

void random_problems(bool quantity, std::uint32_t n_codes) {
    Dice dice(n_codes);
    std::size_t n_found = 0;
    for (int round = 0; round < 24; ++round)
        for (const auto* kinds : {&kNumeric, &kNominal}) {
            auto problem = make_problem(dice, *kinds, n_codes, quantity, round % 3 ? 60 : 400);
            problem.options.min_share = round % 4 == 1 ? 0.2 : round % 4 == 2 ? 0.5 : 0.0;
            problem.options.multiway = round % 2 == 1;
            n_found += check(problem);
        }
    assert(n_found > 100);
}

// More rows than the table of logarithms has entries, and more than 32 bits count.
void huge_counts() {
    for (const std::int64_t times : {std::int64_t{1}, std::int64_t{1} << 14, std::int64_t{1} << 40}) {
        Dice dice(1);
        for (const bool quantity : {false, true}) {
            Problem problem = make_problem(dice, {{6, false, 0.2}, {6, true, 0.2}}, quantity ? 9 : 3, quantity, 40);
            const LevelGains few = search(problem);
            std::vector<std::int64_t> sums = problem.sums();
            for (auto& n : sums) n *= quantity ? std::min(times, std::int64_t{1} << 30) : times;
            const std::vector<std::uint8_t> nominal{0, 1};
            const auto many = search_level(problem.plan(), 0, sums, nominal, problem.options, {});
            for (std::size_t r = 0; r < few.gains.size(); ++r)
                if (problem.rows[r].codes.size() > 1) assert(near(few.gains[r], many.gains[r], 1e-7));
        }
    }
}

// All rows of one class, of one score, or without rows: nothing to gain.
void nothing_to_gain() {
    for (const bool quantity : {false, true}) {
        Problem problem{{{3, false, 0}, {3, true, 0}}, {}, 2, {}, {}, 1};
        if (quantity) problem.scores = {7, 7}, problem.options.criterion = Criterion::variance;
        problem.rows = {{{0, 1, 2, 3}, {0, 0, 0, 0}}, {{0, 1, 2, 3}, {0, 0, 0, 0}}, {{}, {}}, {{}, {}}};
        const auto found = search(problem);
        for (const double gain : found.gains) assert(gain == 0);
        problem.rows = {{{1}, {0}}, {{1}, {1}}, {{1, 1}, {0, 1}}, {{3, 3}, {0, 1}}};
        const auto constant = search(problem);
        for (const double gain : constant.gains) assert(gain == 0);
        for (const auto n : constant.n_children) assert(n == 0);
        assert(constant.child_rows.empty());
    }
}

// Of cuts that gain the same, the lowest; missing values go right.
void ties() {
    Problem problem{{{5, false, 0}}, {}, 2, {}, {}, 1};
    problem.rows = {{{0, 1, 3, 4}, {0, 1, 1, 0}}, {{}, {}}};
    const auto found = search(problem);
    assert(found.n_children[0] == 2 && found.child_of[0] == 0 && found.child_of[1] == 1 && found.child_of[5] == 1);
    assert((found.child_rows == std::vector<std::int64_t>{1, 3}));
    // Codes that no row has, between two that have: they go right.
    problem.rows = {{{0, 3}, {0, 1}}, {{}, {}}};
    const auto gap = search(problem);
    assert(gap.child_of[0] == 0 && gap.child_of[1] == 1 && gap.child_of[2] == 1 && gap.child_of[3] == 1);
}

void stops() {
    Dice dice(9);
    const auto problem = make_problem(dice, std::vector<Kind>(900, {255, false, 0}), 3, false, 5);
    const std::vector<std::uint8_t> nominal(900, 0);
    bool stopped = false;
    try {
        search_level(problem.plan(), 0, problem.sums(), nominal, {}, [] { return true; });
    } catch (const Interrupted&) {
        stopped = true;
    }
    assert(stopped);
}

}  // namespace

int main() {
    for (const std::uint32_t n_codes : {2U, 3U, 7U}) random_problems(false, n_codes);
    for (const std::uint32_t n_codes : {2U, 9U, 60U}) random_problems(true, n_codes);
    huge_counts();
    nothing_to_gain();
    ties();
    stops();
    return passed("histogram_search");
}
