// A split of a column with many categories must gain more than chance gives such a column.
#pragma once

#include <cmath>
#include <cstdint>
#include <span>
#include <vector>

#include "grow/column_search.hpp"
#include "grow/options.hpp"

namespace foresift {

/// What chance gives: the gain of the same search after the classes of the node's rows were shuffled once. More
/// shuffles were no better: one that is lucky for a column at one node is not at the next, nor in the next tree.
template <class Case, class Score>
class ManyCategories {
public:
    /// All must outlive this. `has_many` says of every column whether it concerns it; empty: none.
    ManyCategories(ColumnSearch<Case, Score>& search, std::span<const std::uint8_t> has_many, const GrowOptions& options)
        : search_(search), has_many_(has_many), options_(options) {}

    void start_tree(std::uint64_t tree) { tree_ = tree, node_ = -1; }

    /// Whether splits of this column are held against chance.
    bool concern(std::uint32_t column) const { return !has_many_.empty() && has_many_[column]; }

    /// Notes what chance gives the column of a split; false if that is as much as the split gains.
    bool beats_chance(std::int32_t at, const NodeRows<Case>& node, Split& split) {
        Bits bits(options_.seed, tree_, static_cast<std::uint64_t>(at) + kNominalStream);
        if (node_ != at) shuffle_rows(at, node, bits);
        const double by_chance = search_.gain(split.feature, {rows_, node.totals}, bits);
        // SSV is no gain: any split has much of it, so what a numeric column has by chance would have to go too.
        if (options_.split.criterion != Criterion::ssv) split.by_chance = by_chance;
        return split.gain - by_chance > 1e-13 * (node.totals.unit() + std::abs(split.gain));  // equal ones may differ by rounding
    }

private:
    // All columns of the node meet the same shuffle: it does not depend on which of them were drawn.
    void shuffle_rows(std::int32_t at, const NodeRows<Case>& node, Bits& bits) {
        node_ = at;
        cases_.clear();
        for (const auto& member : node.members) cases_.push_back(member.of);
        shuffle(cases_, bits);
        rows_.clear();
        for (std::size_t i = 0; i < cases_.size(); ++i) rows_.push_back({node.members[i].row, cases_[i]});
    }

    ColumnSearch<Case, Score>& search_;
    std::span<const std::uint8_t> has_many_;
    const GrowOptions& options_;
    std::uint64_t tree_ = 0;
    std::int32_t node_ = -1;  // whose shuffled rows are in rows_
    std::vector<Member<Case>> rows_;
    std::vector<Case> cases_;
};

}  // namespace foresift
