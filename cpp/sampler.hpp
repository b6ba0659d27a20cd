// Which columns a node may see, in which order: all of them, a uniform draw, or a draw by weights; always
// without replacement. A column known to be constant at a node is constant at all of its descendants.
#pragma once

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <optional>
#include <span>
#include <vector>

#include "rng.hpp"

namespace foresift {

class FeatureSampler {
public:
    /// `weights` empty: uniform; else one finite weight >= 0 per feature, not all zero. A feature of weight 0
    /// is never drawn. `in_order`: every feature, in column order (weights must be empty).
    FeatureSampler(std::uint32_t n_features, std::span<const double> weights, bool in_order)
        : order_(n_features), constant_(n_features, 0), in_order_(in_order) {
        std::iota(order_.begin(), order_.end(), 0U);
        if (!weights.empty()) {
            weights_.assign(weights.begin(), weights.end());
            cumulative_.resize(n_features);
            std::partial_sum(weights_.begin(), weights_.end(), cumulative_.begin());
            last_seen_.assign(n_features, 0);
            n_drawable_ = static_cast<std::uint32_t>(
                std::count_if(weights_.begin(), weights_.end(), [](double w) { return w > 0; }));
        } else {
            n_drawable_ = n_features;
        }
    }

    /// Starts a node whose first `n_constant` known constants hold. Nodes must come depth first.
    void start(std::size_t n_constant) {
        while (stack_.size() > n_constant) {
            constant_[stack_.back()] = 0;
            stack_.pop_back();
        }
        drawn_ = 0;
        ++node_;
    }

    std::optional<std::uint32_t> draw(Bits& bits) {
        if (drawn_ == n_drawable_) return std::nullopt;
        if (in_order_) return drawn_++;
        if (!weights_.empty()) return draw_weighted(bits);
        const std::uint32_t other = drawn_ + bits.below(static_cast<std::uint32_t>(order_.size()) - drawn_);
        std::swap(order_[drawn_], order_[other]);
        return order_[drawn_++];
    }

    bool is_constant(std::uint32_t feature) const noexcept { return constant_[feature]; }
    void mark_constant(std::uint32_t feature) {
        constant_[feature] = 1;
        stack_.push_back(feature);
    }
    std::size_t n_constant() const noexcept { return stack_.size(); }

private:
    std::uint32_t draw_weighted(Bits& bits) {
        // Rejecting what was drawn already is successive sampling without replacement. When little weight is
        // left, walk over what is left instead.
        constexpr int kPatience = 16;
        for (int attempt = 0; attempt < kPatience; ++attempt) {
            const double u = bits.unit() * cumulative_.back();
            const auto it = std::upper_bound(cumulative_.begin(), cumulative_.end(), u);
            const auto feature = static_cast<std::uint32_t>(it - cumulative_.begin());
            if (feature < weights_.size() && weights_[feature] > 0 && last_seen_[feature] != node_)
                return take(feature);
        }
        const auto left = [&](std::size_t f) { return last_seen_[f] == node_ ? 0.0 : weights_[f]; };
        double sum = 0;
        for (std::size_t f = 0; f < weights_.size(); ++f) sum += left(f);
        double u = bits.unit() * sum;
        std::uint32_t chosen = 0;
        for (std::uint32_t f = 0; f < weights_.size(); ++f) {
            if (left(f) <= 0) continue;
            chosen = f;
            if ((u -= left(f)) < 0) break;
        }
        return take(chosen);
    }
    std::uint32_t take(std::uint32_t feature) {
        last_seen_[feature] = node_;
        ++drawn_;
        return feature;
    }

    std::vector<std::uint32_t> order_;
    std::vector<double> weights_, cumulative_;
    std::vector<std::uint64_t> last_seen_;  // number of the node that drew the feature last
    std::vector<std::uint8_t> constant_;
    std::vector<std::uint32_t> stack_;  // the constant ones, in order of discovery
    std::uint64_t node_ = 0;
    std::uint32_t drawn_ = 0, n_drawable_ = 0;
    bool in_order_;
};

}  // namespace foresift
