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

}  // namespace foresift
