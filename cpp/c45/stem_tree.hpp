// A grown tree that can still change, together with the rows it was grown on: what C4.5 works on when it prunes.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

#include "base/columns.hpp"
#include "base/interrupt.hpp"
#include "grow/node.hpp"

namespace foresift {

/// The rows a tree was grown on: row i counts times[i] * weights[i]; no weights: times[i].
struct TrainingRows {
    std::span<const Column> columns;
    std::span<const std::int32_t> target;
    std::uint32_t n_classes;
    std::span<const std::uint32_t> times;
    std::span<const double> weights;
};

/// A node. Its children follow each other, and come after it.
struct Stem {
    std::int32_t feature = -1;  // -1: leaf
    std::uint32_t first_child = 0, n_children = 0;
    std::uint32_t cut = 0;      // numeric: codes up to this one take the first branch
    std::int32_t groups = -1;   // nominal: category set of the grown tree; -1: one branch per category
    std::uint16_t others = 0;   // the branch of categories that are not in this set
    bool some_missing = false;  // whether rows with a missing value went down all branches
    double threshold = 0, gain = 0, size = 0;
    double errors = 0;  // of the subtree: training errors, or expected ones

    bool is_leaf() const noexcept { return feature < 0; }
};

/// A row at some node, or a part of one.
struct Part {
    std::uint32_t row;
    double weight;
};

/// The rows of a node: part number `begin` to `end`.
struct Range {
    std::uint32_t node;
    std::size_t begin, end;
};

/// Weight of a leaf that no row reaches: so little that it counts nowhere, and yet its class shares, which are those of
/// its parent, can be had by division.
inline constexpr double kNoWeight = 1e-200;

class StemTree {
public:
    /// Takes over the splits of a tree, with a branch for every category that occurs in the rows, or (`grouped`) with
    /// the branches of the tree. `grown` must outlive this.
    StemTree(const TrainingRows& rows, const Tree& grown, bool grouped, const Stop& stop);

    std::size_t size() const noexcept { return stems_.size(); }
    Stem& operator[](std::size_t node) noexcept { return stems_[node]; }
    std::span<double> counts(std::size_t node) { return {&counts_[node * n_classes_], n_classes_}; }
    Range root() const noexcept { return {0, 0, n_rows_}; }

    /// Sorts the rows of a node by branch, in place; where values are missing, into copies with their fractions
    /// behind the last part. Returns where the rows of branch 0 begin; those of branch b end at ends[b].
    std::size_t divide(const Range& at, std::vector<std::size_t>& ends);

    /// Appends the rows of a node that do not take the branch to `child`, and the parts of rows that do not.
    Range append_others(const Range& at, std::uint32_t child);

    /// Whether the last divide() met missing values.
    bool some_missing() const noexcept { return some_missing_; }

    /// Parts beyond the first `n` are done with.
    std::size_t n_parts() const noexcept { return parts_.size(); }
    void drop_parts(std::size_t n) { parts_.resize(n); }

    /// Sends the rows of `from` down the subtree of its node and calls look(range) at every leaf, and at every inner
    /// node that rows reach when they have been divided, until look() returns false. Rows change places inside `from`
    /// only.
    template <class Look> void descend(const Range& from, Look look);

    /// Sets counts, sizes and gains of a subtree by these rows.
    void distribute(const Range& from);

    /// Class weights of some rows; returns their sum.
    double tally(const Range& at, std::span<double> counts) const noexcept;

    Tree written(bool value_thresholds);

private:
    const std::vector<std::uint16_t>& occurring(std::size_t column);
    std::span<const std::uint16_t> branch_of_codes(const Stem& stem);
    void find_branches(const Range& at);
    double value_threshold(const Stem& stem);
    void write_split(const Stem& stem, bool value_thresholds, Node& node, Tree& out);
    TrainingRows rows_;
    const Tree& grown_;
    StopPoller poll_;
    std::size_t n_classes_, n_rows_ = 0;
    std::vector<Stem> stems_;
    std::vector<double> counts_;
    std::vector<Part> parts_, spare_;
    struct Occurring {
        std::vector<std::uint16_t> codes, place;  // in order; and where in `codes` each code is
    };
    std::vector<Occurring> occurring_;  // per column, filled when asked for
    std::vector<std::uint16_t> branch_, of_code_;
    bool some_missing_ = false;
    std::vector<double> known_, shares_;  // class weights of each branch, known values only; shares of their sums
    std::vector<std::size_t> places_;
};

template <class Look>
void StemTree::descend(const Range& from, Look look) {
    const std::size_t keep = parts_.size();
    std::vector<Range> waiting{from};
    std::vector<std::size_t> ends;
    bool go_on = true;
    while (go_on && !waiting.empty()) {
        const Range at = waiting.back();
        waiting.pop_back();
        parts_.resize(std::max(keep, at.end));
        const Stem& stem = stems_[at.node];
        std::size_t begin = stem.is_leaf() ? 0 : divide(at, ends);
        go_on = look(at);
        if (stem.is_leaf()) continue;
        for (std::uint32_t b = 0; b < stem.n_children && go_on; begin = ends[b++]) {
            const Range child{stem.first_child + b, begin, ends[b]};
            if (stems_[child.node].is_leaf())
                go_on = look(child);
            else if (child.begin < child.end)
                waiting.push_back(child);
        }
    }
    parts_.resize(keep);
}

}  // namespace foresift
