// Gains by chance: the same search with the classes of the node's rows shuffled.
#pragma once

#include <limits>
#include <span>
#include <vector>

#include "grow/chance_gains.hpp"
#include "grow/column_search.hpp"
#include "grow/options.hpp"

namespace foresift {

template <class Case, class Score>
class ClassShuffles final : public ChanceGains<Case> {
public:
    /// Both must outlive this.
    ClassShuffles(ColumnSearch<Case, Score>& search, const GrowOptions& options) : search_(search), options_(options) {}

    void start_tree(std::uint64_t tree) override { tree_ = tree, node_ = -1; }

    void add(Tree& tree, std::int32_t at, const NodeRows<Case>& node, std::uint32_t column, bool constant) override {
        const std::size_t n = node.members.size(), times = options_.n_permutations;
        const bool wanted = options_.permute_column.empty() || options_.permute_column[column];
        if (!wanted || constant) {
            const double gain = wanted ? 0.0 : std::numeric_limits<double>::quiet_NaN();
            tree.permuted.insert(tree.permuted.end(), times, gain);
            return;
        }
        Bits bits(options_.seed, tree_, static_cast<std::uint64_t>(at) + kShuffleStream);
        if (node_ != at) shuffle_rows(at, node, bits);
        for (std::size_t t = 0; t < times; ++t)
            tree.permuted.push_back(search_.gain(column, {std::span(rows_).subspan(t * n, n), node.totals}, bits));
    }

private:
    // All columns of the node meet the same shuffles.
    void shuffle_rows(std::int32_t at, const NodeRows<Case>& node, Bits& bits) {
        node_ = at;
        rows_.clear();
        cases_.clear();
        for (const auto& member : node.members) cases_.push_back(member.of);
        for (std::size_t t = 0; t < options_.n_permutations; ++t) {
            shuffle(cases_, bits);
            for (std::size_t i = 0; i < cases_.size(); ++i) rows_.push_back({node.members[i].row, cases_[i]});
        }
    }

    ColumnSearch<Case, Score>& search_;
    const GrowOptions& options_;
    std::uint64_t tree_ = 0;
    std::int32_t node_ = -1;  // whose shuffled rows are in rows_
    std::vector<Member<Case>> rows_;
    std::vector<Case> cases_;
};

}  // namespace foresift
