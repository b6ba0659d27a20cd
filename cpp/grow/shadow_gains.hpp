// Gains by chance: the same search over other rows' values. A permutation of all rows is the same at all nodes; the
// columns draw theirs from a common pool.
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
    ShadowGains(ColumnSearch<Case, Score>& search, std::span<const Shadow> pool, SharedGains& shared,
                const GrowOptions& options)
        : search_(search), pool_(pool), shared_(shared), options_(options) {}

    // Shadows take turns: tree k has the next `shadows_per_tree` of them after tree k - 1.
    void start_tree(std::uint64_t tree) override {
        const std::size_t n = options_.n_shadows, m = options_.shadows_per_tree;
        tree_ = tree;
        moved_.resize(pool_.size());
        for (auto& rows : moved_) rows.node = -1;
        has_turn_.resize(n);
        for (std::size_t t = 0; t < n; ++t) has_turn_[t] = m == 0 || (t + n - tree % n * m % n) % n < m;
    }

    // Below a split on the column nobody asks what it, or a shadow, gains: what it knows is used up there.
    void add(Tree& tree, std::int32_t at, const NodeRows<Case>& node, std::uint32_t column, bool) override {
        const bool used_up = split_above(tree.nodes, at, static_cast<std::int32_t>(column));
        Bits bits(options_.seed, tree_, static_cast<std::uint64_t>(at) + kShuffleStream);
        for (std::size_t t = 0; t < has_turn_.size(); ++t) {
            double gain = std::numeric_limits<double>::quiet_NaN();
            if (has_turn_[t] && !used_up) gain = shared_.recall(column, 1 + t);
            if (has_turn_[t] && !used_up && std::isnan(gain)) {
                gain = search_.gain(column, moved(at, node, permutation(column, t)), bits);
                shared_.note(column, 1 + t, gain);
            }
            tree.permuted.push_back(gain);
        }
    }

private:
    std::size_t permutation(std::size_t column, std::size_t t) const {
        return options_.shadow_of.empty() ? t : options_.shadow_of[column * has_turn_.size() + t];
    }

    // The node's rows with the values that a permutation gives them, and the weights if these go with the values.
    NodeRows<Case> moved(std::int32_t at, const NodeRows<Case>& node, std::size_t number) {
        const Shadow& by = pool_[number];
        Moved& to = moved_[number];
        if (to.node != at) {
            to.node = at;
            to.totals = node.totals;
            if (!by.ratios.empty()) to.totals.clear();
            to.rows.resize(node.members.size());
            for (std::size_t i = 0; i < to.rows.size(); ++i) {
                const auto& member = node.members[i];
                to.rows[i] = {by.rows[member.row], member.of};
                if (by.ratios.empty()) continue;
                double weight = double(member.of.weight()) * by.ratios[member.row];
                if constexpr (std::is_integral_v<typename Case::Weight>) weight = std::round(weight);
                to.rows[i].of = member.of.weighing(weight);
                to.totals.add(to.rows[i].of);
            }
        }
        return {to.rows, to.totals};
    }

    struct Moved {
        std::int32_t node = -1;  // whose rows they are
        std::vector<Member<Case>> rows;
        typename Case::Sums totals;
    };

    ColumnSearch<Case, Score>& search_;
    std::span<const Shadow> pool_;
    SharedGains& shared_;
    const GrowOptions& options_;
    std::uint64_t tree_ = 0;
    std::vector<std::uint8_t> has_turn_;   // per shadow
    std::vector<Moved> moved_;            // per permutation of the pool
};

}  // namespace foresift
