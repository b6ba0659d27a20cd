#include "kernels/relief.hpp"

#include <numeric>

#include "base/interrupt.hpp"
#include "tests/tools.hpp"

using namespace foresift;
using namespace foresift::tests;

namespace {

std::vector<double> weights_of(const std::vector<double>& rows, const std::vector<std::uint32_t>& n_values,
                               const std::vector<std::int32_t>& target, const ReliefOptions& options,
                               const std::vector<double>& weights = {}) {
    const Relief relief(rows, n_values, target, 2, weights, options);
    std::vector<std::uint32_t> sample(target.size());
    std::iota(sample.begin(), sample.end(), 0U);
    std::vector<double> sums(n_values.size(), 0.0);
    relief.add(sample, sums, {});
    return sums;
}

void a_case_by_hand() {
    // One feature at 0, 0.25 | 0.75, 1: hits at 0.25, misses of the inner rows at 0.5, of the outer ones at 0.75.
    const auto sums = weights_of({0, 0.25, 0.75, 1}, {0}, {0, 0, 1, 1}, {1, true});
    assert(near(sums[0], 2 * 0.75 + 2 * 0.5 - 4 * 0.25));
}

void ties_are_shared() {
    // The row at 0.5 has two misses equally far, one of which differs in the second feature too little to matter.
    const std::vector<double> rows{0.5, 0, 0.5, 0, 0, 0, 1, 0};
    const auto sums = weights_of(rows, {0, 0}, {0, 0, 1, 1}, {1, false});
    const auto turned = weights_of({1, 0, 0, 0, 0.5, 0, 0.5, 0}, {0, 0}, {1, 1, 0, 0}, {1, false});
    assert(near(sums[0], turned[0]) && near(sums[1], 0));
}

void a_weight_is_a_repetition() {
    const auto weighted = weights_of({0, 0.3, 0.6, 1}, {0}, {0, 0, 1, 1}, {2, false}, {2, 1, 1, 3});
    const auto repeated =
        weights_of({0, 0, 0.3, 0.6, 1, 1, 1}, {0}, {0, 0, 0, 1, 1, 1, 1}, {2, false});
    assert(near(weighted[0], repeated[0]));
}

void missing_values() {
    // Numeric: as far as it can be; nominal with two categories: a half.
    const auto numeric = weights_of({0.25, kNaN}, {0}, {0, 1}, {1, false});
    assert(near(numeric[0], 2 * 0.75));
    const auto nominal = weights_of({0, kNaN}, {2}, {0, 1}, {1, false});
    assert(near(nominal[0], 2 * 0.5));
}

void a_quantity() {
    // One neighbour each, 0.25 away in the feature and 0.5 in the quantity.
    const std::vector<double> rows{0, 0.25, 0.75, 1}, quantity{0, 0.5, 0.5, 1};
    const std::vector<std::uint32_t> n_values{0}, sample{0, 1, 2, 3};
    const std::vector<std::int32_t> target(4, 0);
    const Relief relief(rows, n_values, target, 1, {}, {1, false, 0}, quantity);
    std::vector<double> sums(relief.n_sums(), 0.0);
    relief.add(sample, sums, {});
    assert(sums.size() == 3 && near(sums[0], 1) && near(sums[1], 0.5) && near(sums[2], 2));
}

void influence_falls_with_the_rank() {
    // The first row has no hits; its misses at 0.5 and 1 count 1 and e^-1.
    const std::vector<double> rows{0, 0.5, 1};
    const std::vector<std::uint32_t> n_values{0}, sample{0};
    const std::vector<std::int32_t> target{0, 1, 1};
    const Relief relief(rows, n_values, target, 2, {}, {2, false, 1});
    std::vector<double> sums(1);
    relief.add(sample, sums, {});
    assert(near(sums[0], (0.5 + std::exp(-1)) / (1 + std::exp(-1))));
}

void stops_when_asked() {
    const std::vector<double> rows{0, 1};
    const std::vector<std::uint32_t> n_values{0}, sample{0, 1};
    const std::vector<std::int32_t> target{0, 1};
    const Relief relief(rows, n_values, target, 2, {}, {});
    std::vector<double> sums(1);
    bool stopped = false;
    try {
        relief.add(sample, sums, [] { return true; });
    } catch (const Interrupted&) {
        stopped = true;
    }
    assert(stopped);
}

}  // namespace

int main() {
    a_case_by_hand();
    ties_are_shared();
    a_weight_is_a_repetition();
    missing_values();
    a_quantity();
    influence_falls_with_the_rank();
    stops_when_asked();
}
