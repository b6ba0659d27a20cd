// Groups of categories by gain ratio: by hand, and merged step by step by a slow double that counts everything anew.
#include "split/category_groups.hpp"

#include <algorithm>
#include <numeric>

#include "split/splitter.hpp"
#include "tests/tools.hpp"

using namespace foresift;
using namespace foresift::tests;

namespace {

using Groups = std::vector<std::uint16_t>;

Groups grouped(std::vector<double> counts, std::size_t n_classes, double missing = 0, double min_leaf = 2) {
    return group_categories(counts, n_classes, missing, min_leaf);
}

void by_hand() {
    assert((grouped({4, 0, 0, 4, 3, 0, 0, 5}, 2) == Groups{0, 1, 0, 1}));
    assert((grouped({2, 0, 0, 0, 2, 0, 0, 0, 2}, 3) == Groups{0, 1, 2}));   // no better: ratio 1 either way
    assert((grouped({2, 2, 3, 1, 2, 2, 2, 2}, 2) == Groups{0, 1, 0, 0}));   // two groups are always left
    assert((grouped({1, 0, 0, 1, 1, 0, 0, 1}, 2) == Groups{0, 1, 0, 1}));   // merged until two are large enough
    assert((grouped({6, 1, 6, 1, 0, 1}, 2) == Groups{0, 1, 2}));            // the two large ones stay apart
    assert((grouped({6, 1, 6, 1, 0, 1}, 2, 0, 1) == Groups{0, 0, 1}));
    assert((grouped({3, 1}, 2) == Groups{0}));
    assert((grouped({3, 1, 1, 3}, 2, 100) == Groups{0, 1}));
}

// Gain ratio of the groups, and how many weigh enough.
std::pair<double, int> judged(const std::vector<double>& counts, std::size_t n_classes, const Groups& groups,
                              double missing, double min_leaf) {
    const std::size_t n_groups = std::size_t{1} + *std::max_element(groups.begin(), groups.end());
    std::vector<double> sums(n_groups * n_classes);
    for (std::size_t i = 0; i < counts.size(); ++i) sums[groups[i / n_classes] * n_classes + i % n_classes] += counts[i];
    double known = 0, information = 0;
    int n_large = 0;
    for (std::size_t g = 0; g < n_groups; ++g) {
        const double size = std::accumulate(&sums[g * n_classes], &sums[g * n_classes] + n_classes, 0.0);
        known += size;
        information -= xlog2x(size);
        n_large += size >= min_leaf;
    }
    const double n = known + missing;
    information = (information + xlog2x(n) - xlog2x(missing)) / n;
    const double gain = std::max(0.0, branch_gain(Criterion::entropy, sums, n_classes)) * known / n;
    return {gain / information, n_large};
}

Groups merged(Groups groups, std::size_t i, std::size_t j) {
    for (auto& group : groups) {
        if (group == j) group = std::uint16_t(i);
        if (group > j) --group;
    }
    return groups;
}

void against_the_slow_double() {
    Dice dice(5);
    for (int round = 0; round < 400; ++round) {
        const std::size_t n_classes = 2 + dice.below(3), k = 2 + dice.below(9);
        const double missing = dice.below(3) ? 0.0 : 1.5 * dice.below(20), min_leaf = 1 + dice.below(6);
        std::vector<double> counts(k * n_classes);
        for (auto& x : counts) x = dice.below(4) * (dice.below(2) ? 1.0 : 0.5);
        for (std::size_t g = 0; g < k; ++g) counts[g * n_classes + dice.below(2)] += 1;
        Groups groups(k);
        std::iota(groups.begin(), groups.end(), std::uint16_t{0});
        for (std::size_t n = k; n > 2; --n) {
            const auto [ratio, n_large] = judged(counts, n_classes, groups, missing, min_leaf);
            double best = n_large < 2 ? -1 : ratio;
            Groups chosen;
            for (std::size_t i = 0; i < n; ++i)
                for (std::size_t j = i + 1; j < n; ++j) {
                    const Groups some = merged(groups, i, j);
                    const auto [value, n_left] = judged(counts, n_classes, some, missing, min_leaf);
                    if (value <= best + kNear || (n_left < 2 && n_large > 1)) continue;
                    best = value;
                    chosen = some;
                }
            if (chosen.empty()) break;
            groups = chosen;
        }
        assert(group_categories(counts, n_classes, missing, min_leaf) == groups);
    }
}

void the_most_categories() {
    Dice dice(6);
    std::vector<double> counts(3 * kMostGrouped);
    for (auto& x : counts) x = 1 + dice.below(5);
    const auto groups = group_categories(counts, 3, 0, 2);
    assert(groups.size() == kMostGrouped && groups[0] == 0);
    assert(*std::max_element(groups.begin(), groups.end()) < 10);
}

// A cut lies only where neighbouring values of the node are more than min_gap apart.
void gaps() {
    const std::vector<double> values{0, 1, 2, 5, 6, 9};
    const std::vector<std::int32_t> target{0, 1, 1, 1, 1, 1};
    const Column column = code_numeric<double>(values, kMaxCodes);
    const std::vector<double> all(6, 1.0), without_one{1, 0, 1, 1, 1, 1};
    const auto cut = [&](double min_gap, const std::vector<double>& weights) {
        SplitOptions options;
        options.min_gap = min_gap;
        const Split split = split_column(column, {target, 2}, weights, options);
        return split.found() ? int(split.cut) : -1;
    };
    assert(cut(0, all) == 0);
    assert(cut(1, all) == 2);          // 0, 1 and 2 stay together
    assert(cut(1, without_one) == 0);  // 0 and 2 do not
    assert(cut(2.5, all) == 2);
    assert(cut(3, all) == -1);
}

}  // namespace

int main() {
    by_hand();
    against_the_slow_double();
    the_most_categories();
    gaps();
    return passed("category groups");
}
