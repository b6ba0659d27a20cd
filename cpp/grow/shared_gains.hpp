// What columns and their shadows gain at the upper nodes, which many trees on the same rows have in common.
#pragma once

#include <atomic>
#include <cstdint>
#include <limits>
#include <map>
#include <memory>
#include <mutex>
#include <span>
#include <utility>
#include <vector>

#include "grow/node.hpp"

namespace foresift {

/// Gains by node, column and shadow. A node is known by its path: column and branch of every split above it. Two
/// threads may find the same gain, and write the same number: no trial waits for another.
class SharedTrials {
public:
    using Gain = std::atomic<double>;
    static constexpr std::size_t kMostGains = std::size_t{1} << 21;  // 16 MB

    SharedTrials(std::size_t n_columns, std::size_t n_shadows) : n_columns_(n_columns), n_shadows_(n_shadows) {}

    /// The gains at a node, NaN for those that nobody has found yet; see `of`. They stay where they are. Null if there
    /// is no room for another node; the first one always has room.
    Gain* at(const std::vector<std::uint32_t>& path) {
        const std::lock_guard lock(mutex_);
        if (const auto found = nodes_.find(path); found != nodes_.end()) return found->second.get();
        const std::size_t size = n_columns_ * (1 + n_shadows_);
        if (!nodes_.empty() && (nodes_.size() + 1) * size > kMostGains) return nullptr;
        auto gains = std::make_unique<Gain[]>(size);
        for (auto& gain : std::span(gains.get(), size))
            gain.store(std::numeric_limits<double>::quiet_NaN(), std::memory_order_relaxed);
        return (nodes_[path] = std::move(gains)).get();
    }

    /// Of the gains at a node those of one column: its own, then its shadows'.
    std::span<Gain> of(Gain* node, std::size_t column) const noexcept {
        return {node + column * (1 + n_shadows_), 1 + n_shadows_};
    }

private:
    std::size_t n_columns_, n_shadows_;
    std::mutex mutex_;
    std::map<std::vector<std::uint32_t>, std::unique_ptr<Gain[]>> nodes_;
};

/// What a tree finds of the gains at the node it is at. Trees on all rows have the root in common, and those that split
/// it by the same column the nodes below.
class SharedGains {
public:
    /// `trials` must outlive this; null: trees have nothing in common, and nothing is ever known.
    explicit SharedGains(SharedTrials* trials) : trials_(trials) {}

    void enter(const Tree& tree, std::int32_t at, std::int32_t depth) {
        gains_ = nullptr;
        if (!trials_ || depth >= kLevels) return;
        path_.clear();
        for (auto node = at; tree.nodes[node].parent >= 0; node = tree.nodes[node].parent) {
            const Node& parent = tree.nodes[tree.nodes[node].parent];
            path_.push_back(static_cast<std::uint32_t>(parent.feature));
            path_.push_back(static_cast<std::uint32_t>(node - parent.first_child));
        }
        gains_ = trials_->at(path_);
    }

    /// Whether other trees may have found something here.
    bool any() const noexcept { return gains_; }

    /// The gain of a column, or of its shadow `which - 1`; NaN: nobody has found it.
    double recall(std::size_t column, std::size_t which = 0) const {
        return gains_ ? trials_->of(gains_, column)[which].load(std::memory_order_relaxed)
                      : std::numeric_limits<double>::quiet_NaN();
    }
    void note(std::size_t column, std::size_t which, double gain) {
        if (gains_) trials_->of(gains_, column)[which].store(gain, std::memory_order_relaxed);
    }

private:
    static constexpr std::int32_t kLevels = 3;  // further down hardly two trees have the same node

    SharedTrials* trials_;
    SharedTrials::Gain* gains_ = nullptr;
    std::vector<std::uint32_t> path_;
};

}  // namespace foresift
