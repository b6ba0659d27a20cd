// Gains by chance: the same search over other rows' values, by permutations of all rows that are the same for all
// columns and nodes.
#pragma once

#include <cmath>
#include <limits>
#include <span>
#include <type_traits>
#include <vector>

#include "grow/chance_gains.hpp"
#include "grow/column_search.hpp"
#include "grow/grower.hpp"
#include "grow/shared_gains.hpp"

namespace foresift {

template <class Case, class Score>
class ShadowGains final : public ChanceGains<Case> {
public:
    /// All must outlive this. `shared` is at the node whose columns are tried.
    ShadowGains(ColumnSearch<Case, Score>& search, std::span<const Shadow> shadows, SharedGains& shared,
                const GrowOptions& options)
        : search_(search), shadows_(shadows), shared_(shared), options_(options) {}

    // Shadows take turns: tree k has the next `shadows_per_tree` of them after tree k - 1.
    void start_tree(std::uint64_t tree) override {
        const std::size_t n = shadows_.size(), m = options_.shadows_per_tree;
        tree_ = tree, node_ = -1;
        has_turn_.resize(n);
        for (std::size_t t = 0; t < n; ++t) has_turn_[t] = m == 0 || (t + n - tree % n * m % n) % n < m;
    }

    // Below a split on the column nobody asks what it, or a shadow, gains: what it knows is used up there.
    void add(Tree& tree, std::int32_t at, const NodeRows<Case>& node, std::uint32_t column, bool) override {
        const bool used_up = split_above(tree.nodes, at, static_cast<std::int32_t>(column));
        Bits bits(options_.seed, tree_, static_cast<std::uint64_t>(at) + kShuffleStream);
        for (std::size_t t = 0; t < shadows_.size(); ++t) {
            double gain = std::numeric_limits<double>::quiet_NaN();
            if (has_turn_[t] && !used_up) gain = shared_.recall(column, 1 + t);
            if (has_turn_[t] && !used_up && std::isnan(gain)) {
                if (node_ != at) move_rows(at, node);
                gain = search_.gain(column, {rows_[t], totals_[t]}, bits);
                shared_.note(column, 1 + t, gain);
            }
            tree.permuted.push_back(gain);
        }
    }

private:
    // The node's rows with the values that shadows give them, and the weights if these go with the values.
    void move_rows(std::int32_t at, const NodeRows<Case>& node) {
        node_ = at;
        rows_.resize(shadows_.size());
        totals_.assign(shadows_.size(), node.totals);
        for (std::size_t t = 0; t < shadows_.size(); ++t) {
            if (!has_turn_[t]) continue;
            const Shadow& shadow = shadows_[t];
            auto& rows = rows_[t];
            rows.assign(node.members.begin(), node.members.end());
            for (auto& member : rows) {
                if (!shadow.ratios.empty()) {
                    double weight = double(member.of.weight()) * shadow.ratios[member.row];
                    if constexpr (std::is_integral_v<typename Case::Weight>) weight = std::round(weight);
                    member.of = Case::make(member.of.cls(), weight);
                }
                member.row = shadow.rows[member.row];
            }
            if (shadow.ratios.empty()) continue;
            totals_[t].clear();
            for (const auto& member : rows) totals_[t].add(member.of);
        }
    }

    ColumnSearch<Case, Score>& search_;
    std::span<const Shadow> shadows_;
    SharedGains& shared_;
    const GrowOptions& options_;
    std::uint64_t tree_ = 0;
    std::vector<std::uint8_t> has_turn_;  // per shadow
    std::int32_t node_ = -1;              // whose moved rows are in rows_, and their class weights in totals_
    std::vector<std::vector<Member<Case>>> rows_;
    std::vector<Tally<typename Case::Weight>> totals_;
};

}  // namespace foresift
