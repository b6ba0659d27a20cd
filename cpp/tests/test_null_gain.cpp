// What an irrelevant feature gains by chance: counted paths against every arrangement, bounds, shuffled classes.
#include "kernels/null_gain.hpp"

#include <algorithm>
#include <map>

#include "base/interrupt.hpp"
#include "tests/tools.hpp"

using namespace foresift;
using namespace foresift::tests;

namespace {

/// Largest gain of any cut of rows that lie in this order.
double best_cut(const std::vector<int>& rows) {
    double best = 0;
    for (std::size_t cut = 1; cut < rows.size(); ++cut) {
        Counts left(2), right(2);
        for (std::size_t k = 0; k < rows.size(); ++k) ++(k < cut ? left : right)[std::size_t(rows[k])];
        best = std::max(best, textbook_gain(Criterion::entropy, left, right));
    }
    return best;
}

/// The best gain of every arrangement, each equally likely, in order.
std::vector<double> every_arrangement(std::uint32_t i, std::uint32_t j) {
    std::vector<int> rows(i, 0);
    rows.resize(i + j, 1);
    std::vector<double> gains;
    do gains.push_back(best_cut(rows));
    while (std::next_permutation(rows.begin(), rows.end()));
    std::sort(gains.begin(), gains.end());
    return gains;
}

double share_reaching(const std::vector<double>& gains, double gain) {
    return double(gains.end() - std::lower_bound(gains.begin(), gains.end(), gain - 1e-12)) / double(gains.size());
}

Moments moments_of(const std::vector<double>& gains) {
    double mean = 0, variance = 0;
    for (const double g : gains) mean += g / double(gains.size());
    for (const double g : gains) variance += (g - mean) * (g - mean) / double(gains.size());
    return {mean, variance};
}

/// Twice one over the number of arrangements: the two that part the classes wholly.
double both_perfect(std::uint32_t i, std::uint32_t j) {
    double log_ways = 0;
    for (std::uint32_t k = 1; k <= i; ++k) log_ways += std::log(double(j + k)) - std::log(double(k));
    return 2 * std::exp(-log_ways);
}

void paths_are_arrangements() {
    for (std::uint32_t n = 2; n <= 10; ++n)
        for (std::uint32_t i = 1; i < n; ++i) {
            const auto gains = every_arrangement(i, n - i);
            NullGain null(i, n - i);
            const Moments counted = null.moments(), literal = moments_of(gains);
            assert(near(counted.mean, literal.mean, 1e-12) && near(counted.variance, literal.variance, 1e-12));
            for (const double g : gains) {
                assert(near(null.tail(g), share_reaching(gains, g), 1e-12));
                assert(near(null.tail(g + 1e-9), share_reaching(gains, g + 1e-9), 1e-12));
            }
            assert(near(null.tail(0), 1) && near(null.tail(-1), 1));
            assert(null.tail(1.1) == 0);
        }
}

void the_order_of_the_classes_does_not_matter() {
    for (const auto& [i, j] : {std::pair(3U, 40U), {17U, 20U}, {1U, 99U}}) {
        NullGain one(i, j), two(j, i);
        assert(one.moments().mean == two.moments().mean);
        assert(one.tail(0.1) == two.tail(0.1));
    }
}

void the_tail_is_accurate_far_out() {
    for (const auto& [i, j] : {std::pair(2U, 2U), {1U, 7U}, {10U, 10U}, {50U, 90U}, {340U, 340U}, {500U, 500U}}) {
        NullGain null(i, j);
        const double most = entropy({double(i), double(j)});
        const double expected = both_perfect(i, j);
        assert(expected > 0);
        assert(std::abs(null.tail(most) / expected - 1) < 1e-9);
    }
    assert(both_perfect(340, 340) < 1e-200);
}

void the_sum_over_cuts_bounds_the_tail() {
    for (const auto& [i, j] : {std::pair(1U, 1U), {1U, 30U}, {5U, 7U}, {30U, 30U}, {12U, 150U}, {200U, 300U}}) {
        NullGain null(i, j);
        double before = 1;
        for (int step = 1; step <= 60; ++step) {
            const double gain = entropy({double(i), double(j)}) * step * step / 3600;
            const double exact = null.tail(gain), bound = null.tail(gain, 0);
            assert(exact <= before * (1 + 1e-12));  // falls with the gain
            assert(bound >= exact * (1 - 1e-10) && bound <= 1);
            before = exact;
        }
    }
    // Far out two cuts hardly ever reach it together: the bound is close.
    NullGain null(200, 300);
    const double gain = 0.2, exact = null.tail(gain), bound = null.tail(gain, 0);
    assert(exact < 1e-25 && bound < 20 * exact);
}

void few_points_are_enough_for_moments() {
    for (const auto& [i, j] : {std::pair(1U, 199U), {7U, 193U}, {40U, 160U}, {100U, 100U}}) {
        NullGain null(i, j);
        const Moments all = null.moments(), few = null.approximate_moments(400);
        assert(std::abs(few.mean / all.mean - 1) < 1e-3);
        assert(std::abs(few.variance / all.variance - 1) < 1e-2);
    }
}

std::vector<double> shuffled(const Column& column, const std::vector<std::int32_t>& target, std::uint32_t n_classes,
                             bool multiway, std::uint32_t times, std::uint64_t seed) {
    SplitOptions options;
    options.multiway = multiway;
    return permuted_gains(column, target, n_classes, options, times, seed, nullptr);
}

void shuffles_meet_the_counted_mean() {
    std::vector<double> values;
    std::vector<std::int32_t> target;
    for (int k = 0; k < 12; ++k) values.push_back(k), target.push_back(k < 5);
    const auto gains = shuffled(code_numeric<double>(values, kMaxCodes), target, 2, false, 20000, 1);
    const Moments seen = moments_of(gains), counted = NullGain(5, 7).moments();
    assert(gains.size() == 20000);
    assert(std::abs(seen.mean - counted.mean) < 5 * std::sqrt(counted.variance / 20000));
    assert(std::abs(seen.variance / counted.variance - 1) < 0.1);
}

void shuffles_depend_on_their_seed_alone() {
    const std::vector<std::int32_t> codes{0, 1, 2, -1, 0, 1, 2, 2, 1}, target{0, 1, 2, 0, 1, 2, 0, 1, 2};
    const Column column = code_nominal(codes, 3);
    for (const bool multiway : {false, true}) {
        const auto one = shuffled(column, target, 3, multiway, 50, 7);
        assert(one == shuffled(column, target, 3, multiway, 50, 7));
        assert(one != shuffled(column, target, 3, multiway, 50, 8));
        const auto fewer = shuffled(column, target, 3, multiway, 20, 7);
        assert(std::equal(fewer.begin(), fewer.end(), one.begin()));
    }
}

void a_column_without_a_split_gains_nothing() {
    const std::vector<std::int32_t> target{0, 1, 0, 1}, one_category(4, 0);
    const std::vector<double> constant(4, 3.0);
    for (const double g : shuffled(code_numeric<double>(constant, kMaxCodes), target, 2, false, 10, 0)) assert(g == 0);
    for (const double g : shuffled(code_nominal(one_category, 1), target, 2, true, 10, 0)) assert(g == 0);
}

void shuffling_can_be_stopped() {
    const std::vector<double> values{1, 2, 3, 4};
    const std::vector<std::int32_t> target{0, 1, 0, 1};
    int asked = 0;
    bool interrupted = false;
    try {
        permuted_gains(code_numeric<double>(values, kMaxCodes), target, 2, {}, 1000, 0, [&] { return ++asked > 5; });
    } catch (const Interrupted&) {
        interrupted = true;
    }
    assert(interrupted && asked == 6);
}

void counting_can_be_stopped() {
    bool wanted = false;
    NullGain null(2000, 3000, [&] { return wanted; });
    const double tail = null.tail(0.001), bound = null.tail(0.01, 0);
    assert(tail > 0 && tail < 1 && bound > 0 && bound < 1);
    wanted = true;
    for (const double most_points : {1e9, 0.0}) {
        bool interrupted = false;
        try {
            null.tail(0.001, most_points);
        } catch (const Interrupted&) {
            interrupted = true;
        }
        assert(interrupted);
    }
    wanted = false;
    assert(null.tail(0.001) == tail);  // none the worse for it
}

void every_order_is_equally_likely() {
    std::map<std::vector<int>, int> seen;
    Bits bits(3, 0, kShuffleStream);
    constexpr int kTimes = 24000;
    for (int t = 0; t < kTimes; ++t) {
        std::vector<int> items{0, 1, 2, 3};
        shuffle(items, bits);
        ++seen[items];
    }
    assert(seen.size() == 24);
    for (const auto& [order, times] : seen) assert(std::abs(times - kTimes / 24) < 5 * std::sqrt(kTimes / 24.0));
    std::vector<int> none;
    shuffle(none, bits);
    assert(none.empty());
}

}  // namespace

int main() {
    paths_are_arrangements();
    the_order_of_the_classes_does_not_matter();
    the_tail_is_accurate_far_out();
    the_sum_over_cuts_bounds_the_tail();
    few_points_are_enough_for_moments();
    shuffles_meet_the_counted_mean();
    shuffles_depend_on_their_seed_alone();
    a_column_without_a_split_gains_nothing();
    shuffling_can_be_stopped();
    counting_can_be_stopped();
    every_order_is_equally_likely();
    return passed("null_gain");
}
