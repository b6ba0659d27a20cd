// Sending rows down trees: by hand, and the fast walk against the plain one.
#include "walk/predict.hpp"

#include "grow/grower.hpp"
#include "tests/tools.hpp"

using namespace foresift;
using namespace foresift::tests;

namespace {

const std::function<bool()> kGoOn = [] { return false; };

TreeView view(const Tree& tree, std::size_t n_classes) {
    return checked({tree.nodes, tree.counts, tree.set_offsets, tree.set_codes, tree.set_branches, n_classes});
}

// Root: x0 <= 0.5, missing as fractions. Right: three branches by category of x1, missing to the second.
Tree hand_made() {
    Tree tree;
    tree.nodes.resize(6);
    const auto inner = [&](std::size_t i, int first, int feature, int set, int n, int missing, int majority) {
        Node& node = tree.nodes[i];
        node.first_child = first;
        node.feature = feature;
        node.category_set = set;
        node.n_children = static_cast<decltype(node.n_children)>(n);
        node.missing_branch = static_cast<decltype(node.missing_branch)>(missing);
        node.majority_branch = static_cast<decltype(node.majority_branch)>(majority);
        for (int k = 0; k < n; ++k) tree.nodes[static_cast<std::size_t>(first + k)].parent = static_cast<std::int32_t>(i);
    };
    inner(0, 1, 0, -1, 2, -1, 1);
    inner(2, 3, 1, 0, 3, 1, 2);
    tree.nodes[0].threshold = 0.5;
    tree.counts = {4, 4, 2, 0, 2, 4, 1, 0, 1, 1, 0, 3};
    for (std::size_t i = 0; i < 6; ++i) tree.nodes[i].size = tree.counts[2 * i] + tree.counts[2 * i + 1];
    tree.set_offsets = {0, 3};
    tree.set_codes = {4, 7, 9};
    tree.set_branches = {0, 1, 2};
    return tree;
}

template <class Real>
void by_hand() {
    const Tree tree = hand_made();
    const Real nan = std::numeric_limits<Real>::quiet_NaN();
    const std::vector<Real> x{Real(0.5), 4, 1, 4, 1, nan, 1, -1, 1, 5, nan, 4, 1, 70000, nan, 9};
    const Matrix<Real> matrix{x.data(), 8, 2};
    assert(any_missing(matrix));
    assert(!any_missing(Matrix<Real>{x.data(), 2, 2}));
    std::vector<std::int32_t> leaves(8);
    find_leaves(view(tree, 2), matrix, true, {}, leaves);
    assert((leaves == std::vector<std::int32_t>{1, 3, 4, 5, 5, 3, 5, 5}));

    std::vector<double> shares(16, 0.0);
    const TreeView trees[] = {view(tree, 2), view(tree, 2)};
    add_probabilities<Real>(trees, matrix, true, {}, shares, kGoOn);
    const double expected[] = {1, 0, 1, 0, .5, .5, 0, 1, 0, 1, 1, 0, 0, 1, .25, .75};
    for (std::size_t i = 0; i < 16; ++i) assert(near(shares[i], 2 * expected[i]));

    std::fill(shares.begin(), shares.end(), 0.0);
    const std::uint32_t rows[] = {7, 2};
    add_probabilities<Real>(std::span(trees).first(1), matrix, true, rows, shares, kGoOn);
    for (std::size_t i = 0; i < 16; ++i) assert(near(shares[i], i / 2 == 7 || i / 2 == 2 ? expected[i] : 0));
    leaves.resize(2);
    find_leaves(view(tree, 2), matrix, true, rows, leaves);
    assert((leaves == std::vector<std::int32_t>{5, 4}));
}

std::int32_t plain_walk(const Tree& tree, const double* row) {
    std::int32_t at = 0;
    while (tree.nodes[std::size_t(at)].first_child >= 0) {
        const Node& node = tree.nodes[std::size_t(at)];
        const double value = row[node.feature];
        at = node.first_child + (std::isnan(value) ? int(node.missing_branch) : value > node.threshold);
    }
    return at;
}

// A tree of cuts is walked many rows side by side; few rows take the plain way.
void any_number_of_rows() {
    Dice dice(1);
    constexpr std::size_t kRows = 700, kColumns = 5;
    for (const double missing : {0.0, 0.1}) {
        std::vector<double> x(kRows * kColumns);
        for (auto& v : x) v = dice.unit() < missing ? kNaN : dice.below(2) ? dice.unit() : dice.below(3);
        std::vector<Column> columns;
        for (std::size_t j = 0; j < kColumns; ++j) {
            std::vector<double> column;
            for (std::size_t i = 0; i < kRows; ++i) column.push_back(x[i * kColumns + j]);
            columns.push_back(code_numeric<double>(column, kMaxCodes));
        }
        std::vector<std::int32_t> target(kRows);
        for (auto& t : target) t = std::int32_t(dice.below(4));
        std::vector<Tree> trees;
        std::vector<TreeView> views;
        GrowOptions options;
        options.draw = Draw::bootstrap;
        options.n_draw = kRows;
        const std::uint64_t numbers[] = {0, 1, 2};
        trees = Grower(columns, {target, 4}, {}, options).grow(numbers, {}, kGoOn);
        for (const auto& tree : trees) views.push_back(view(tree, 4));
        for (const std::size_t n : {1, 2, 15, 16, 17, 63, 64, 65, 130, 700}) {
            const Matrix<double> matrix{x.data(), n, kColumns};
            std::vector<double> shares(n * 4, 0.0), expected(n * 4, 0.0);
            for (const auto& tree : trees) {
                std::vector<std::int32_t> leaves(n, -1);
                find_leaves(view(tree, 4), matrix, missing > 0, {}, leaves);
                for (std::size_t i = 0; i < n; ++i) {
                    const auto leaf = std::size_t(plain_walk(tree, matrix.row(i)));
                    assert(leaves[i] == std::int32_t(leaf));
                    for (std::size_t c = 0; c < 4; ++c)
                        expected[i * 4 + c] += tree.counts[leaf * 4 + c] / tree.nodes[leaf].size;
                }
            }
            add_probabilities<double>(views, matrix, missing > 0, {}, shares, kGoOn);
            for (std::size_t i = 0; i < shares.size(); ++i) assert(near(shares[i], expected[i]));
        }
    }
}

void a_single_leaf() {
    Tree tree;
    tree.nodes.resize(1);
    tree.nodes[0].size = 4;
    tree.counts = {1, 3};
    const std::vector<double> x(100, kNaN);
    for (const std::size_t n : {1, 100}) {
        std::vector<double> shares(2 * n, 0.0);
        const TreeView trees[] = {view(tree, 2)};
        add_probabilities<double>(trees, Matrix<double>{x.data(), n, 1}, true, {}, shares, kGoOn);
        for (std::size_t i = 0; i < n; ++i) assert(shares[2 * i] == 0.25 && shares[2 * i + 1] == 0.75);
    }
}

}  // namespace

int main() {
    by_hand<float>();
    by_hand<double>();
    any_number_of_rows();
    a_single_leaf();
    return passed("predict");
}
