// Rankings by pruning: by hand, against the loops of the paper written out, and trees of one column against the engine.
#include "kernels/ssv_rank.hpp"

#include <algorithm>
#include <set>
#include <tuple>

#include "grow/grower.hpp"
#include "tests/tools.hpp"

using namespace foresift;
using namespace foresift::tests;

namespace {

using Splits = std::vector<PrunableSplit>;
const std::function<bool()> kGoOn = [] { return false; };

void by_hand() {
    //        0 (saves 1)
    //      1 (0)      3 (2)
    //    2 (3)
    const Splits splits{{-1, -1, 100, 1}, {0, -1, 10, 0}, {1, -1, 5, 3}, {0, -1, 7, 2}};
    // Algorithm 1 deletes 3, 2, 1, 0.
    const double sums[] = {100, 110, 115, 122};
    double best = 0;
    for (int i = 1; i <= 4; ++i) best = std::max(best, sums[i - 1] / std::log(2.0 + i));
    assert(near(rank_by_pruning(splits), best));
    // Algorithm 2: round 0 deletes 3; round 1 deletes 2 and then 1, which saves nothing; round 2 the root.
    assert((rounds_of_pruning(splits) == std::vector<std::int32_t>{2, 1, 1, 0}));

    // A root that saves nothing goes with the last split below it.
    const Splits useless_root{{-1, -1, 3, 0}, {0, -1, 8, 2}, {0, -1, 8, 1}};
    assert((rounds_of_pruning(useless_root) == std::vector<std::int32_t>{1, 1, 0}));

    assert(rank_by_pruning({}) == 0);
    assert(rounds_of_pruning({}).empty());
}

void ties_go_by_ssv_and_then_from_the_left() {
    // Both sides save as much; whichever goes first, the next is its parent, which saves less.
    const Splits splits{{-1, -1, 50, 9}, {0, -1, 20, 1}, {1, -1, 4, 2}, {0, -1, 30, 1}, {3, -1, 4, 2}};
    // 2, then 1, 4, 3, 0: leaves 50, 80, 84, 104, 108.
    double best = 0;
    const double sums[] = {50, 80, 84, 104, 108};
    for (int i = 1; i <= 5; ++i) best = std::max(best, sums[i - 1] / std::log(2.0 + i));
    assert(near(rank_by_pruning(splits), best));
    auto other = splits;
    other[4].ssv = 3;  // now the right one goes first: 4, 3, 2, 1, 0 leaves 50, 70, 74, 104, 107
    const double others[] = {50, 70, 74, 104, 107};
    best = 0;
    for (int i = 1; i <= 5; ++i) best = std::max(best, others[i - 1] / std::log(2.0 + i));
    assert(near(rank_by_pruning(other), best));
}

Splits random_splits(Dice& dice) {
    // Each below one of those before it that has fewer than two; which of its sides it is does not matter.
    Splits splits;
    std::vector<int> n_sides;
    const std::uint32_t n = 1 + dice.below(12);
    for (std::uint32_t k = 0; k < n; ++k) {
        std::int32_t parent = -1;
        while (k > 0 && (parent < 0 || n_sides[static_cast<std::size_t>(parent)] == 2))
            parent = static_cast<std::int32_t>(dice.below(k));
        if (parent >= 0) ++n_sides[static_cast<std::size_t>(parent)];
        splits.push_back({parent, -1, double(1 + dice.below(5)), double(dice.below(4))});
        n_sides.push_back(0);
    }
    return splits;
}

// The final splits among those that are left.
std::vector<std::size_t> final_ones(const Splits& splits, const std::set<std::size_t>& left) {
    std::vector<std::size_t> found;
    for (const std::size_t k : left)
        if (std::none_of(left.begin(), left.end(), [&](std::size_t below) {
                return splits[below].parent == static_cast<std::int32_t>(k);
            }))
            found.push_back(k);
    return found;
}

double literal_rank(const Splits& splits) {
    std::set<std::size_t> left;
    for (std::size_t k = 0; k < splits.size(); ++k) left.insert(k);
    double best = 0;
    while (!left.empty()) {
        double sum = 0;
        for (const std::size_t k : left) sum += splits[k].ssv;
        best = std::max(best, sum / std::log(2.0 + double(left.size())));
        const auto candidates = final_ones(splits, left);
        left.erase(*std::min_element(candidates.begin(), candidates.end(), [&](std::size_t a, std::size_t b) {
            return std::tuple(splits[a].saved, splits[a].ssv, a) < std::tuple(splits[b].saved, splits[b].ssv, b);
        }));
    }
    return best;
}

std::vector<std::int32_t> literal_rounds(const Splits& splits) {
    std::set<std::size_t> left;
    for (std::size_t k = 0; k < splits.size(); ++k) left.insert(k);
    std::vector<std::int32_t> rounds(splits.size());
    for (std::int32_t round = 0; !left.empty(); ++round) {
        double least = kInfinity;
        for (const std::size_t k : final_ones(splits, left)) least = std::min(least, splits[k].saved);
        const auto remove = [&](double saved) {
            bool any = false;
            for (const std::size_t k : final_ones(splits, left))
                if (splits[k].saved == saved) {
                    rounds[k] = round;
                    left.erase(k);
                    any = true;
                }
            return any;
        };
        remove(least);
        while (remove(0)) {}
    }
    return rounds;
}

void the_loops_of_the_paper() {
    Dice dice(1);
    for (int repeat = 0; repeat < 500; ++repeat) {
        const auto splits = random_splits(dice);
        assert(near(rank_by_pruning(splits), literal_rank(splits)));
        assert(rounds_of_pruning(splits) == literal_rounds(splits));
    }
}

double rank_by_engine(const Column& column, const std::vector<std::int32_t>& target, std::uint32_t n_classes,
                      const std::vector<double>& weights) {
    GrowOptions options;
    options.split.criterion = Criterion::ssv;
    options.split.min_leaf = 0;
    options.min_split = 0;
    const std::uint64_t first[] = {0};
    const auto tree = Grower({&column, 1}, {target, n_classes}, weights, options).grow(first, {}, kGoOn)[0];
    return rank_by_pruning(splits_of(tree.nodes, tree.counts, n_classes));
}

void trees_of_one_column_are_the_engine_s() {
    for (std::uint64_t seed = 0; seed < 300; ++seed) {
        Dice dice(seed);
        const std::size_t n = 2 + dice.below(seed % 3 ? 40 : 400);
        const std::uint32_t n_classes = 2 + dice.below(3), n_values = 1 + dice.below(seed % 2 ? 9 : 1000);
        std::vector<double> values(n), weights;
        std::vector<std::int32_t> codes(n), target(n);
        const std::uint32_t kind = dice.below(3);  // of weights: none, whole, real
        for (std::size_t i = 0; i < n; ++i) {
            values[i] = dice.below(n_values);
            codes[i] = static_cast<std::int32_t>(dice.below(7)) - 1;
            target[i] = static_cast<std::int32_t>(dice.below(n_classes));
            if (kind > 0) weights.push_back(kind == 1 ? dice.below(3) : 0.5 + dice.unit());
        }
        if (kind > 0) weights[0] = 1;
        const std::vector<Column> columns{code_numeric<double>(values, kMaxCodes), code_nominal(codes, 6)};
        const auto ranks = ssv_ranks(columns, target, n_classes, weights, kGoOn);
        assert(ranks.size() == 2);
        for (std::size_t j = 0; j < 2; ++j)
            assert(near(ranks[j], rank_by_engine(columns[j], target, n_classes, weights)));
    }
}

void constant_columns_and_single_classes_rank_0() {
    const std::vector<double> constant{3, 3, 3, 3}, values{1, 2, 3, 4};
    const std::vector<Column> columns{code_numeric<double>(constant, kMaxCodes),
                                      code_numeric<double>(values, kMaxCodes)};
    const std::vector<std::int32_t> target{0, 0, 1, 1}, same{1, 1, 1, 1};
    auto ranks = ssv_ranks(columns, target, 2, {}, kGoOn);
    assert(ranks[0] == 0 && near(ranks[1], 8 / std::log(3.0)));
    ranks = ssv_ranks(columns, same, 2, {}, kGoOn);
    assert(ranks[0] == 0 && ranks[1] == 0);
    const std::vector<double> only_one_class{1, 1, 0, 0};
    ranks = ssv_ranks(columns, target, 2, only_one_class, kGoOn);
    assert(ranks[0] == 0 && ranks[1] == 0);
}

void stops_when_told() {
    const std::vector<double> values{1, 2};
    const std::vector<std::int32_t> target{0, 1};
    const std::vector<Column> columns{code_numeric<double>(values, kMaxCodes)};
    try {
        ssv_ranks(columns, target, 2, {}, [] { return true; });
        assert(false);
    } catch (const Interrupted&) {
    }
}

}  // namespace

int main() {
    by_hand();
    ties_go_by_ssv_and_then_from_the_left();
    the_loops_of_the_paper();
    trees_of_one_column_are_the_engine_s();
    constant_columns_and_single_classes_rank_0();
    stops_when_told();
    return passed("ssv_rank");
}
