// Divisions of categories, against trying all of them.
#include "split/subsets.hpp"

#include "tests/tools.hpp"

using namespace foresift;
using namespace foresift::tests;

namespace {

CategoryTable<RealCase> make_table(Dice& dice, std::size_t n_categories, std::size_t n_classes) {
    std::vector<Item<RealCase>> items;
    for (std::uint32_t g = 0; g < n_categories; ++g)
        for (std::uint32_t i = 0; i <= dice.below(6); ++i)
            items.push_back({3 * g + 1, RealCase::make(dice.below(std::uint32_t(n_classes)), 0.2 + dice.unit())});
    CategoryTable<RealCase> table;
    table.assign(items, Tally<double>(n_classes));
    assert(table.size() == n_categories && table.totals.n_classes() == n_classes);
    return table;
}

Counts side(const CategoryTable<RealCase>& table, std::uint32_t categories) {
    Counts counts(table.totals.n_classes());
    for (std::size_t g = 0; g < table.size(); ++g)
        for (std::size_t c = 0; c < table.totals.n_classes(); ++c)
            if (categories >> g & 1) counts[c] += table.sums.row(g)[c];
    return counts;
}

double score_of_sides(const auto& score, const Counts& left, const Counts& right) {
    Tally<double> l(left.size()), all(left.size());
    for (std::size_t c = 0; c < left.size(); ++c) {
        l.add(RealCase::make(std::uint32_t(c), left[c]));
        all.add(RealCase::make(std::uint32_t(c), left[c] + right[c]));
    }
    return score_of(score, l, all);
}

std::uint32_t left_of(const Grouping& grouping) {
    std::uint32_t left = 0;
    for (std::size_t g = 0; g < grouping.branches.size(); ++g) left |= std::uint32_t(grouping.branches[g] == 0) << g;
    return left;
}

void check_shape(const Grouping& grouping, const CategoryTable<RealCase>& table) {
    assert(grouping.found() && grouping.n_branches == 2);
    assert(grouping.categories == table.categories && grouping.branches.size() == table.size());
    const auto left = std::count(grouping.branches.begin(), grouping.branches.end(), 0);
    const auto right = std::count(grouping.branches.begin(), grouping.branches.end(), 1);
    assert(left + right == std::ptrdiff_t(table.size()) && left > 0 && left <= right);  // the smaller set is left
}

template <class Score>
void every_subset(const Score& score) {
    Dice dice(1);
    for (int round = 0; round < 150; ++round) {
        const std::size_t m = 2 + dice.below(9);
        const auto table = make_table(dice, m, 2 + dice.below(3));
        const double min_leaf = round % 3 ? 0 : 2.5;
        double best = -kInfinity;
        const std::uint32_t all = (1U << m) - 1;
        for (std::uint32_t left = 1; left < all; ++left) {
            const Counts l = side(table, left), r = side(table, all & ~left);
            if (sum(l) >= min_leaf && sum(r) >= min_leaf) best = std::max(best, score_of_sides(score, l, r));
        }
        const auto found = SubsetSearch<RealCase, Score>(score, table, min_leaf, 1e-12).two_sets(false);
        assert(found.found() == (best > -kInfinity));
        if (!found.found()) continue;
        check_shape(found, table);
        const auto left = left_of(found);
        assert(near(found.score, best));
        assert(near(found.score, score_of_sides(score, side(table, left), side(table, all & ~left))));
        assert(sum(side(table, left)) >= min_leaf - 1e-9);
    }
}

// Breiman's theorem: with two classes the best division is a prefix of the order by share.
template <class Score>
void prefixes_of_two_classes(const Score& score) {
    Dice dice(2);
    for (int round = 0; round < 100; ++round) {
        const auto table = make_table(dice, 2 + dice.below(9), 2);
        SubsetSearch<RealCase, Score> one(score, table, 0, 1e-12), two(score, table, 0, 1e-12);
        assert(near(one.two_sets(true).score, two.two_sets(false).score));
    }
}

template <class Score>
void many_categories(const Score& score) {
    Dice dice(3);
    for (const std::size_t m : {11, 25, 31}) {
        const auto table = make_table(dice, m, 4);
        const std::uint32_t all = m == 32 ? ~0U : (1U << m) - 1;
        const auto found = SubsetSearch<RealCase, Score>(score, table, 0, 1e-12).two_sets(false);
        check_shape(found, table);
        const auto left = left_of(found);
        assert(near(found.score, score_of_sides(score, side(table, left), side(table, all & ~left))));
        for (std::size_t g = 0; g < m; ++g) {
            const double single = score_of_sides(score, side(table, 1U << g), side(table, all & ~(1U << g)));
            assert(found.score >= single - 1e-9 * (1 + std::abs(single)));
        }
    }
}

void ties_go_to_the_smaller_set() {
    // Three pure categories, two of class 0: {1} against {0, 2} is the same division as {0, 2} against {1}.
    std::vector<Item<RealCase>> items{{0, RealCase::make(0, 1)}, {1, RealCase::make(1, 1)}, {2, RealCase::make(0, 1)}};
    CategoryTable<RealCase> table;
    table.assign(items, Tally<double>(2));
    const auto found = SubsetSearch<RealCase, GiniScore<>>(GiniScore<>{}, table, 0, 1e-12).two_sets(false);
    assert((found.branches == std::vector<std::uint16_t>{1, 0, 1}));
}

void one_branch_per_category() {
    Dice dice(4);
    const auto table = make_table(dice, 5, 3);
    const auto found = SubsetSearch<RealCase, GiniScore<>>(GiniScore<>{}, table, 0, 0).multiway();
    assert(found.n_branches == 5 && found.categories == table.categories);
    assert((found.branches == std::vector<std::uint16_t>{0, 1, 2, 3, 4}));
    // C4.5: at least two branches must be large enough.
    double second = 0, first = 0;
    for (const double size : table.sizes) {
        if (size > first) {
            second = first;
            first = size;
        } else {
            second = std::max(second, size);
        }
    }
    using Search = SubsetSearch<RealCase, GiniScore<>>;
    assert(Search(GiniScore<>{}, table, second, 0).multiway().found());
    assert(!Search(GiniScore<>{}, table, second * 1.0001, 0).multiway().found());
    const auto single = make_table(dice, 1, 2);
    assert(!Search(GiniScore<>{}, single, 0, 0).multiway().found());
    assert(!Search(GiniScore<>{}, single, 0, 0).two_sets(false).found());
    assert(!Search(GiniScore<>{}, single, 0, 0).two_sets(true).found());
}

// A quantity: of the order by the mean one prefix is the best division (Fisher 1958), unless a side is too small.
void every_subset_of_a_quantity() {
    using Case = ValueCase<double>;
    Dice dice(5);
    for (int round = 0; round < 200; ++round) {
        const std::size_t m = 2 + dice.below(9);
        std::vector<Item<Case>> items;
        ValueSums<double> like;
        like.center = round % 2 ? 1e9 : 0;
        for (std::uint32_t g = 0; g < m; ++g)
            for (std::uint32_t i = 0; i <= dice.below(6); ++i) {
                const double y = round % 3 ? dice.unit() * dice.unit() * 9 : dice.below(4);
                items.push_back({3 * g + 1, Case::make(like.center + y, 0.2 + dice.unit())});
            }
        CategoryTable<Case> table;
        table.assign(items, like);
        const double min_leaf = round % 4 ? 0 : 2.5, tie = 1e-12 * table.totals.spread();
        double best = -kInfinity;
        const auto side = [&](std::uint32_t categories) {
            ValueSums<double> sums;
            sums.clear_like(like);
            for (std::size_t g = 0; g < m; ++g)
                if (categories >> g & 1) sums.add(table.sums.row(g));
            return sums;
        };
        for (std::uint32_t left = 1; left + 1 < (1U << m); ++left) {
            const auto sums = side(left);
            if (sums.total >= min_leaf && table.totals.total - sums.total >= min_leaf)
                best = std::max(best, score_of(VarianceScore{}, sums, table.totals));
        }
        for (const bool prefixes_suffice : {false, true}) {
            const auto found =
                SubsetSearch<Case, VarianceScore>(VarianceScore{}, table, min_leaf, tie).two_sets(prefixes_suffice);
            assert(found.found() == (best > -kInfinity));
            if (!found.found()) continue;
            assert(std::abs(found.score - best) <= 4 * tie);
            const auto left = side(left_of(found));
            assert(std::abs(score_of(VarianceScore{}, left, table.totals) - best) <= 4 * tie);
            assert(left.total >= min_leaf - 1e-9 && table.totals.total - left.total >= min_leaf - 1e-9);
        }
    }
}

}  // namespace

int main() {
    every_subset_of_a_quantity();
    every_subset(EntropyScore<RealLog>{});
    every_subset(GiniScore<>{});
    every_subset(SsvScore{});
    prefixes_of_two_classes(EntropyScore<RealLog>{});
    prefixes_of_two_classes(GiniScore<>{});
    many_categories(GiniScore<>{});
    many_categories(SsvScore{});
    ties_go_to_the_smaller_set();
    one_branch_per_category();
    return passed("subsets");
}
