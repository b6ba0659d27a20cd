// Which columns a node may see, in which order: all of them, a uniform draw, or a draw by weights; always
// without replacement. A column known to be constant at a node is constant at all of its descendants.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>
#include <numeric>
#include <optional>
#include <span>
#include <vector>

#include "base/rng.hpp"

namespace foresift {

/// Draws from weights without replacement: a binary tree of sums, so that a draw takes log2 n steps however
/// uneven the weights are. Sums are always worked out anew from their two parts, so nothing drifts.
class WeightedUrn {
public:
    explicit WeightedUrn(std::span<const double> weights)
        : first_leaf_(std::bit_ceil(std::max<std::size_t>(weights.size(), 1))), weights_(weights.begin(), weights.end()),
          sums_(2 * first_leaf_, 0.0) {
        std::copy(weights.begin(), weights.end(), sums_.begin() + static_cast<std::ptrdiff_t>(first_leaf_));
        for (std::size_t i = first_leaf_; i-- > 1;) sums_[i] = sums_[2 * i] + sums_[2 * i + 1];
    }

    /// Draws one of those that are left. Precondition: one with a positive weight is.
    std::uint32_t draw(Bits& bits) {
        double u = bits.unit() * sums_[1];
        std::size_t at = 1;
        while (at < first_leaf_) {
            at *= 2;
            // Rounding must not lead into a half where nothing is left.
            if (u < sums_[at] || !(sums_[at + 1] > 0)) continue;
            u -= sums_[at++];
        }
        const auto drawn = static_cast<std::uint32_t>(at - first_leaf_);
        set(drawn, 0.0);
        drawn_.push_back(drawn);
        return drawn;
    }

    /// Puts back what was drawn.
    void refill() {
        for (const auto i : drawn_) set(i, weights_[i]);
        drawn_.clear();
    }

private:
    void set(std::uint32_t i, double weight) {
        std::size_t at = first_leaf_ + i;
        sums_[at] = weight;
        while ((at /= 2) >= 1) sums_[at] = sums_[2 * at] + sums_[2 * at + 1];
    }

    std::size_t first_leaf_;
    std::vector<double> weights_, sums_;  // sums_[1] is the root; the children of i are 2i and 2i + 1
    std::vector<std::uint32_t> drawn_;
};

class FeatureSampler {
public:
    /// `weights` empty: uniform; else one finite weight >= 0 per feature, not all zero. A feature of weight 0
    /// is never drawn. `in_order`: every feature, in column order (weights must be empty). `allowed` not empty:
    /// only these features, in rising order, just as if they were all there are (weights must be empty).
    FeatureSampler(std::uint32_t n_features, std::span<const double> weights, bool in_order,
                   std::span<const std::uint32_t> allowed = {})
        : order_(allowed.begin(), allowed.end()), constant_(n_features, 0), in_order_(in_order) {
        if (allowed.empty()) {
            order_.resize(n_features);
            std::iota(order_.begin(), order_.end(), 0U);
        }
        n_drawable_ = static_cast<std::uint32_t>(order_.size());
        if (weights.empty()) return;
        urn_.emplace(weights);
        n_drawable_ = static_cast<std::uint32_t>(
            std::count_if(weights.begin(), weights.end(), [](double w) { return w > 0; }));
    }

    /// Starts a node whose first `n_constant` known constants hold. Nodes must come depth first.
    void start(std::size_t n_constant) {
        while (stack_.size() > n_constant) {
            constant_[stack_.back()] = 0;
            stack_.pop_back();
        }
        drawn_ = 0;
        if (urn_) urn_->refill();
    }

    std::optional<std::uint32_t> draw(Bits& bits) {
        if (drawn_ == n_drawable_) return std::nullopt;
        ++drawn_;
        if (in_order_) return order_[drawn_ - 1];
        if (urn_) return urn_->draw(bits);
        const std::uint32_t other = drawn_ - 1 + bits.below(static_cast<std::uint32_t>(order_.size()) - drawn_ + 1);
        std::swap(order_[drawn_ - 1], order_[other]);
        return order_[drawn_ - 1];
    }

    bool is_constant(std::uint32_t feature) const noexcept { return constant_[feature]; }
    void mark_constant(std::uint32_t feature) {
        constant_[feature] = 1;
        stack_.push_back(feature);
    }
    std::size_t n_constant() const noexcept { return stack_.size(); }

private:
    std::vector<std::uint32_t> order_;
    std::optional<WeightedUrn> urn_;
    std::vector<std::uint8_t> constant_;
    std::vector<std::uint32_t> stack_;  // the constant ones, in order of discovery
    std::uint32_t drawn_ = 0, n_drawable_ = 0;
    bool in_order_;
};

}  // namespace foresift
