// Node complexity of a quantity: in how many ways the rows of a node can be arranged along a feature, in bits.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <span>
#include <vector>

#include "split/node_rows.hpp"

namespace foresift {

/// Rogers & Gunn (eq. 6-10) with equal values in place of classes: with n rows and t_v of value v there are
/// C = n! / prod t_v! arrangements, A = floor(n/2)! / prod floor(t_v/2)! of which are their own mirror image if at most
/// one t_v is odd, else none; the complexity is log2 C - (1 - A / C). Weights that are not whole have gamma functions
/// for factorials and no mirror images.
class Complexity {
public:
    /// Members of equal value must be neighbours.
    template <class Case>
    double of(std::span<const Member<Case>> members) {
        start();
        for (std::size_t i = 0; i < members.size();) {
            double weight = 0;
            const double value = members[i].of.y();
            for (; i < members.size() && members[i].of.y() == value; ++i) weight += double(members[i].of.weight());
            add(weight);
        }
        return finish();
    }

private:
    void start() noexcept { n_ = ties_ = half_ties_ = 0, n_odd_ = 0, whole_ = true; }
    void add(double weight) {
        n_ += weight;
        ties_ += log_factorial(weight);
        whole_ = whole_ && weight == std::floor(weight);
        const double half = std::floor(weight / 2);
        n_odd_ += 2 * half != weight;
        if (weight > 3) half_ties_ += log_factorial(half);
    }
    double finish() {
        const double ways = log_factorial(n_) - ties_;
        const double mirrored = whole_ && n_odd_ <= 1 ? std::exp(log_factorial(std::floor(n_ / 2)) - half_ties_ - ways) : 0.0;
        return std::max(0.0, ways / std::log(2.0) - (1 - mirrored));
    }
    double log_factorial(double x) {
        if (x != std::floor(x) || x >= kTable) return log_gamma(x + 1);
        while (table_.size() <= static_cast<std::size_t>(x))
            table_.push_back(table_.empty() ? 0.0 : table_.back() + std::log(std::max<double>(1, double(table_.size()))));
        return table_[static_cast<std::size_t>(x)];
    }
    // Stirling's series, for x >= 1; std::lgamma writes to a global variable.
    static double log_gamma(double x) noexcept {
        double before = 0;
        for (; x < 10; ++x) before += std::log(x);
        const double i = 1 / x, i2 = i * i;
        return (x - 0.5) * std::log(x) - x + 0.91893853320467274178 +
               i * (1.0 / 12 - i2 * (1.0 / 360 - i2 * (1.0 / 1260 - i2 * (1.0 / 1680 - i2 / 1188)))) - before;
    }

    static constexpr double kTable = 1024;
    double n_ = 0, ties_ = 0, half_ties_ = 0;  // logarithms of products of factorials
    std::size_t n_odd_ = 0;
    bool whole_ = true;
    std::vector<double> table_;
};

}  // namespace foresift
