// Votes of trees of some columns on rows they have not seen: as if there were no other columns and rows.
#include "walk/held_out.hpp"

#include <numeric>

#include "grow/grower.hpp"
#include "tests/tools.hpp"
#include "walk/predict.hpp"

using namespace foresift;
using namespace foresift::tests;

namespace {

const std::function<bool()> kGoOn = [] { return false; };

struct Data {
    std::vector<std::vector<double>> values;  // column by column; codes of categories in the last
    std::vector<std::int32_t> target;
};

Data make_data(std::size_t n, std::size_t p, std::uint64_t seed, double missing) {
    Dice dice(seed);
    Data data;
    for (std::size_t j = 0; j <= p; ++j) {
        std::vector<double> column(n);
        for (auto& v : column) v = dice.unit() < missing ? kNaN : j % 2 || j == p ? dice.below(7) : dice.unit();
        data.values.push_back(column);
    }
    for (std::size_t i = 0; i < n; ++i) data.target.push_back(std::int32_t(dice.below(3)));
    return data;
}

std::vector<Column> columns_of(const Data& data, const std::vector<std::uint32_t>& rows,
                               const std::vector<std::uint32_t>& which) {
    std::vector<Column> columns;
    for (const auto j : which) {
        std::vector<double> some;
        for (const auto row : rows) some.push_back(data.values[j][row]);
        if (j + 1 == data.values.size()) {
            std::vector<std::int32_t> codes;
            for (const double v : some) codes.push_back(std::isnan(v) ? -1 : std::int32_t(v));
            columns.push_back(code_nominal(codes, 7));
        } else {
            columns.push_back(code_numeric<double>(some, kMaxCodes));
        }
    }
    return columns;
}

TreeView view(const Tree& tree) {
    return checked({tree.nodes, tree.counts, tree.set_offsets, tree.set_codes, tree.set_branches, 3});
}

void same_as_without_the_others(Missing rule, double missing, std::uint32_t n_thresholds) {
    const std::size_t n = 150, p = 6;
    const Data data = make_data(n, p, 7 + n_thresholds, missing);
    std::vector<std::uint32_t> every(n), train, test, all(p + 1);
    std::iota(every.begin(), every.end(), 0U);
    std::iota(all.begin(), all.end(), 0U);
    std::vector<double> weights(n, 0.0);
    std::vector<std::int32_t> train_target;
    for (const auto row : every) {
        (row % 3 ? train : test).push_back(row);
        if (row % 3) weights[row] = 1.0, train_target.push_back(data.target[row]);
    }
    const std::vector<std::uint32_t> allowed{0, 1, 4, 6};
    GrowOptions options;
    options.max_features = 2;
    options.split.missing = rule;
    options.split.n_thresholds = n_thresholds;
    options.draw = Draw::bootstrap;
    options.n_draw = static_cast<std::uint32_t>(train.size());
    options.seed = 11;
    const std::vector<std::uint64_t> trees{0, 1, 2, 3, 4};

    const auto whole = columns_of(data, every, all);
    const Grower masked(whole, {data.target, 3}, weights, options);
    std::vector<double> votes(test.size() * 3, 0.0), expected(test.size() * 3, 0.0);
    masked.vote(trees, {allowed, 2}, test, votes, kGoOn);

    const auto few = columns_of(data, train, allowed);
    const Grower plain(few, {train_target, 3}, {}, options);
    const auto grown = plain.grow(trees, ColumnDraw{}, kGoOn);
    std::vector<TreeView> views;
    for (const auto& tree : grown) views.push_back(view(tree));
    std::vector<double> rows;
    for (const auto row : test)
        for (const auto j : allowed) rows.push_back(data.values[j][row]);
    add_probabilities<double>(views, {rows.data(), test.size(), allowed.size()}, true, {}, expected, kGoOn);
    for (std::size_t i = 0; i < votes.size(); ++i) assert(near(votes[i], expected[i], 1e-12));

    // The trees themselves are the same but for the numbers of the columns.
    const auto again = masked.grow(trees, {allowed, 2}, kGoOn);
    for (std::size_t t = 0; t < trees.size(); ++t) {
        assert(again[t].nodes.size() == grown[t].nodes.size() && again[t].counts == grown[t].counts);
        for (std::size_t i = 0; i < grown[t].nodes.size(); ++i) {
            const auto feature = grown[t].nodes[i].feature;
            assert(again[t].nodes[i].feature == (feature < 0 ? -1 : std::int32_t(allowed[std::size_t(feature)])));
            assert(near(again[t].nodes[i].threshold, grown[t].nodes[i].threshold));
        }
    }
}

}  // namespace

int main() {
    for (const std::uint32_t n_thresholds : {0U, 5U})
        for (const double missing : {0.0, 0.15})
            for (const auto rule : {Missing::learn, Missing::fractional})
                same_as_without_the_others(rule, missing, n_thresholds);
    return passed("held_out");
}
