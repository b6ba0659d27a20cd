#include "kernels/surf.hpp"

#include <numeric>

#include "base/interrupt.hpp"
#include "tests/tools.hpp"

using namespace foresift;
using namespace foresift::tests;

namespace {

std::vector<double> sums_of(const std::vector<double>& rows, const std::vector<std::int32_t>& target,
                            const SurfOptions& options, const std::vector<double>& weights = {},
                            const std::vector<double>& quantity = {}) {
    const std::vector<std::uint32_t> n_values{0};
    const Surf surf(rows, n_values, target, 3, weights, options, quantity);
    std::vector<std::uint32_t> sample(target.size());
    std::iota(sample.begin(), sample.end(), 0U);
    std::vector<double> sums(surf.n_sums(), 0.0);
    surf.add(sample, sums, {});
    return sums;
}

void a_limit_for_all() {
    // The row at 0.4 has the hit at 0 and the miss at 0.7 near, the one at 0 only a hit, the one at 0.7 two misses.
    const auto sums = sums_of({0, 0.4, 0.7, 1}, {0, 0, 1, 2}, {0.5, 0});
    const double seven = 2 * 0.5 / 2 * (0.3 + 0.3);  // (C - 1) / M^2 of the sum of n_c S_c
    assert(near(sums[0], -0.4 + (2 * 0.3 - 0.4) + seven + 2 * 0.3));
}

void what_is_at_the_limit_is_not_near() {
    assert(near(sums_of({0, 0.5, 1}, {0, 1, 2}, {0.5, 0})[0], 0));
}

void a_limit_for_each_row() {
    // Distances of the first row 0.1, 0.9, 1: below 2/3 - 0.4028 / 2 is only the first.
    const std::vector<double> rows{0, 0.1, 0.9, 1};
    assert(near(sums_of(rows, {0, 1, 0, 1}, {})[0], 4 * 0.1));
    assert(near(sums_of(rows, {0, 0, 1, 1}, {})[0], -4 * 0.1));
}

void a_weight_is_a_repetition() {
    const auto weighted = sums_of({0, 0.3, 0.6, 1}, {0, 0, 1, 1}, {}, {2, 1, 1, 3});
    const auto repeated = sums_of({0, 0, 0.3, 0.6, 1, 1, 1}, {0, 0, 0, 1, 1, 1, 1}, {});
    assert(near(weighted[0], repeated[0]));
}

void a_quantity() {
    // Hits differ by less than 0.3.
    const auto sums = sums_of({0, 0.2, 1}, {0, 0, 0}, {0.5, 0.3}, {}, {0, 1, 0.5});
    assert(near(sums[0], 2 * 0.2));
    assert(near(sums_of({0, 0.2, 1}, {0, 0, 0}, {0.5, 0.3}, {}, {0, 0.2, 1})[0], -2 * 0.2));
}

void stops_when_asked() {
    const std::vector<double> rows{0, 1};
    const std::vector<std::uint32_t> n_values{0}, sample{0, 1};
    const std::vector<std::int32_t> target{0, 1};
    const Surf surf(rows, n_values, target, 2, {}, {});
    std::vector<double> sums(1);
    bool stopped = false;
    try {
        surf.add(sample, sums, [] { return true; });
    } catch (const Interrupted&) {
        stopped = true;
    }
    assert(stopped);
}

}  // namespace

int main() {
    a_limit_for_all();
    what_is_at_the_limit_is_not_near();
    a_limit_for_each_row();
    a_weight_is_a_repetition();
    a_quantity();
    stops_when_asked();
}
