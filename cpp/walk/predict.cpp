#include "walk/predict.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

namespace foresift {
namespace {

// Child that `value` takes at `node`, or -1 for "all of them, in parts".
std::int32_t branch_of(const TreeView& tree, const Node& node, double value) noexcept {
    if (std::isnan(value)) return node.missing_branch;
    if (node.category_set < 0) return value > node.threshold;
    const auto* first = tree.set_codes.data() + tree.set_offsets[node.category_set];
    const auto* last = tree.set_codes.data() + tree.set_offsets[node.category_set + 1];
    const auto* at = value >= 0 ? std::lower_bound(first, last, value) : last;
    return at != last && *at == value ? tree.set_branches[at - tree.set_codes.data()] : node.majority_branch;
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

// Several rows walk side by side, so that the waits for memory overlap.
template <class Real, bool kMayMiss, class RowAt>
void walk(const TreeView& tree, const std::vector<Step<Real>>& steps, Matrix<Real> x, RowAt row_at,
          std::span<std::int32_t> leaves) {
    constexpr std::size_t kLanes = 16;
    for (std::size_t begin = 0; begin < leaves.size(); begin += kLanes) {
        const std::size_t lanes = std::min(kLanes, leaves.size() - begin);
        const Real* rows[kLanes];
        std::int32_t at[kLanes] = {};
        for (std::size_t k = 0; k < kLanes; ++k) rows[k] = x.row(row_at(begin + std::min(k, lanes - 1)));
        bool moved = true;
        while (moved) {
            std::int32_t changed = 0;
            for (std::size_t k = 0; k < kLanes; ++k) {
                const Step<Real>& step = steps[static_cast<std::size_t>(at[k])];
                const Real value = rows[k][step.feature];
                std::int32_t next = step.first_child + (value > step.threshold);
                if constexpr (kMayMiss)
                    if (std::isnan(value)) next = step.first_child + tree.nodes[at[k]].missing_branch;
                changed |= next ^ at[k];
                at[k] = next;
            }
            moved = changed != 0;
        }
        std::copy_n(at, lanes, leaves.begin() + static_cast<std::ptrdiff_t>(begin));
    }
}

// Class shares where fractions of a case may reach several leaves.
template <class Real>
void add_fractions(const TreeView& tree, const Real* row, double* out) {
    struct Part {
        std::int32_t node;
        double share;
    };
    std::vector<Part> parts{{0, 1.0}};
    while (!parts.empty()) {
        const Part part = parts.back();
        parts.pop_back();
        const Node& node = tree.nodes[part.node];
        if (node.first_child < 0) {
            for (std::size_t c = 0; c < tree.n_classes; ++c)
                out[c] += part.share * tree.counts[part.node * tree.n_classes + c] / node.size;
            continue;
        }
        const auto branch = branch_of(tree, node, static_cast<double>(row[node.feature]));
        double size = 0;
        for (std::int32_t k = 0; k < node.n_children; ++k) size += tree.nodes[node.first_child + k].size;
        for (std::int32_t k = 0; k < node.n_children; ++k) {
            const auto child = node.first_child + k;
            if (branch == k)
                parts.push_back({child, part.share});
            else if (branch < 0 && tree.nodes[child].size > 0)
                parts.push_back({child, part.share * tree.nodes[child].size / size});
        }
    }
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
            for (std::size_t i = 0; i < leaves.size(); ++i) add_fractions(tree_, x.row(row_at(i)), &out[row_at(i) * k]);
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
                       const std::function<bool()>& stop) {
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
            if (stop && stop()) return;
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
                                       std::span<double>, const std::function<bool()>&);
template void add_probabilities<double>(std::span<const TreeView>, Matrix<double>, bool,
                                        std::span<const std::uint32_t>, std::span<double>,
                                        const std::function<bool()>&);

}  // namespace foresift
