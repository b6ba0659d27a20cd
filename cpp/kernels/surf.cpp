#include "kernels/surf.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace foresift {
namespace {

constexpr std::size_t kTogether = 16;   // rows whose distances to a tile are found one after another
constexpr std::size_t kTile = 1 << 14;  // values of the rows that are compared with several others while at hand

}  // namespace

Surf::Surf(std::span<const double> rows, std::span<const std::uint32_t> n_values, std::span<const std::int32_t> target,
           std::uint32_t n_classes, std::span<const double> weights, const SurfOptions& options,
           std::span<const double> quantity)
    : differences_(rows, n_values), target_(target), weights_(weights), quantity_(quantity), options_(options),
      n_groups_(quantity.empty() ? n_classes : 2) {
    if (!quantity_.empty()) return;
    std::vector<bool> present(n_classes);
    for (const auto c : target_) present[static_cast<std::size_t>(c)] = true;
    n_other_classes_ = double(std::ranges::count(present, true)) - 1;
}

// How often `of` is there beside `row`: a row is not its own neighbour, but its repetitions are.
double Surf::copies(std::uint32_t row, std::uint32_t of) const noexcept {
    return of == row ? std::max(0.0, weight(row) - 1) : weight(of);
}

// The class; of a quantity 0 for hits and 1 for misses.
std::size_t Surf::group(std::uint32_t row, std::uint32_t other) const noexcept {
    if (quantity_.empty()) return static_cast<std::size_t>(target_[other]);
    return std::abs(quantity_[row] - quantity_[other]) < options_.hit_below - kDistanceTie ? 0 : 1;
}

double Surf::limit(std::uint32_t row, std::span<const double> distances) const {
    if (options_.limit >= 0) return options_.limit;
    double total = 0, mean = 0, squares = 0;
    for (std::uint32_t i = 0; i < n_rows(); ++i) {
        const double w = copies(row, i);
        total += w;
        mean += w * distances[i];
    }
    mean /= total;
    for (std::uint32_t i = 0; i < n_rows(); ++i)
        squares += copies(row, i) * (distances[i] - mean) * (distances[i] - mean);
    return mean - std::sqrt(squares / total) / 2;
}

// What the near hits and misses of a row say of the features; `group_weight` has an entry per group.
void Surf::judge(std::uint32_t row, std::span<const double> distances, std::span<double> group_weight,
                 std::span<double> sums) const {
    const double most = limit(row, distances) - kDistanceTie * double(differences_.n_features());
    const auto near = [&](std::uint32_t i) { return distances[i] < most && copies(row, i) > 0; };
    std::ranges::fill(group_weight, 0.0);
    for (std::uint32_t i = 0; i < n_rows(); ++i)
        if (near(i)) group_weight[group(row, i)] += copies(row, i);
    const std::size_t own = quantity_.empty() ? group(row, row) : 0;
    double misses = 0;
    for (std::size_t g = 0; g < group_weight.size(); ++g) misses += g == own ? 0 : group_weight[g];
    for (std::uint32_t i = 0; i < n_rows(); ++i) {
        if (!near(i)) continue;
        const std::size_t g = group(row, i);
        // Shares first: one over the least of weights is infinite.
        const double share = g == own ? -copies(row, i) / group_weight[g]
                                      : n_other_classes_ * (group_weight[g] / misses) * (copies(row, i) / misses);
        differences_.add(row, i, weight(row) * share, sums);
    }
}

void Surf::add(std::span<const std::uint32_t> sample, std::span<double> sums, const Stop& stop) const {
    const std::size_t n = n_rows(), tile = std::max<std::size_t>(kTile / differences_.n_features(), 8);
    std::vector<double> distances(kTogether * n), group_weight(n_groups_);
    for (std::size_t begin = 0; begin < sample.size(); begin += kTogether) {
        const auto together = sample.subspan(begin, std::min(kTogether, sample.size() - begin));
        for (std::size_t first = 0; first < n; first += tile) {
            check_stop(stop);
            for (std::size_t t = 0; t < together.size(); ++t)
                for (std::size_t i = first; i < std::min(first + tile, n); ++i)
                    distances[t * n + i] = differences_.distance(together[t], static_cast<std::uint32_t>(i));
        }
        for (std::size_t t = 0; t < together.size(); ++t) {
            check_stop(stop);
            judge(together[t], std::span(distances).subspan(t * n, n), group_weight, sums);
        }
    }
}

}  // namespace foresift
