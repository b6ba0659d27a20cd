// The best split of a column with its missing values, against trying every split.
#include "split/splitter.hpp"

#include <numeric>
#include <set>

#include "tests/tools.hpp"

using namespace foresift;
using namespace foresift::tests;

namespace {

struct Data {
    std::vector<double> values;  // NaN: missing; categories for a nominal column
    std::vector<std::int32_t> target;
    std::vector<double> weights;
    std::uint32_t n_classes;

    Column column(bool nominal) const {
        if (!nominal) return code_numeric<double>(values, kMaxCodes);
        std::vector<std::int32_t> codes;
        for (const double v : values) codes.push_back(std::isnan(v) ? -1 : std::int32_t(v));
        return code_nominal(codes, 6);
    }
    /// Class weights of the rows for which `wanted` holds.
    Counts counts(auto wanted) const {
        Counts result(n_classes);
        for (std::size_t i = 0; i < values.size(); ++i)
            if (wanted(values[i])) result[std::size_t(target[i])] += weights[i];
        return result;
    }
};

Data make_data(Dice& dice, std::size_t n, double missing) {
    Data data{{}, {}, {}, 2 + dice.below(2)};
    for (std::size_t i = 0; i < n; ++i) {
        data.values.push_back(dice.unit() < missing ? kNaN : dice.below(6));
        data.target.push_back(std::int32_t(dice.below(data.n_classes)));
        data.weights.push_back(1 + dice.below(3));
    }
    data.target[0] = 0;
    data.target[1] = 1;
    return data;
}

Split split(const Data& data, bool nominal, const SplitOptions& options) {
    return split_column(data.column(nominal), {data.target, data.n_classes}, data.weights, options);
}

/// Largest gain over all divisions of the distinct values (and missing, if learned) that `allowed` admits.
double best_gain(const Data& data, bool nominal, const SplitOptions& options) {
    std::set<double> present;
    for (const double v : data.values)
        if (!std::isnan(v)) present.insert(v);
    const bool learn = options.missing == Missing::learn;
    const Counts unknown = data.counts([](double v) { return std::isnan(v); });
    const double known = sum(data.counts([](double v) { return !std::isnan(v); })), all = known + sum(unknown);
    double best = -kInfinity;
    for (std::uint32_t left = 0; left < 64; ++left) {
        if (!nominal && (left & (left + 1))) continue;  // cuts: 0..k go left
        for (const bool missing_left : {false, true}) {
            const auto goes = [&](bool to_left) {
                return data.counts([&](double v) {
                    if (std::isnan(v)) return learn && missing_left == to_left;
                    return bool(left >> unsigned(v) & 1) == to_left;
                });
            };
            const Counts l = goes(true), r = goes(false);
            if (sum(l) == 0 || sum(r) == 0 || sum(l) < options.min_leaf || sum(r) < options.min_leaf) continue;
            best = std::max(best, textbook_gain(options.criterion, l, r) * (learn ? 1 : known / all));
        }
    }
    return best;
}

void equals_every_split(bool nominal, const std::vector<double>& limits) {
    Dice dice(nominal ? 1 : 2);
    for (const Criterion criterion : kCriteria)
        for (const Missing missing : {Missing::learn, Missing::fractional})
            for (const double limit : limits)
                for (int round = 0; round < 60; ++round) {
                    SplitOptions options;
                    options.criterion = criterion;
                    options.missing = missing;
                    options.min_leaf = limit;
                    const auto data = make_data(dice, 2 + dice.below(40), round % 3 ? 0.2 : 0);
                    const double expected = best_gain(data, nominal, options);
                    const auto found = split(data, nominal, options);
                    assert(found.found() == (expected > -kInfinity));
                    if (!found.found()) continue;
                    assert(near(found.gain, expected));
                    assert(found.nominal == nominal && found.n_branches() == 2);
                    const bool any_missing = data.column(nominal).has_missing;
                    assert((found.missing_branch == Split::kNoMissing) == !any_missing);
                    const bool fractions = found.missing_branch == Split::kFractions;
                    assert(fractions == (any_missing && missing == Missing::fractional));
                }
}

void branches_by_the_textbook() {
    Dice dice(3);
    for (const Criterion criterion : kCriteria)
        for (int round = 0; round < 100; ++round) {
            Counts left(3), right(3), both;
            for (auto* side : {&left, &right})
                for (auto& c : *side) c = dice.below(5);
            left[0] += 1;
            right[1] += 1;
            both = left;
            both.insert(both.end(), right.begin(), right.end());
            assert(near(branch_gain(criterion, both, 3), textbook_gain(criterion, left, right)));
        }
    // Three branches by hand: pure ones gain the whole entropy; SSV: 2 pairs part, one row is outside.
    const Counts three{1, 0, 0, 1, 1, 0};
    assert(near(branch_gain(Criterion::entropy, three, 2), entropy({2, 1})));
    assert(near(branch_gain(Criterion::gini, three, 2), gini({2, 1})));
    assert(near(branch_gain(Criterion::ssv, three, 2), 2 * 2 - 1));
}

void known_against_missing() {
    const Data data{{1, 2, 3, kNaN, kNaN}, {0, 0, 0, 1, 1}, {1, 1, 1, 1, 1}, 2};
    const auto apart = split(data, false, {});
    assert(apart.threshold == kInfinity && apart.missing_branch == 1 && near(apart.gain, entropy({3, 2})));
    const Data constant{{1, 1, kNaN}, {0, 0, 1}, {1, 1, 1}, 2};
    assert(near(split(constant, false, {}).gain, entropy({2, 1})));
    SplitOptions fractional;
    fractional.missing = Missing::fractional;
    assert(!split(constant, false, fractional).found());
    const Data nothing{{kNaN, kNaN}, {0, 1}, {1, 1}, 2};
    for (const bool nominal : {false, true}) assert(!split(nothing, nominal, {}).found());
}

void one_branch_per_category() {
    SplitOptions options;
    options.multiway = true;
    const Data data{{0, 3, 5, kNaN, 0}, {0, 1, 1, 0, 0}, {1, 1, 1, 1, 1}, 2};
    const auto learned = split(data, true, options);
    assert(learned.n_branches() == 4 && learned.missing_branch == 3);  // missing: one more category
    assert((learned.grouping.categories == std::vector<std::uint16_t>{0, 3, 5, 6}));
    assert(near(learned.gain, entropy({3, 2})));
    options.missing = Missing::fractional;
    const auto known = split(data, true, options);
    assert(known.n_branches() == 3 && known.missing_branch == Split::kFractions);
    assert(near(known.gain, 0.8));  // (2, 2) apart, times the known share
}

// A cut that leaves too little on a side is taken only if there is no other, whatever must be beaten. All cuts that
// leave enough are inside one bin, which cannot beat what the cut between the classes does.
void least_share_holds_against_a_floor() {
    constexpr std::uint32_t kValues = 40000;
    std::vector<double> values(kValues);
    std::iota(values.begin(), values.end(), 0.0);
    const Column column = code_numeric<double>(values, kMaxCodes);
    std::vector<Member<RealCase>> members;
    Tally<double> totals(2);
    for (std::uint32_t i = 0; i < 200; ++i) {
        const std::uint32_t row = i < 60 ? i : i < 80 ? 20000 + i : i < 199 ? 39000 + i : kValues - 1;
        members.push_back({row, RealCase::make(i < 60, 1)});
        totals.add(members.back().of);
    }
    SplitOptions options;
    options.min_share = 0.45;
    Splitter<RealCase, EntropyScore<RealLog>> splitter({}, options);
    Bits bits(0, 0, 0);
    Split free, bound;
    splitter.best(column, Codes::of(column), {members, totals}, 0.0, bits, free);
    assert(near(free.gain, textbook_gain(Criterion::entropy, {30, 60}, {110, 0})));
    for (const double floor : {0.5, 0.99, 1.01, 1.3, 1.5}) {
        splitter.best(column, Codes::of(column), {members, totals}, floor * free.gain, bits, bound);
        assert(floor < 1 ? bound.gain == free.gain && bound.cut == free.cut : bound.gain <= free.gain);
    }
}

}  // namespace

int main() {
    least_share_holds_against_a_floor();
    branches_by_the_textbook();
    known_against_missing();
    one_branch_per_category();
    equals_every_split(false, {0, 1, 3, 8});
    equals_every_split(true, {0, 1});
    equals_every_split(true, {3, 8});  // least sizes, where the best prefix may be too small
    return passed("splitter");
}
