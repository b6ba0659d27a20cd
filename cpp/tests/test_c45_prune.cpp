// C4.5: its rules for splits, its estimate of errors, collapsing, pruning and raising of subtrees.
#include "c45/prune.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <functional>
#include <numeric>

#include "grow/grower.hpp"
#include "tests/tools.hpp"

using namespace foresift;
using namespace foresift::tests;

namespace {

const std::function<bool()> kGoOn = [] { return false; };

struct Data {
    std::vector<Column> columns;
    std::vector<std::int32_t> target;
    std::uint32_t n_classes = 2;
    std::vector<double> weights = {};
};

GrowOptions c45() {
    GrowOptions options;
    options.split.criterion = Criterion::gain_ratio;
    options.split.missing = Missing::fractional;
    options.split.multiway = true;
    options.split.c45 = true;
    options.split.cut_penalty = true;
    options.split.min_leaf = 2;
    options.min_split = 4 - kNear;
    options.min_gain = kNear;
    options.max_features = 1000;
    options.finish.wanted = true;
    return options;
}

Tree grow(const Data& data, const GrowOptions& options) {
    const std::uint64_t numbers[] = {0};
    const Grower grower(data.columns, {data.target, data.n_classes}, data.weights, options);
    return std::move(grower.grow(numbers, {}, kGoOn)[0]);
}

Column numbers(std::size_t n, const std::function<double(std::size_t)>& value) {
    std::vector<double> values(n);
    for (std::size_t i = 0; i < n; ++i) values[i] = value(i);
    return code_numeric<double>(values, kMaxCodes);
}

Column categories(std::size_t n, std::uint32_t n_categories, const std::function<int(std::size_t)>& code) {
    std::vector<std::int32_t> codes(n);
    for (std::size_t i = 0; i < n; ++i) codes[i] = code(i);
    return code_nominal(codes, n_categories);
}

std::vector<std::int32_t> classes(std::size_t n, const std::function<int(std::size_t)>& cls) {
    std::vector<std::int32_t> target(n);
    for (std::size_t i = 0; i < n; ++i) target[i] = cls(i);
    return target;
}

// weka.classifiers.trees.j48.Stats.addErrs(n, e, CF) of Weka 3.9.7, which takes CF in single precision.
void errors_are_those_of_weka() {
    const struct {
        double n, errors, confidence, added;
    } cases[] = {
        {6, 0, 0.25, 1.2377968440954012},    {9, 0, 0.25, 1.284804154322345},     {1, 0, 0.25, 0.75},
        {16, 1, 0.25, 1.4757146318372634},   {14, 2, 0.25, 1.6033442780967015},   {100, 10, 0.25, 2.7496114511898675},
        {2.5, 0.4, 0.25, 1.0159196748160293}, {0.3, 0, 0.25, 0.29704706003930886}, {3, 2.6, 0.25, 0.4},
        {5, 1.5, 0.25, 1.2503129852652624},  {50, 25, 0.25, 2.8689271816195365},  {7, 0.999, 0.25, 1.3419314564987561},
        {1.2, 1.1, 0.25, 0.1},               {1000, 3, 0.25, 2.0052092442092766}, {16, 1, 0.1, 2.651359064163457},
        {100, 10, 0.1, 5.086949748377521},   {2.5, 0.4, 0.1, 1.3742015536965388}, {50, 25, 0.1, 4.941572756187874},
        {16, 1, 0.5, 0.5},                   {9, 0, 0.5, 0.6671275894143859},     {7, 0.999, 0.5, 0.5001599343501526},
        {1000, 3, 0.01, 8.263340915707266},  {7, 0.999, 0.01, 3.4594695428180735},
    };
    for (const auto& c : cases)
        assert(near(added_errors(c.n, c.errors, c.confidence, normal_deviate(c.confidence)), c.added, 1e-6));
    assert(near(normal_deviate(0.25), 0.674489750196082) && near(normal_deviate(0.5), 0));
    assert(near(normal_deviate(1e-10), 6.361340902404056));
}

// A numeric cut must leave a tenth of the rows per class on either side: of 100 rows and two classes, five.
void sides_of_numeric_cuts() {
    for (const std::size_t first : {4, 5, 6}) {
        Data data{{numbers(100, [](std::size_t i) { return double(i); })}, classes(100, [&](std::size_t i) { return i < first; })};
        const Tree tree = grow(data, c45());
        assert(tree.nodes.size() == 3 && tree.counts[3] == double(first));
        assert(tree.nodes[0].threshold == (first == 6 ? 5.5 : 4.5));
    }
    // Never more than 25: of 2000 rows.
    Data data{{numbers(2000, [](std::size_t i) { return double(i); })}, classes(2000, [](std::size_t i) { return i < 20; })};
    assert(grow(data, c45()).nodes[0].threshold == 24.5);
}

// Eight rows, one cut without error: the gain is 1 bit, less log2(5 cuts) / 8 (a side has at least two rows), and so
// a nominal column that does as well is preferred.
void penalty() {
    Data data{{numbers(8, [](std::size_t i) { return double(i); }), categories(8, 2, [](std::size_t i) { return i >= 4; })},
              classes(8, [](std::size_t i) { return i >= 4; })};
    auto options = c45();
    options.record_tried = true;
    options.finish.wanted = false;
    options.max_depth = 1;
    const Tree with = grow(data, options);
    assert(near(with.tried[0].gain, 1 - std::log2(5.0) / 8) && with.nodes[0].feature == 1);
    options.split.cut_penalty = false;
    assert(near(grow(data, options).tried[0].gain, 1) && grow(data, options).nodes[0].feature == 0);
    // A finished tree reports the plain gain of its splits.
    data.columns.pop_back();
    assert(near(grow(data, c45()).nodes[0].gain, 1));
    // Rows in an order that tells nothing: the penalty takes all gain, and nothing is split.
    Dice dice(1);
    Data noise{{numbers(60, [&](std::size_t) { return dice.unit(); })}, classes(60, [&](std::size_t) { return int(dice.below(2)); })};
    assert(grow(noise, c45()).nodes.size() == 1);
}

// A column with as many categories as rows has all the gain; the average without it lets the others be chosen.
void many_categories() {
    const std::size_t n = 40;
    Data data{{categories(n, 20, [](std::size_t i) { return int(i / 2); }),
               categories(n, 2, [](std::size_t i) { return i % 10 == 0 ? i < 20 : i >= 20; }),
               categories(n, 2, [](std::size_t i) { return i % 3 == 0; })},
              classes(n, [](std::size_t i) { return i >= 20; })};
    auto options = c45();
    options.max_depth = 1;
    assert(grow(data, options).nodes[0].feature == 1);
    // If all columns are like that, they make up the average again.
    Data only{{data.columns[0]}, data.target};
    assert(grow(only, options).nodes.size() == 21);
}

// An empty branch is a leaf that answers like its parent; rows of weight 0 make no branch.
void every_category_has_a_branch() {
    const std::size_t n = 16;
    Data data{{categories(n, 2, [](std::size_t i) { return i >= 8; }),
               categories(n, 4, [](std::size_t i) { return i < 8 ? 3 : i < 13 ? 0 : 2; }),
               categories(n, 2, [](std::size_t i) { return int(i % 2); })},
              classes(n, [](std::size_t i) { return i < 8 || i == 12 || i > 13; })};
    auto options = c45();
    options.finish.collapse = false;
    Tree tree = grow(data, options);
    const auto inner = std::find_if(tree.nodes.begin(), tree.nodes.end(), [](const Node& node) { return node.feature == 1; });
    assert(inner != tree.nodes.end() && inner->n_children == 3);  // category 1 does not occur at all
    assert(inner->missing_branch == -1);
    const auto at = std::size_t(inner - tree.nodes.begin());
    assert(at == 2 && tree.nodes[0].feature == 0);
    std::size_t n_empty = 0;
    for (std::int32_t child = inner->first_child; child < inner->first_child + 3; ++child) {
        if (tree.nodes[child].size > kNoWeight) continue;
        ++n_empty;
        for (std::size_t c = 0; c < 2; ++c)
            assert(near(tree.counts[std::size_t(child) * 2 + c] / kNoWeight, tree.counts[at * 2 + c] / tree.nodes[at].size));
    }
    assert(n_empty == 1);
    // Without the rows of a category there is no branch for it.
    data.weights.assign(n, 1.0);
    for (std::size_t i = 13; i < n; ++i) data.weights[i] = 0;
    tree = grow(data, options);
    for (const auto& node : tree.nodes) assert(node.feature != 1 || node.n_children == 2);
}

// The root's small branch is no gain; its large branch, with all rows, is as good as the whole tree.
void raising() {
    const std::size_t n = 120;
    const auto cls = [](std::size_t i) { return i % 2 == 1; };
    // Column 1 tells the classes apart; column 0 does so for six rows only, but is grown first by force.
    Data data{{categories(n, 2, [](std::size_t i) { return i < 6; }), categories(n, 2, [](std::size_t i) { return int(i % 2); })},
              classes(n, cls)};
    Tree grown;
    grown.nodes.resize(5);
    for (const std::int32_t at : {0, 1}) {
        Node& node = grown.nodes[at];
        node.first_child = at == 0 ? 1 : 3;
        node.feature = at;
        node.category_set = at;
        node.n_children = 2;
    }
    grown.set_codes = {0, 1, 0, 1};
    grown.set_branches = {0, 1, 0, 1};
    grown.set_offsets = {0, 2, 4};
    const std::vector<std::uint32_t> times(n, 1);
    const TrainingRows rows{data.columns, data.target, 2, times, {}};
    FinishOptions options;
    options.wanted = true;
    const auto leaves = [&](bool raise, double confidence) {
        options.raise = raise;
        options.confidence = confidence;
        const Tree tree = finish_c45(rows, grown, false, options, kGoOn);
        assert(tree.nodes[0].size == double(n) && tree.counts[0] == 60);
        return std::pair(tree.nodes[0].feature, tree.nodes.size());
    };
    assert(leaves(true, 0) == std::pair(0, std::size_t{5}));
    assert(leaves(false, 0.25) == std::pair(0, std::size_t{5}));
    assert(leaves(true, 0.25) == std::pair(1, std::size_t{3}));
}

// Groups of categories stay groups, and a category that a node has not seen is in the largest one.
void groups_keep_their_branches() {
    const std::size_t n = 90;
    // Column 0 parts the classes 2 and 0/1; below, categories 0 and 3 of column 1 are class 0, 1 and 4 class 1, and
    // category 2 occurs on the other side only.
    const auto code = [](std::size_t i) { return i < 60 ? std::array{0, 1, 3, 4, 1, 0}[i % 6] : int(i % 5); };
    Data data{{categories(n, 2, [](std::size_t i) { return i >= 60; }), categories(n, 5, code)},
              classes(n, [&](std::size_t i) { return i >= 60 ? 2 : code(i) % 3 == 1; }), 3};
    auto options = c45();
    options.split.group_categories = true;
    const Tree tree = grow(data, options);
    assert(tree.nodes.size() == 5 && tree.nodes[0].feature == 0 && tree.nodes[1].feature == 1);
    const Node& below = tree.nodes[1];
    assert(below.n_children == 2 && below.size == 60);
    const auto begin = tree.set_offsets[below.category_set];
    assert(tree.set_offsets[below.category_set + 1] - begin == 5);
    for (std::int32_t k = 0; k < 5; ++k) assert(tree.set_codes[begin + k] == k);
    const auto* branch = &tree.set_branches[begin];
    assert(branch[0] == 0 && branch[3] == 0 && branch[1] == 1 && branch[4] == 1 && branch[2] == below.majority_branch);
}

// Two branches that err as often as one leaf are none; pruning asks for more than that.
void collapsing() {
    const std::size_t n = 30;
    Data data{{categories(n, 2, [](std::size_t i) { return i >= 10; })}, classes(n, [](std::size_t i) { return i == 0 || i == 1 || i == 15; })};
    auto options = c45();
    options.finish.collapse = false;
    assert(grow(data, options).nodes.size() == 3);
    options.finish.collapse = true;
    assert(grow(data, options).nodes.size() == 1);
    // Two errors saved of three, by two leaves: kept when training errors count, gone with confidence 0.01.
    Data better{{categories(n, 2, [](std::size_t i) { return i >= 3; })}, classes(n, [](std::size_t i) { return i == 0 || i == 1 || i == 15; })};
    assert(grow(better, options).nodes.size() == 3);
    options.finish.confidence = 0.01;
    assert(grow(better, options).nodes.size() == 1);
}

void thresholds() {
    // Values 0, 10, 20 ... at the node; 14 lies between 10 and 20, though in another row of the tree.
    Data data{{numbers(41, [](std::size_t i) { return i == 40 ? 194.0 : 10.0 * double(i); })},
              classes(41, [](std::size_t i) { return i >= 20 && i < 40; })};
    auto options = c45();
    assert(grow(data, options).nodes[0].threshold == 197);
    options.finish.value_thresholds = true;
    assert(grow(data, options).nodes[0].threshold == 194);
    data.weights.assign(41, 1.0);
    data.weights[40] = 0;
    assert(grow(data, options).nodes[0].threshold == 190);
}

// Counts add up, at every node and with any kind of data; weights are copies.
void random_trees() {
    for (std::uint64_t seed = 0; seed < 40; ++seed) {
        Dice dice(seed);
        const std::size_t n = 20 + dice.below(200);
        const double missing = seed % 3 == 0 ? 0.2 : 0.0;
        Data data;
        data.columns.push_back(numbers(n, [&](std::size_t) { return dice.unit() < missing ? kNaN : dice.below(20); }));
        data.columns.push_back(numbers(n, [&](std::size_t) { return dice.unit(); }));
        for (int j = 0; j < 3; ++j)
            data.columns.push_back(categories(n, 5, [&](std::size_t) { return dice.unit() < missing ? -1 : int(dice.below(5)); }));
        data.n_classes = 3;
        data.target = classes(n, [&](std::size_t) { return int(dice.below(3)); });
        auto options = c45();
        options.finish.confidence = seed % 2 ? 0.25 : 0.0;
        options.finish.collapse = seed % 4 < 2;
        options.split.cut_penalty = false;
        options.split.group_categories = seed % 5 < 2;
        options.split.min_gap = seed % 7 == 0 ? 1.0 : 0.0;
        const Tree tree = grow(data, options);
        for (std::size_t i = 0; i < tree.nodes.size(); ++i) {
            const Node& node = tree.nodes[i];
            assert(near(node.size, tree.counts[3 * i] + tree.counts[3 * i + 1] + tree.counts[3 * i + 2]));
            assert(node.size > 0 && node.gain >= 0);
            double below = 0;
            for (std::int32_t b = 0; b < node.n_children; ++b) {
                below += tree.nodes[node.first_child + b].size;
                assert(tree.nodes[node.first_child + b].parent == std::int32_t(i));
            }
            assert(node.n_children == 0 || near(below, node.size));
        }
        data.weights.assign(n, 2.0);
        const Tree twice = grow(data, options);
        Data copies = data;
        copies.weights.clear();
        for (auto& column : copies.columns) {
            column.narrow.insert(column.narrow.end(), column.narrow.begin(), column.narrow.begin() + std::ptrdiff_t(n));
            column.wide.insert(column.wide.end(), column.wide.begin(), column.wide.begin() + std::ptrdiff_t(column.wide.empty() ? 0 : n));
        }
        copies.target.insert(copies.target.end(), data.target.begin(), data.target.end());
        const Tree doubled = grow(copies, options);
        assert(twice.nodes.size() == doubled.nodes.size());
        for (std::size_t i = 0; i < twice.counts.size(); ++i) assert(near(twice.counts[i], doubled.counts[i]));
    }
}

void stops() {
    Dice dice(3);
    Data data{{numbers(400000, [&](std::size_t) { return dice.unit(); })}, classes(400000, [&](std::size_t) { return int(dice.below(2)); })};
    auto options = c45();
    options.split.cut_penalty = false;
    options.finish.wanted = false;
    options.max_depth = 12;
    const Tree grown = grow(data, options);
    const std::vector<std::uint32_t> times(data.target.size(), 1);
    bool interrupted = false;
    try {
        finish_c45({data.columns, data.target, 2, times, {}}, grown, false, {true, true, 0.25, true, false}, [] { return true; });
    } catch (const Interrupted&) {
        interrupted = true;
    }
    assert(interrupted);
}

}  // namespace

int main() {
    errors_are_those_of_weka();
    sides_of_numeric_cuts();
    penalty();
    many_categories();
    every_category_has_a_branch();
    raising();
    groups_keep_their_branches();
    collapsing();
    thresholds();
    random_trees();
    stops();
    return passed("c45_prune");
}
