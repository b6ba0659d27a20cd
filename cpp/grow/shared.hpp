// Part of tree_grower.hpp: trials at nodes that several trees have in common.
#pragma once

#include "grow/tree_grower.hpp"

namespace foresift {

inline constexpr std::int32_t kSharedLevels = 3;  // further down hardly two trees have the same node

// Trees on all rows have the root in common, and those that split it by the same column the nodes below.
template <class Case, class Score>
SharedTrials::Gain* TreeGrower<Case, Score>::shared_gains(const Pending& at) {
    if (!shared_ || at.depth >= kSharedLevels) return nullptr;
    path_.clear();
    for (auto node = at.node; out_.nodes[node].parent >= 0; node = out_.nodes[node].parent) {
        const Node& parent = out_.nodes[out_.nodes[node].parent];
        path_.push_back(static_cast<std::uint32_t>(parent.feature));
        path_.push_back(static_cast<std::uint32_t>(node - parent.first_child));
    }
    return shared_->at(path_);
}

// The best split of a column; of one that another tree has tried at the same node, only its gain.
template <class Case, class Score>
auto TreeGrower<Case, Score>::judge(const NodeRows<Case>& node, std::uint32_t feature, double floor, Bits& bits)
    -> typename Splitter<Case, Score>::Outcome {
    using Outcome = typename Splitter<Case, Score>::Outcome;
    if (known_gains_) {
        trial_.reset();
        trial_.gain = shared_->of(known_gains_, feature)[0].load(std::memory_order_relaxed);
        if (!std::isnan(trial_.gain)) return Outcome::found;
    }
    poll_(node.members.size() + 64);
    const auto outcome = splitter_.best(columns_[feature], codes_[feature], node, floor, bits, trial_);
    last_tried_ = feature;
    if (known_gains_ && outcome == Outcome::found)
        shared_->of(known_gains_, feature)[0].store(trial_.gain, std::memory_order_relaxed);
    return outcome;
}

}  // namespace foresift
