// What a feature that knows nothing gains by chance: the distribution of the largest information gain of any cut when
// the rows of two classes lie along the feature in random order, no two on top of each other (Rogers & Gunn 4).
//
// An arrangement of i rows of one class and j of the other is a lattice path from (0, 0) to (i, j); all are equally
// likely. Its gain reaches t if it visits a point whose cut gains t or more, and at each distance from the start the
// points below t are an interval, because the gain is convex there. So the paths that stay inside are counted in a
// narrow band.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "base/interrupt.hpp"
#include "split/splitter.hpp"

namespace foresift {

struct Moments {
    double mean = 0, variance = 0;
};

class NullGain {
public:
    /// A node with `first` and `second` rows of the two classes, one of each at least.
    /// `stop` is asked now and then; true ends the work with Interrupted.
    NullGain(std::uint32_t first, std::uint32_t second, Stop stop = {});

    /// Probability that the best cut gains `gain` bits or more. Accurate in relative terms far into the tail, as long
    /// as the band has at most `most_points` points; beyond that an upper bound of the sum over the cuts of the
    /// probability that each reaches it.
    double tail(double gain, double most_points = 1e9);

    /// Mean and variance of the best gain, from the tail at every value it can take; about n^3 steps for n rows.
    Moments moments();

    /// The same from the tail at `n_points` values, for nodes of hundreds of rows and more.
    Moments approximate_moments(std::uint32_t n_points);

private:
    struct Span {
        std::int64_t low, high;  // both inside; empty where low > high
    };
    void poll(std::int64_t k) const;
    double gain(std::int64_t a, std::int64_t k) const;
    Span feasible(std::int64_t k) const;
    Span inside(std::int64_t k, double below, Span near) const;
    double log_completion(std::int64_t a, std::int64_t k) const;
    double sum_over_cuts(std::span<const Span> band) const;

    Stop stop_;
    std::int64_t i_, j_, n_;  // i_ <= j_
    double parent_, log_p_, log_q_;
    std::vector<double> xlogx_, log_factorial_;
    std::vector<double> now_, next_;
    std::vector<Span> band_;
};

/// Gains of the best split of `column` when the classes of its rows are shuffled, `n_permutations` times. For what the
/// paths cannot count: ties, nominal columns, missing values, more than two classes. 0 where nothing can be split.
/// `stop` is asked between shuffles; true ends the work with Interrupted.
std::vector<double> permuted_gains(const Column& column, std::span<const std::int32_t> target, std::uint32_t n_classes,
                                   const SplitOptions& options, std::uint32_t n_permutations, std::uint64_t seed,
                                   const Stop& stop);

}  // namespace foresift
