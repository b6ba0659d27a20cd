#include "c45/prune.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
#include <vector>

#include "split/splitter.hpp"

namespace foresift {
namespace {

class Pruner {
public:
    Pruner(StemTree& tree, const FinishOptions& options, std::size_t n_classes)
        : tree_(tree), options_(options), z_(normal_deviate(options.confidence)), leaf_counts_(n_classes) {}
    void prune();

private:
    // A node on the way to the one that is being pruned.
    struct Visit {
        Range at;
        std::size_t n_parts = 0, begin = 0;  // before the node was divided; begin of its first child's rows
        std::vector<std::size_t> ends;       // of its children's rows; empty: not divided yet
        std::uint32_t next = 0;              // the child to visit next
    };

    bool settle(const Range& at);
    std::optional<double> errors_of_others(const Range& at, std::uint32_t child);
    double errors_raised(const Range& at, std::uint32_t child, double enough);
    double expected(std::span<const double> counts, double size) const noexcept {
        if (size <= kNear) return 0;
        const double errors = size - *std::max_element(counts.begin(), counts.end());
        return errors + added_errors(size, errors, options_.confidence, z_);
    }

    StemTree& tree_;
    FinishOptions options_;
    double z_;
    std::vector<double> leaf_counts_;
};

// From the bottom up, without recursion: trees can be deep.
void Pruner::prune() {
    std::vector<Visit> path;
    path.push_back({tree_.root(), 0, 0, {}, 0});
    while (!path.empty()) {
        Visit& visit = path.back();
        Stem& stem = tree_[visit.at.node];
        if (stem.is_leaf()) {
            stem.errors = expected(tree_.counts(visit.at.node), stem.size);
            path.pop_back();
            continue;
        }
        if (visit.ends.empty()) {
            visit.n_parts = tree_.n_parts();
            visit.begin = tree_.divide(visit.at, visit.ends);
            visit.next = 0;
            stem.some_missing = tree_.some_missing();
        }
        if (visit.next < stem.n_children) {
            const std::uint32_t b = visit.next++;
            const Range child{stem.first_child + b, b > 0 ? visit.ends[b - 1] : visit.begin, visit.ends[b]};
            path.push_back({child, 0, 0, {}, 0});
            continue;
        }
        tree_.drop_parts(visit.n_parts);
        if (settle(visit.at))
            path.pop_back();
        else
            visit.ends.clear();
    }
}

// Decides what becomes of a node whose branches are pruned: it stays, or it is a leaf, or its largest branch. False:
// it is now its largest branch, and must be pruned again.
bool Pruner::settle(const Range& at) {
    Stem& stem = tree_[at.node];
    stem.errors = 0;
    std::uint32_t largest = stem.first_child;
    for (std::uint32_t child = stem.first_child; child < stem.first_child + stem.n_children; ++child) {
        stem.errors += tree_[child].errors;
        if (tree_[child].size >= tree_[largest].size - kNear) largest = child;  // of equals the last, as in J48
    }
    const double leaf = expected(tree_.counts(at.node), stem.size), slack = 0.1 + kNear;
    const double raised = options_.raise ? errors_raised(at, largest, std::max(leaf, stem.errors) + slack)
                                         : std::numeric_limits<double>::infinity();
    if (leaf <= stem.errors + slack && leaf <= raised + slack) {
        stem.feature = -1;
        stem.errors = leaf;
        return true;
    }
    if (raised > stem.errors + slack) return true;
    stem = tree_[largest];
    tree_.distribute(at);
    return false;
}

// How many more errors are to be expected if the rows of the other branches went down the branch `child` as well.
// Only the leaves that they reach are looked at, so there is no answer where missing values change all the fractions.
std::optional<double> Pruner::errors_of_others(const Range& at, std::uint32_t child) {
    const std::size_t n_parts = tree_.n_parts();
    double errors = 0;
    bool all_known = true;
    tree_.descend(tree_.append_others(at, child), [&](const Range& below) {
        const Stem& stem = tree_[below.node];
        if (!stem.is_leaf()) return all_known = !stem.some_missing && !tree_.some_missing();
        if (below.begin == below.end) return true;
        const auto counts = tree_.counts(below.node);
        const double size = tree_.tally(below, leaf_counts_) + stem.size;
        for (std::size_t c = 0; c < counts.size(); ++c) leaf_counts_[c] += counts[c];
        errors += expected(leaf_counts_, size) - expected(counts, stem.size);
        return true;
    });
    tree_.drop_parts(n_parts);
    return all_known ? std::optional(errors) : std::nullopt;
}

// The errors to be expected if a node with these rows were its branch `child`; the sum may stop beyond `enough`.
double Pruner::errors_raised(const Range& at, std::uint32_t child, double enough) {
    if (const auto others = errors_of_others(at, child)) return tree_[child].errors + *others;
    double errors = 0;
    tree_.descend({child, at.begin, at.end}, [&](const Range& below) {
        if (!tree_[below.node].is_leaf()) return true;
        const double size = tree_.tally(below, leaf_counts_);
        errors += expected(leaf_counts_, size);
        return errors <= enough;
    });
    return errors;
}

// Makes leaves of the subtrees that do not save 1/1000 of an error in training.
void collapse(StemTree& tree) {
    const auto wrong = [&](std::size_t node) {
        const auto counts = tree.counts(node);
        return tree[node].size - *std::max_element(counts.begin(), counts.end());
    };
    for (std::size_t i = tree.size(); i-- > 0;) {
        Stem& stem = tree[i];
        stem.errors = stem.is_leaf() ? wrong(i) : 0.0;
        for (std::uint32_t b = 0; !stem.is_leaf() && b < stem.n_children; ++b)
            stem.errors += tree[stem.first_child + b].errors;
    }
    for (std::size_t i = 0; i < tree.size(); ++i)
        if (!tree[i].is_leaf() && tree[i].errors >= wrong(i) - 1e-3) tree[i].feature = -1;
}

}  // namespace

double normal_deviate(double p) noexcept {
    double low = 0, high = 40;
    for (int i = 0; i < 100; ++i) {
        const double middle = (low + high) / 2;
        (std::erfc(middle / std::sqrt(2.0)) / 2 > p ? low : high) = middle;
    }
    return (low + high) / 2;
}

double added_errors(double n, double errors, double confidence, double z) noexcept {
    if (errors < 1) {  // no error: n (1 - CF^(1/n)); in between, on a straight line
        const double none = n * (1 - std::pow(confidence, 1 / n));
        return errors > 0 ? none + errors * (added_errors(n, 1, confidence, z) - none) : none;
    }
    if (errors + 0.5 >= n) return std::max(n - errors, 0.0);
    const double f = (errors + 0.5) / n, z2 = z * z;
    const double limit =
        (f + z2 / (2 * n) + z * std::sqrt(f / n - f * f / n + z2 / (4 * n * n))) / (1 + z2 / n);
    return limit * n - errors;
}

Tree finish_c45(const TrainingRows& rows, const Tree& grown, bool grouped, const FinishOptions& options,
                const Stop& stop) {
    StemTree tree(rows, grown, grouped, stop);
    if (options.collapse) collapse(tree);
    if (options.confidence > 0) Pruner(tree, options, rows.n_classes).prune();
    return tree.written(options.value_thresholds);
}

}  // namespace foresift
