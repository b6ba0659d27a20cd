// Growing trees: by hand, to any depth, in any thread, until told to stop.
#include "grow/grower.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <numeric>
#include <stdexcept>
#include <thread>

#include "tests/tools.hpp"
#include "tests/trees.hpp"

using namespace foresift;
using namespace foresift::tests;

namespace {

void by_hand() {
    const std::vector<double> first{1, 2, 3, 4, 5, 6}, second{5, 5, 1, 1, 5, 5};
    const std::vector<Column> columns{code_numeric<double>(first, kMaxCodes), code_numeric<double>(second, kMaxCodes)};
    const std::vector<std::int32_t> target{0, 0, 1, 1, 1, 0};
    const double gains[][2] = {{0.459147917027245, 0.811278124459133}, {0.25, 0.375}, {11, 6}};
    for (std::size_t k = 0; k < 3; ++k) {
        GrowOptions options;
        options.split.criterion = kCriteria[k];
        options.max_features = 2;
        for (const std::vector<double>& weights : {std::vector<double>{}, std::vector<double>(6, 1.0)}) {
            const Tree tree = grow(Grower(columns, {target, 2}, weights, options));
            assert(tree.nodes.size() == 5);
            const Node &root = tree.nodes[0], &right = tree.nodes[2];
            assert(root.feature == 0 && root.threshold == 2.5 && near(root.gain, gains[k][0]));
            assert(right.feature == 0 && right.threshold == 5.5 && near(right.gain, gains[k][1]));
            assert(tree.nodes[1].first_child == -1 && tree.nodes[1].parent == 0 && tree.nodes[4].parent == 2);
            assert((tree.counts == std::vector<double>{3, 3, 2, 0, 1, 3, 0, 3, 1, 0}));
        }
    }
}

// Every row is somewhere: children add up to their parent, and the leaves to the root.
void check_sizes(const Tree& tree, double n_rows) {
    assert(near(tree.nodes[0].size, n_rows));
    double leaves = 0;
    for (std::size_t i = 0; i < tree.nodes.size(); ++i) {
        const Node& node = tree.nodes[i];
        double counted = 0, below = 0;
        for (std::size_t c = 0; c < 3; ++c) counted += tree.counts[i * 3 + c];
        assert(near(counted, node.size));
        if (node.first_child < 0) leaves += node.size;
        for (int k = 0; k < node.n_children; ++k) {
            const Node& child = tree.nodes[std::size_t(node.first_child + k)];
            assert(child.parent == std::int32_t(i) && child.size > 0);
            below += child.size;
        }
        assert(node.first_child < 0 || near(below, node.size));
    }
    assert(near(leaves, n_rows));
}

void sizes_add_up() {
    const Data data = make_data(500, 4, 1);
    // So wide that nodes which have become small are put aside.
    const Data wide = make_data(1500, 500, 7, 0.002);
    for (const Missing missing : {Missing::learn, Missing::fractional})
        for (const bool multiway : {false, true}) {
            GrowOptions options;
            options.split.missing = missing;
            options.split.multiway = multiway;
            options.max_features = 70;
            options.split.min_leaf = 20;
            check_sizes(grow(Grower(wide.columns, {wide.target, 3}, {}, options)), 1500);
            options.split.min_leaf = 1;
            options.max_features = 2;
            for (const Draw draw : {Draw::all, Draw::bootstrap, Draw::subsample}) {
                options.draw = draw;
                options.n_draw = draw == Draw::bootstrap ? 500 : 300;
                const Tree tree = grow(Grower(data.columns, {data.target, 3}, {}, options), 5);
                check_sizes(tree, draw == Draw::all ? 500 : options.n_draw);
            }
        }
}

// Two of three columns are constant: a node that draws one of them draws again, or is a leaf.
void constant_draws() {
    const std::vector<double> values{1, 2, 3, 4}, constant(4, 7.0), missing(4, kNaN);
    std::vector<Column> columns;
    for (const auto& column : {constant, values, missing}) columns.push_back(code_numeric<double>(column, kMaxCodes));
    const std::vector<std::int32_t> target{0, 0, 1, 1};
    const auto is_varying = [](const Tried& tried) { return tried.feature == 1; };
    for (const bool leaf : {false, true})
        for (const std::uint32_t max_features : {1U, 2U, 3U}) {
            GrowOptions options;
            options.constant_leaf = leaf;
            options.max_features = max_features;
            options.record_tried = true;
            const Grower grower(columns, {target, 2}, {}, options);
            std::size_t n_leaves = 0;
            for (std::uint64_t number = 0; number < 300; ++number) {
                const Tree tree = grow(grower, number);
                const bool split = std::any_of(tree.tried.begin(), tree.tried.end(), is_varying);
                assert(tree.nodes.size() == (split ? 3 : 1));
                assert(leaf ? tree.tried.size() == max_features : split && tree.tried.size() >= max_features);
                n_leaves += !split;
            }
            const double expected = leaf ? 300 * (3.0 - max_features) / 3 : 0;
            assert(std::abs(double(n_leaves) - expected) < 40);
        }
}

void draws() {
    GrowOptions options;
    options.seed = 4;
    const std::vector<std::int32_t> target(60, 0);
    const auto drawn = [&](std::uint64_t tree, std::span<const double> weights = {}) {
        return Grower({}, {target, 2}, weights, options).drawn_rows(tree);
    };
    assert(drawn(0) == std::vector<std::uint32_t>(60, 1));
    options.n_draw = 40;
    std::vector<double> weights(60, 1.0);
    for (std::size_t i = 0; i < 15; ++i) weights[i] = 0;
    for (const Draw draw : {Draw::bootstrap, Draw::subsample}) {
        options.draw = draw;
        std::vector<int> seen(60), heavy(60);
        for (std::uint64_t tree = 0; tree < 300; ++tree) {
            const auto times = drawn(tree), only_heavy = drawn(tree, weights);
            assert(times == drawn(tree));
            assert(std::accumulate(times.begin(), times.end(), 0U) == 40);
            assert(std::accumulate(only_heavy.begin(), only_heavy.end(), 0U) == 40);
            for (std::size_t i = 0; i < 60; ++i) {
                assert(draw == Draw::bootstrap || (times[i] <= 1 && only_heavy[i] <= 1));
                seen[i] += int(times[i]);
                heavy[i] += int(only_heavy[i]);
            }
        }
        for (const int s : seen) assert(s > 140 && s < 260);  // 200 on average
        for (std::size_t i = 0; i < 60; ++i) assert(i < 15 ? heavy[i] == 0 : heavy[i] > 200 && heavy[i] < 335);
    }
}

// A tree always has rows to learn from, however few weigh something.
void rows_without_weight_are_not_there() {
    const Data data = make_data(100, 3, 9);
    std::vector<double> weights(100, 0.0);
    weights[17] = weights[60] = 2;
    for (const Draw draw : {Draw::all, Draw::bootstrap, Draw::subsample})
        for (const std::uint32_t n_draw : {1U, 2U, 50U, 100U}) {
            GrowOptions options;
            options.draw = draw;
            options.n_draw = n_draw;
            const Grower grower(data.columns, {data.target, 3}, weights, options);
            for (std::uint64_t number = 0; number < 50; ++number) {
                const auto times = grower.drawn_rows(number);
                for (std::size_t i = 0; i < 100; ++i) assert(times[i] == 0 || weights[i] > 0);
                const Tree tree = grow(grower, number);
                assert(tree.nodes[0].size > 0);
                assert(near(tree.nodes[0].size, 2.0 * (times[17] + times[60])));
            }
        }
}

// One column per level; a node takes the first that splits it, and no column that is not named.
void oblivious_tree() {
    const std::vector<double> a{0, 0, 0, 0, 1, 1, 1, 1}, b{5, 5, 5, 5, 1, 1, 2, 2}, c{1, 2, 1, 2, 3, 3, 3, 3};
    const std::vector<std::int32_t> target{0, 1, 0, 1, 0, 1, 1, 0};
    std::vector<Column> columns;
    for (const auto& values : {a, b, c, std::vector<double>(target.begin(), target.end())})
        columns.push_back(code_numeric<double>(values, kMaxCodes));
    GrowOptions options;
    options.max_features = 4;
    options.record_tried = true;
    assert(grow(Grower(columns, {target, 2}, {}, options)).nodes[0].feature == 3);
    options.level_columns = {0, 1, 2};
    for (const std::vector<double>& weights : {std::vector<double>{}, std::vector<double>(8, 1.0)}) {
        const Tree tree = grow(Grower(columns, {target, 2}, weights, options));
        assert(tree.nodes.size() == 7);
        const Node& root = tree.nodes[0];
        assert(root.feature == 0 && root.threshold == 0.5 && near(root.gain, 0.0));  // though the last gains 1 bit
        const auto first = std::size_t(root.first_child);
        const Node &left = tree.nodes[first], &right = tree.nodes[first + 1];
        assert(left.feature == 2 && left.threshold == 1.5 && near(left.gain, 1.0));  // the second is constant there
        assert(right.feature == 1 && right.threshold == 1.5 && near(right.gain, 0.0));
        for (std::size_t k = 0; k < 2; ++k) {
            const auto node = std::size_t(right.first_child) + k;
            assert(tree.nodes[node].first_child == -1 && tree.counts[2 * node] == 1 && tree.counts[2 * node + 1] == 1);
            double last = -1;  // what the leaf would gain by the column that is not named
            for (const auto& tried : tree.tried)
                if (tried.node == std::int32_t(node) && tried.feature == 3) last = tried.gain;
            assert(near(last, 1.0));
        }
    }
    options.level_columns = {2, 0};
    const Tree tree = grow(Grower(columns, {target, 2}, {}, options));
    assert(tree.nodes[0].feature == 2);
    for (const Node& node : tree.nodes) assert(node.first_child < 0 || (node.feature == 2) == (node.parent < 0));
    options.level_columns = {9};
    bool refused = false;
    try {
        grow(Grower(columns, {target, 2}, {}, options));
    } catch (const std::out_of_range&) {
        refused = true;
    }
    assert(refused);
}

// On every way down the levels rise, in nodes that were put aside as in others.
void levels_rise() {
    const Data data = make_data(700, 6, 3), wide = make_data(1500, 500, 7, 0.002);
    for (const Data& some : {data, wide})
        for (const Missing missing : {Missing::learn, Missing::fractional}) {
            GrowOptions options;
            options.split.missing = missing;
            options.max_features = std::uint32_t(some.columns.size());
            options.level_columns = {4, 1, 5, 0};
            const Tree tree = grow(Grower(some.columns, {some.target, 3}, {}, options));
            check_sizes(tree, double(some.target.size()));
            const auto level = [&](const Node& node) {
                const auto at = std::find(options.level_columns.begin(), options.level_columns.end(),
                                          std::uint32_t(node.feature));
                return at - options.level_columns.begin();
            };
            std::size_t inner = 0;
            for (const Node& node : tree.nodes) {
                if (node.first_child < 0) continue;
                ++inner;
                assert(level(node) < 4);
                assert(node.parent < 0 ? level(node) == 0 : level(node) > level(tree.nodes[std::size_t(node.parent)]));
            }
            assert(inner > 4);
        }
}

void very_deep() {
    // Classes alternate along the only column, so every split peels one row off an end.
    constexpr std::size_t kRows = 6000;
    std::vector<float> values(kRows);
    std::vector<std::int32_t> target(kRows);
    for (std::size_t i = 0; i < kRows; ++i) {
        values[i] = float(i);
        target[i] = std::int32_t(i % 2);
    }
    const std::vector<Column> columns{code_numeric<float>(values, kMaxCodes)};
    const Tree tree = grow(Grower(columns, {target, 2}, {}, {}));
    assert(tree.nodes.size() == 2 * kRows - 1);
    std::vector<int> depth(tree.nodes.size());
    for (std::size_t i = 1; i < depth.size(); ++i) depth[i] = depth[std::size_t(tree.nodes[i].parent)] + 1;
    assert(*std::max_element(depth.begin(), depth.end()) > int(kRows) / 2);
}

void any_thread_grows_the_same_trees() {
    const Data data = make_data(400, 5, 2);
    GrowOptions options;
    options.draw = Draw::bootstrap;
    options.n_draw = 400;
    options.max_features = 2;
    options.seed = 11;
    const Grower grower(data.columns, {data.target, 3}, {}, options);
    constexpr std::size_t kTrees = 24;
    std::vector<Tree> alone, together(kTrees);
    for (std::uint64_t t = 0; t < kTrees; ++t) alone.push_back(grow(grower, t));
    std::vector<std::thread> threads;
    for (std::size_t k = 0; k < 4; ++k)
        threads.emplace_back([&, k] {
            for (std::size_t t = k; t < kTrees; t += 4) together[t] = grow(grower, t);
        });
    for (auto& thread : threads) thread.join();
    for (std::size_t t = 0; t < kTrees; ++t) assert(equal(alone[t], together[t]));
    // Several in one call share their buffers and nothing else.
    const std::uint64_t numbers[] = {7, 0, 23, 7};
    const auto some = grower.grow(numbers, {}, kGoOn);
    for (std::size_t i = 0; i < 4; ++i) assert(equal(some[i], alone[numbers[i]]));
    assert(!equal(alone[0], alone[1]));
}

void stops_when_told() {
    const Data data = make_data(20000, 10, 3, 0);
    GrowOptions options;
    options.max_features = 11;
    const Grower grower(data.columns, {data.target, 3}, {}, options);
    const std::uint64_t numbers[] = {0, 1};
    int asked = 0;
    bool stopped = false;
    try {
        grower.grow(numbers, {}, [&] { return ++asked == 3; });
    } catch (const Interrupted&) {
        stopped = true;
    }
    assert(stopped && asked == 3);
}

void limits() {
    const Data data = make_data(600, 4, 4);
    for (const double least : {1.0, 10.0, 60.0})
        for (const int depth : {-1, 0, 1, 4}) {
            GrowOptions options;
            options.max_features = 5;
            options.max_depth = depth;
            options.split.min_leaf = least;
            options.min_split = 3 * least;
            const Tree tree = grow(Grower(data.columns, {data.target, 3}, {}, options));
            std::vector<int> depths(tree.nodes.size());
            for (std::size_t i = 0; i < tree.nodes.size(); ++i) {
                const Node& node = tree.nodes[i];
                if (i > 0) depths[i] = depths[std::size_t(node.parent)] + 1;
                assert(node.size >= least && (depth < 0 || depths[i] <= depth));
                assert(node.first_child < 0 || node.size >= 3 * least);
            }
            assert(depth != 0 || tree.nodes.size() == 1);
        }
}

// Whole weights too large for 16 bits, and tables too large to be worth it, are grown as real ones.
void heavy_rows() {
    const Data data = make_data(300, 3, 5);
    Dice dice(6);
    std::vector<double> weights(300);
    for (auto& w : weights) w = 1 + dice.below(5);
    GrowOptions options;
    options.max_features = 4;
    options.split.criterion = Criterion::gini;
    const Tree light = grow(Grower(data.columns, {data.target, 3}, weights, options));
    for (const double factor : {1000.0, 20000.0, 1e6, 1e9}) {
        std::vector<double> heavy(weights);
        for (auto& w : heavy) w *= factor;
        const Tree tree = grow(Grower(data.columns, {data.target, 3}, heavy, options));
        assert(tree.nodes.size() == light.nodes.size());
        for (std::size_t i = 0; i < tree.nodes.size(); ++i) {
            assert(tree.nodes[i].feature == light.nodes[i].feature);
            assert(near(tree.nodes[i].size, light.nodes[i].size * factor));
        }
    }
}

void nothing_to_learn_from() {
    const std::vector<Column> columns{code_numeric<double>(std::vector<double>{1, 1, 1}, kMaxCodes),
                                      code_numeric<double>(std::vector<double>{kNaN, kNaN, kNaN}, kMaxCodes),
                                      code_nominal(std::vector<std::int32_t>{-1, -1, -1}, 0)};
    const std::vector<std::int32_t> target{0, 1, 0};
    for (const Missing missing : {Missing::learn, Missing::fractional}) {
        GrowOptions options;
        options.max_features = 3;
        options.split.missing = missing;
        options.record_tried = true;
        const Tree tree = grow(Grower(columns, {target, 2}, {}, options));
        assert(tree.nodes.size() == 1 && tree.nodes[0].first_child == -1);
        assert(tree.tried.size() == 3);
        for (const Tried& t : tree.tried) assert(t.node == 0 && t.gain == 0);
    }
}

// At the root a shadow gains what a column with its values moved would gain; trees are the same without shadows.
void shadows() {
    const auto data = make_data(120, 4, 11);
    GrowOptions options;
    options.record_tried = true;
    options.max_features = 5;
    options.seed = 3;
    const Tree plain = grow(Grower(data.columns, {data.target, 3}, {}, options));
    options.n_shadows = 3;
    const Grower grower(data.columns, {data.target, 3}, {}, options);
    const Tree tree = grow(grower);
    assert(equal(plain, tree) && tree.permuted.size() == 3 * tree.tried.size());
    const auto rows = grower.shadow_rows(2);
    auto moved = data.columns;
    for (auto& column : moved)
        for (std::size_t i = 0; i < rows.size(); ++i) {
            const auto& from = data.columns[static_cast<std::size_t>(&column - moved.data())];
            if (!from.narrow.empty()) column.narrow[i] = from.narrow[rows[i]];
            if (!from.wide.empty()) column.wide[i] = from.wide[rows[i]];
        }
    options.n_shadows = 0;
    const Tree other = grow(Grower(moved, {data.target, 3}, {}, options));
    for (std::size_t k = 0; k < 5; ++k)
        assert(tree.tried[k].node == 0 && tree.permuted[3 * k + 2] == other.tried[k].gain);
    options.n_shadows = 1;
    options.shadow_rows = rows;
    const Grower given(data.columns, {data.target, 3}, {}, options);
    assert(given.shadow_rows(0) == rows && given.shadow_ratios(0).empty());
    const Tree same = grow(given);
    for (std::size_t k = 0; k < 5; ++k) assert(same.permuted[k] == other.tried[k].gain);
}

// With weights that vary within classes, values bring them along: at the root, as if the table were so weighted.
void weighted_shadows() {
    const auto data = make_data(120, 4, 13);
    std::vector<double> weights(120);
    for (std::size_t i = 0; i < weights.size(); ++i) weights[i] = double(1 + i % 3);
    GrowOptions options;
    options.record_tried = true;
    options.max_features = 5;
    options.n_shadows = 2;
    const Grower grower(data.columns, {data.target, 3}, weights, options);
    const Tree tree = grow(grower);
    const auto rows = grower.shadow_rows(1);
    const auto ratios = grower.shadow_ratios(1);
    assert(ratios.size() == weights.size());
    auto moved = data.columns;
    for (std::size_t j = 0; j < moved.size(); ++j)
        for (std::size_t i = 0; i < rows.size(); ++i) {
            if (!moved[j].narrow.empty()) moved[j].narrow[i] = data.columns[j].narrow[rows[i]];
            if (!moved[j].wide.empty()) moved[j].wide[i] = data.columns[j].wide[rows[i]];
        }
    std::vector<double> brought(weights);
    for (std::size_t i = 0; i < rows.size(); ++i) {
        brought[i] = std::round(weights[i] * ratios[i]);
        if (data.target[i] == data.target[rows[i]]) assert(brought[i] == weights[rows[i]]);
    }
    options.n_shadows = 0;
    const Tree other = grow(Grower(moved, {data.target, 3}, brought, options));
    for (std::size_t k = 0; k < 5; ++k)
        assert(tree.tried[k].node == 0 && tree.permuted[2 * k + 1] == other.tried[k].gain);
    const std::vector<double> of_classes = {0.5, 2, 3};
    for (std::size_t i = 0; i < weights.size(); ++i) weights[i] = of_classes[data.target[i]];
    assert(Grower(data.columns, {data.target, 3}, weights, options).shadow_ratios(0).empty());
}

// Of a quantity the variance at every node with trials, in its own unit, which a gain is a share of.
void variances() {
    const std::vector<Column> columns{code_numeric<double>(std::vector<double>{1, 2, 3, 4}, kMaxCodes)};
    for (const double unit : {1.0, 0x1p-460, 0x1p460}) {
        const std::vector<double> target{0, unit, 7 * unit, 8 * unit};
        GrowOptions options;
        options.split.criterion = Criterion::variance;
        assert(grow(Grower(columns, Response(target), {}, options)).variance.empty());
        options.record_tried = true;
        const Tree tree = grow(Grower(columns, Response(target), {}, options));
        assert(tree.variance.size() == 7 && tree.tried.size() == 3);
        assert(tree.variance[0] == 12.5 * unit * unit && tree.tried[0].gain == 12.25 * unit * unit);
        for (const Tried& t : tree.tried)
            if (t.node > 0) assert(t.gain == 0.25 * unit * unit && tree.variance[t.node] == t.gain);
    }
}

void draws_by_order() {
    const auto data = make_data(120, 4, 12);
    GrowOptions options;
    options.record_tried = true;
    options.max_features = 2;
    const Tree plain = grow(Grower(data.columns, {data.target, 3}, {}, options));
    options.column_order = {4, 3, 2, 1, 0};
    std::vector<Column> reversed(data.columns.rbegin(), data.columns.rend());
    const Tree tree = grow(Grower(reversed, {data.target, 3}, {}, options));
    assert(plain.tried.size() == tree.tried.size());
    for (std::size_t k = 0; k < plain.tried.size(); ++k)
        assert(plain.tried[k].feature == 4 - tree.tried[k].feature && plain.tried[k].gain == tree.tried[k].gain);
}

}  // namespace

int main() {
    by_hand();
    shadows();
    weighted_shadows();
    variances();
    draws_by_order();
    sizes_add_up();
    constant_draws();
    draws();
    rows_without_weight_are_not_there();
    oblivious_tree();
    levels_rise();
    very_deep();
    any_thread_grows_the_same_trees();
    stops_when_told();
    limits();
    heavy_rows();
    nothing_to_learn_from();
    return passed("tree");
}
