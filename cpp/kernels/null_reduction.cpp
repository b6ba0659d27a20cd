#include "kernels/null_reduction.hpp"

#include <algorithm>
#include <cstddef>

#include "base/rng.hpp"

namespace foresift {
namespace {

/// The values less their mean, so that nothing is lost in the squares of sums.
std::vector<double> centred(std::span<const double> y) {
    std::vector<double> values(y.begin(), y.end());
    for (int pass = 0; pass < 2; ++pass) {  // the second takes what the first has left by rounding
        double sum = 0;
        for (const double v : values) sum += v;
        for (double& v : values) v -= sum / double(values.size());
    }
    return values;
}

/// Largest sum of squares between the two sides of a cut; the values sum up to 0.
double best_cut(std::span<const double> values, std::span<const std::uint32_t> sizes) {
    const double n = double(values.size());
    double left = 0, best = 0;
    std::size_t row = 0;
    for (const std::uint32_t size : sizes.first(sizes.size() - 1)) {
        for (const std::size_t end = row + size; row < end; ++row) left += values[row];
        best = std::max(best, left * left * n / (double(row) * (n - double(row))));
    }
    return best;
}

/// Sum of squares between all groups.
double between(std::span<const double> values, std::span<const std::uint32_t> sizes) {
    double squares = 0;
    std::size_t row = 0;
    for (const std::uint32_t size : sizes) {
        double sum = 0;
        for (const std::size_t end = row + size; row < end; ++row) sum += values[row];
        squares += sum * sum / double(size);
    }
    return squares;
}

}  // namespace

std::vector<double> permuted_reductions(std::span<const double> y, std::span<const std::uint32_t> sizes, bool multiway,
                                        std::uint32_t n_permutations, std::uint64_t seed, const Stop& stop) {
    std::vector<double> shares(n_permutations, 0.0);
    if (sizes.size() < 2) return shares;
    std::vector<double> values = centred(y);
    double total = 0;
    for (const double v : values) total += v * v;
    if (total == 0) return shares;
    Bits bits(seed, 0, kShuffleStream);
    for (double& share : shares) {
        check_stop(stop);
        shuffle(values, bits);
        share = std::min(1.0, (multiway ? between(values, sizes) : best_cut(values, sizes)) / total);
    }
    return shares;
}

}  // namespace foresift
