// Part of tree_grower.hpp: what a column would gain at a node by chance, with classes shuffled or as a permuted shadow.
#pragma once

#include "grow/tree_grower.hpp"

namespace foresift {

// What the column gains by chance: the same search with the classes of the node's rows shuffled.
template <class Case, class Score>
void TreeGrower<Case, Score>::try_permuted(const Pending& at, const NodeRows<Case>& node, std::uint32_t feature,
                                           bool constant) {
    const std::size_t n = node.members.size(), times = options_.n_permutations;
    const bool wanted = options_.permute_column.empty() || options_.permute_column[feature];
    if (!wanted || constant) {
        out_.permuted.insert(out_.permuted.end(), times, wanted ? 0.0 : std::numeric_limits<double>::quiet_NaN());
        return;
    }
    Bits bits(options_.seed, tree_number_, static_cast<std::uint64_t>(at.node) + kShuffleStream);
    if (shuffled_node_ != at.node) {  // all columns of the node meet the same shuffles
        shuffled_node_ = at.node;
        shuffled_.clear();
        shuffled_cases_.clear();
        for (const auto& member : node.members) shuffled_cases_.push_back(member.of);
        for (std::size_t t = 0; t < times; ++t) {
            shuffle(shuffled_cases_, bits);
            for (std::size_t i = 0; i < n; ++i) shuffled_.push_back({node.members[i].row, shuffled_cases_[i]});
        }
    }
    for (std::size_t t = 0; t < times; ++t) {
        poll_(n + 64);
        const NodeRows<Case> rows{std::span(shuffled_).subspan(t * n, n), node.totals};
        using Outcome = typename Splitter<Case, Score>::Outcome;
        const auto outcome = splitter_.best(columns_[feature], codes_[feature], rows, 0.0, bits, permuted_trial_);
        out_.permuted.push_back(outcome == Outcome::found ? permuted_trial_.gain : 0.0);
    }
}

// The node's rows with the values that a shadow gives them, and the weights if these go with the values.
template <class Case, class Score>
NodeRows<Case> TreeGrower<Case, Score>::moved(const NodeRows<Case>& node, const Shadow& shadow) {
    shuffled_.clear();
    if (shadow.ratios.empty()) {
        for (const auto& member : node.members) shuffled_.push_back({shadow.rows[member.row], member.of});
        return {shuffled_, node.totals};
    }
    shadow_totals_ = node.totals;
    shadow_totals_.clear();
    for (const auto& member : node.members) {
        double weight = double(member.of.weight()) * shadow.ratios[member.row];
        if constexpr (std::is_integral_v<Weight>) weight = std::round(weight);
        shuffled_.push_back({shadow.rows[member.row], Case::make(member.of.cls(), weight)});
        shadow_totals_.add(shuffled_.back().of);
    }
    return {shuffled_, shadow_totals_};
}

// What fixed permutations of the column would have gained: the same search over other rows' values.
template <class Case, class Score>
void TreeGrower<Case, Score>::try_shadows(const Pending& at, const NodeRows<Case>& node, std::uint32_t feature) {
    const std::size_t n = node.members.size(), n_shadows = options_.n_shadows;
    Bits bits(options_.seed, tree_number_, static_cast<std::uint64_t>(at.node) + kShuffleStream);
    for (std::size_t t = 0; t < n_shadows; ++t) {
        if (!has_turn(t)) {
            out_.permuted.push_back(std::numeric_limits<double>::quiet_NaN());
            continue;
        }
        auto* const shared = known_gains_ ? &shared_->of(known_gains_, feature)[1 + t] : nullptr;
        double gain = shared ? shared->load(std::memory_order_relaxed) : std::numeric_limits<double>::quiet_NaN();
        if (std::isnan(gain)) {
            poll_(n + 64);
            const std::size_t number = options_.shadow_of.empty() ? t : options_.shadow_of[feature * n_shadows + t];
            const NodeRows<Case> rows = moved(node, shadows_[number]);
            using Outcome = typename Splitter<Case, Score>::Outcome;
            const auto outcome = splitter_.best(columns_[feature], codes_[feature], rows, 0.0, bits, permuted_trial_);
            gain = outcome == Outcome::found ? permuted_trial_.gain : 0.0;
            if (shared) shared->store(gain, std::memory_order_relaxed);
        }
        out_.permuted.push_back(gain);
    }
    last_tried_ = static_cast<std::uint32_t>(columns_.size());  // the splitter holds other rows' codes now
}

}  // namespace foresift
