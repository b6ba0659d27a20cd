#include "walk/predict.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "walk/walker.hpp"

namespace foresift {
namespace {

// Child that `value` takes at `node`, or -1 for "all of them, in parts".
std::int32_t branch_of(const TreeView& tree, const Node& node, double value) noexcept {
    if (std::isnan(value)) return node.missing_branch;
    if (node.category_set < 0) return value > node.threshold;
    return category_branch(tree, node, value);
}

template <class Real>
std::int32_t leaf_of(const TreeView& tree, const Real* row) noexcept {
    std::int32_t at = 0;
    while (tree.nodes[at].first_child >= 0) {
        const Node& node = tree.nodes[at];
        const auto branch = branch_of(tree, node, static_cast<double>(row[node.feature]));
        at = node.first_child + (branch < 0 ? node.majority_branch : branch);
    }
    return at;
}

// A tree of numeric cuts in few bytes a node; a leaf leads to itself.
template <class Real>
struct Step {
    Real threshold;
    std::int32_t feature;
    std::int32_t first_child;
};

// The largest Real at or below t: no Real lies between, so comparisons with it come out the same.
template <class Real>
Real round_down(double t) noexcept {
    const auto near = static_cast<Real>(t);
    return static_cast<double>(near) <= t ? near : std::nextafter(near, -std::numeric_limits<Real>::infinity());
}

bool is_plain(const TreeView& tree) noexcept {
    return tree.nodes.size() < (1U << 30) && !tree.sets && !tree.fractions;
}

template <class Real>
std::vector<Step<Real>> steps_of(const TreeView& tree) {
    std::vector<Step<Real>> steps(tree.nodes.size());
    for (std::size_t i = 0; i < steps.size(); ++i) {
        const Node& node = tree.nodes[i];
        const bool leaf = node.first_child < 0;
        steps[i].threshold = leaf ? std::numeric_limits<Real>::infinity() : round_down<Real>(node.threshold);
        steps[i].feature = leaf ? 0 : node.feature;
        steps[i].first_child = leaf ? static_cast<std::int32_t>(i) : node.first_child;
    }
    return steps;
}

// The walk by prepared steps. kMayMiss: some value may be NaN.
template <class Real, bool kMayMiss, class RowAt>
void walk(const TreeView& tree, const std::vector<Step<Real>>& steps, Matrix<Real> x, RowAt row_at,
          std::span<std::int32_t> leaves) {
    const auto next = [&](std::int32_t at, const Real* row) {
        const Step<Real>& step = steps[static_cast<std::size_t>(at)];
        const Real value = row[step.feature];
        std::int32_t to = step.first_child + (value > step.threshold);
        if constexpr (kMayMiss)
            if (std::isnan(value)) to = step.first_child + tree.nodes[at].missing_branch;
        return to;
    };
    find_ends([&](std::size_t i) { return x.row(row_at(i)); }, next, leaves);
}

// One tree, made ready for as many rows as there will be.
template <class Real>
class Walker {
public:
    Walker(const TreeView& tree, std::size_t n_rows) : tree_(tree) {
        constexpr std::size_t kWorthwhile = 64;  // fewer rows: the plain table will do
        if (n_rows < kWorthwhile) return;
        if (is_plain(tree)) steps_ = steps_of<Real>(tree);
        shares_.resize(tree.counts.size());
        for (std::size_t i = 0; i < tree.nodes.size(); ++i)
            for (std::size_t c = i * tree.n_classes; c < (i + 1) * tree.n_classes; ++c)
                shares_[c] = tree.counts[c] / tree.nodes[i].size;
    }

    // leaves[i] belongs to row begin + i, or to rows[begin + i].
    void find(Matrix<Real> x, bool may_miss, std::span<const std::uint32_t> rows, std::size_t begin,
              std::span<std::int32_t> leaves) const {
        const auto row_at = [&](std::size_t i) { return rows.empty() ? begin + i : std::size_t{rows[begin + i]}; };
        if (steps_.empty())
            for (std::size_t i = 0; i < leaves.size(); ++i) leaves[i] = leaf_of(tree_, x.row(row_at(i)));
        else if (may_miss)
            walk<Real, true>(tree_, steps_, x, row_at, leaves);
        else
            walk<Real, false>(tree_, steps_, x, row_at, leaves);
    }

    // Adds class shares for the same rows; `leaves` is workspace.
    void add(Matrix<Real> x, bool may_miss, std::span<const std::uint32_t> rows, std::size_t begin,
             std::span<std::int32_t> leaves, std::span<double> out) const {
        const auto row_at = [&](std::size_t i) { return rows.empty() ? begin + i : std::size_t{rows[begin + i]}; };
        const std::size_t k = tree_.n_classes;
        if (tree_.fractions) {
            for (std::size_t i = 0; i < leaves.size(); ++i) {
                const Real* row = x.row(row_at(i));
                const auto branch_at = [&](std::int32_t at) {
                    return branch_of(tree_, tree_.nodes[at], static_cast<double>(row[tree_.nodes[at].feature]));
                };
                add_parts(tree_, branch_at, &out[row_at(i) * k]);
            }
            return;
        }
        find(x, may_miss, rows, begin, leaves);
        for (std::size_t i = 0; i < leaves.size(); ++i) {
            const auto leaf = static_cast<std::size_t>(leaves[i]);
            for (std::size_t c = 0; c < k; ++c)
                out[row_at(i) * k + c] +=
                    shares_.empty() ? tree_.counts[leaf * k + c] / tree_.nodes[leaf].size : shares_[leaf * k + c];
        }
    }

private:
    TreeView tree_;
    std::vector<Step<Real>> steps_;  // empty: not prepared
    std::vector<double> shares_;     // class shares of every node; empty: not prepared
};

}  // namespace

template <class Real>
bool any_missing(Matrix<Real> x) noexcept {
    // NaN is the only value that differs from itself; summing lets the loop be vectorised.
    for (std::size_t i = 0; i < x.n_rows; ++i) {
        std::size_t found = 0;
        for (std::size_t j = 0; j < x.n_columns; ++j) found += x.row(i)[j] != x.row(i)[j];
        if (found) return true;
    }
    return false;
}

template <class Real>
void find_leaves(const TreeView& tree, Matrix<Real> x, bool may_miss, std::span<const std::uint32_t> rows,
                 std::span<std::int32_t> leaves) {
    Walker<Real>(tree, leaves.size()).find(x, may_miss, rows, 0, leaves);
}

template <class Real>
void add_probabilities(std::span<const TreeView> trees, Matrix<Real> x, bool may_miss,
                       std::span<const std::uint32_t> rows, std::span<double> probabilities,
                       const Stop& stop) {
    // Blocks of rows and of trees that fit the cache together.
    constexpr std::size_t kRows = 2048, kTrees = 16;
    const std::size_t n = rows.empty() ? x.n_rows : rows.size();
    std::vector<std::int32_t> leaves(std::min(n, kRows));
    for (std::size_t first = 0; first < trees.size(); first += kTrees) {
        std::vector<Walker<Real>> walkers;
        for (const auto& tree : trees.subspan(first, std::min(kTrees, trees.size() - first)))
            walkers.emplace_back(tree, n);
        for (std::size_t begin = 0; begin < n; begin += kRows) {
            const auto block = std::span(leaves).first(std::min(kRows, n - begin));
            for (const auto& walker : walkers) walker.add(x, may_miss, rows, begin, block, probabilities);
            check_stop(stop);
        }
    }
}

template bool any_missing<float>(Matrix<float>) noexcept;
template bool any_missing<double>(Matrix<double>) noexcept;
template void find_leaves<float>(const TreeView&, Matrix<float>, bool, std::span<const std::uint32_t>,
                                 std::span<std::int32_t>);
template void find_leaves<double>(const TreeView&, Matrix<double>, bool, std::span<const std::uint32_t>,
                                  std::span<std::int32_t>);
template void add_probabilities<float>(std::span<const TreeView>, Matrix<float>, bool, std::span<const std::uint32_t>,
                                       std::span<double>, const Stop&);
template void add_probabilities<double>(std::span<const TreeView>, Matrix<double>, bool,
                                        std::span<const std::uint32_t>, std::span<double>,
                                        const Stop&);

}  // namespace foresift
