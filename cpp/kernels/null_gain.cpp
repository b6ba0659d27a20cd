#include "kernels/null_gain.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "split/criterion.hpp"

namespace foresift {
namespace {

// A gain that differs from the asked one by rounding alone counts as reached.
constexpr double kRounding = 1e-11;
// Tails below this add nothing to a moment.
constexpr double kNothing = 1e-17;
// Cuts this close to an end have few outcomes.
constexpr std::int64_t kEnd = 12;
constexpr double kWhatItTakes = std::numeric_limits<double>::infinity();

}  // namespace

NullGain::NullGain(std::uint32_t first, std::uint32_t second, Stop stop)
    : stop_(std::move(stop)), i_(std::min(first, second)), j_(std::max(first, second)), n_(i_ + j_), xlogx_(n_ + 1), log_factorial_(n_ + 1) {
    for (std::int64_t m = 1; m <= n_; ++m) {
        poll(m);
        xlogx_[m] = xlog2x(double(m));
        log_factorial_[m] = log_factorial_[m - 1] + std::log(double(m));
    }
    parent_ = xlogx_[n_] - xlogx_[i_] - xlogx_[j_];
    log_p_ = std::log(double(i_) / double(n_));
    log_q_ = std::log(double(j_) / double(n_));
}

void NullGain::poll(std::int64_t k) const {
    if (k % 256 == 0) check_stop(stop_);
}

// Gain in bits of the cut behind the first k rows, `a` of them of the rarer class.
double NullGain::gain(std::int64_t a, std::int64_t k) const {
    const double left = xlogx_[k] - xlogx_[a] - xlogx_[k - a];
    const double right = xlogx_[n_ - k] - xlogx_[i_ - a] - xlogx_[j_ - (k - a)];
    return (parent_ - left - right) / double(n_);
}

NullGain::Span NullGain::feasible(std::int64_t k) const {
    return {std::max<std::int64_t>(0, k - j_), std::min(i_, k)};
}

// The points at distance k whose gain is below `below`; `near` is a guess.
NullGain::Span NullGain::inside(std::int64_t k, double below, Span near) const {
    const Span all = feasible(k);
    const std::int64_t centre = std::clamp(i_ * k / n_, all.low, all.high);
    Span band{std::clamp(near.low, all.low, centre), std::clamp(near.high, std::min(centre + 1, all.high), all.high)};
    while (band.low > all.low && gain(band.low - 1, k) < below) --band.low;
    while (band.low <= band.high && gain(band.low, k) >= below) ++band.low;
    while (band.high < all.high && gain(band.high + 1, k) < below) ++band.high;
    while (band.low <= band.high && gain(band.high, k) >= below) --band.high;
    return band;
}

// Logarithm of the weight of all ways from (a, k) to the end, over that of all ways from the start to the end, when a
// step to the rarer class weighs p and one to the other q.
double NullGain::log_completion(std::int64_t a, std::int64_t k) const {
    const std::int64_t b = k - a;
    return log_factorial_[n_ - k] - log_factorial_[i_ - a] - log_factorial_[j_ - b] - log_factorial_[n_] +
           log_factorial_[i_] + log_factorial_[j_] - double(a) * log_p_ - double(b) * log_q_;
}

double NullGain::tail(double gain_asked, double most_points) {
    const double below = gain_asked - kRounding;
    band_.assign(n_, {0, 0});
    double points = 0;
    for (std::int64_t k = 1; k < n_; ++k) {
        const Span near = band_[k - 1];
        band_[k] = inside(k, below, {near.low, near.high + 1});
        if (band_[k].low > band_[k].high) return 1.0;  // no way through
        poll(k);
        points += double(band_[k].high - band_[k].low + 1);
    }
    if (points > most_points) return sum_over_cuts(band_);

    const double p = std::exp(log_p_), q = std::exp(log_q_);
    now_.assign(i_ + 3, 0.0), next_.assign(i_ + 3, 0.0);
    double* now = now_.data() + 1;  // so that now[-1] is 0
    double* next = next_.data() + 1;
    now[0] = 1;
    double caught = 0;
    for (std::int64_t k = 1; k < n_; ++k) {
        const Span from = band_[k - 1], to = band_[k], all = feasible(k);
        const std::int64_t low = std::max(from.low, all.low), high = std::min(from.high + 1, all.high);
        for (std::int64_t a = low; a <= high; ++a) next[a] = p * now[a - 1] + q * now[a];
        const auto catch_at = [&](std::int64_t a) {
            caught += next[a] * std::exp(log_completion(a, k));
            next[a] = 0;
        };
        for (std::int64_t a = low; a <= high && a < to.low; ++a) catch_at(a);
        for (std::int64_t a = high; a >= low && a > to.high; --a) catch_at(a);
        next[low - 1] = next[std::min(high, i_) + 1] = 0;
        poll(k);
        std::swap(now, next);
    }
    return std::min(caught, 1.0);
}

// Bonferroni: at each cut, the two tails of the hypergeometric distribution outside the band.
double NullGain::sum_over_cuts(std::span<const Span> band) const {
    double sum = 0;
    for (std::int64_t k = 1; k < n_; ++k) {
        const Span all = feasible(k);
        const auto probability = [&](std::int64_t a) {
            const std::int64_t b = k - a;
            return std::exp(log_factorial_[k] - log_factorial_[a] - log_factorial_[b] + log_factorial_[n_ - k] -
                            log_factorial_[i_ - a] - log_factorial_[j_ - b] - log_factorial_[n_] + log_factorial_[i_] +
                            log_factorial_[j_]);
        };
        // The terms outside fall faster than a geometric series that begins like them.
        const auto add = [&](std::int64_t a, std::int64_t step) {
            if (a < all.low || a > all.high) return;
            const double first = probability(a);
            const bool last = a + step < all.low || a + step > all.high;
            const double ratio = last || first == 0 ? 0.0 : probability(a + step) / first;
            sum += ratio < 1 ? first / (1 - ratio) : 1.0;
        };
        add(band[k].low - 1, -1);
        add(band[k].high + 1, 1);
        if (sum >= 1) return 1.0;
        poll(k);
    }
    return sum;
}

Moments NullGain::moments() {
    std::vector<double> gains;
    for (std::int64_t k = 1; 2 * k <= n_; ++k) {  // a cut and its mirror image gain the same
        const Span all = feasible(k);
        for (std::int64_t a = all.low; a <= all.high; ++a) gains.push_back(gain(a, k));
    }
    std::sort(gains.begin(), gains.end());
    double first = 0, second = 0, before = 0;
    for (const double g : gains) {
        if (g - before <= kRounding) continue;
        const double reached = tail(g, kWhatItTakes);
        first += (g - before) * reached;
        second += (g * g - before * before) * reached;
        before = g;
        if (reached < kNothing) break;
    }
    return {first, second - first * first};
}

Moments NullGain::approximate_moments(std::uint32_t n_points) {
    // n times the gain in nats is half a squared normal deviate at each cut: 10 of them are far outside.
    const double most = std::min(parent_ / double(n_), 50 / (std::log(2.0) * double(n_)));
    std::vector<double> gains;
    for (std::uint32_t m = 1; m <= n_points; ++m) gains.push_back(most * m / n_points * m / n_points);
    // Cuts near an end gain one of a few values, each with a sizeable probability: jumps that must be met exactly.
    for (std::int64_t k = 1; k <= std::min<std::int64_t>(kEnd, n_ / 2); ++k)
        for (std::int64_t a = feasible(k).low; a <= feasible(k).high; ++a)
            if (const double g = gain(a, k); g > 0 && g < most) gains.push_back(g);
    std::sort(gains.begin(), gains.end());
    double first = 0, second = 0, before = 0, reached_before = 1;
    for (const double g : gains) {
        if (g - before <= 4 * kRounding) continue;
        const double mean = (reached_before + tail(g, kWhatItTakes)) / 2;
        first += (g - before) * mean;
        second += (g * g - before * before) * mean;
        before = g;
        reached_before = tail(g + 2 * kRounding, kWhatItTakes);
        if (reached_before < kNothing) break;
    }
    return {first, second - first * first};
}

std::vector<double> permuted_gains(const Column& column, std::span<const std::int32_t> target, std::uint32_t n_classes,
                                   const SplitOptions& options, std::uint32_t n_permutations, std::uint64_t seed,
                                   const Stop& stop) {
    std::vector<double> xlogx(target.size() + 1);
    for (std::size_t m = 0; m < xlogx.size(); ++m) xlogx[m] = xlog2x(double(m));
    const EntropyScore<TableLog> score{{xlogx.data()}};
    Splitter<CountCase, EntropyScore<TableLog>> splitter(score, options);
    std::vector<Member<CountCase>> members;
    std::vector<CountCase> cases;
    Tally<CountCase::Weight> totals(n_classes);
    for (std::uint32_t row = 0; row < target.size(); ++row) {
        cases.push_back(CountCase::make(static_cast<std::uint32_t>(target[row]), 1));
        members.push_back({row, cases.back()});
        totals.add(cases.back());
    }
    Bits bits(seed, 0, kShuffleStream);
    std::vector<double> gains;
    Split split;
    while (gains.size() < n_permutations) {
        check_stop(stop);
        shuffle(cases, bits);
        for (std::size_t i = 0; i < members.size(); ++i) members[i].of = cases[i];
        splitter.best(column, Codes::of(column), {members, totals}, 0.0, bits, split);
        gains.push_back(split.found() ? split.gain : 0.0);
    }
    return gains;
}

}  // namespace foresift
