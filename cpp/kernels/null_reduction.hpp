// What a column that is independent of a quantity reduces of its variance by chance.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "base/interrupt.hpp"

namespace foresift {

/// Shares of the variance of `y` that a column explains when `y` is shuffled along it, `n_permutations` times.
///
/// `sizes` has the number of rows of each value of the column, all positive, in order; they sum up to the number of
/// rows. The share is that of the best cut between two values or, if `multiway`, that of one branch for each value. It
/// is 0 where nothing can be split or `y` is constant. The squares of `y` and their sum must be finite.
/// `stop` is asked between shuffles; true ends the work with Interrupted.
std::vector<double> permuted_reductions(std::span<const double> y, std::span<const std::uint32_t> sizes, bool multiway,
                                        std::uint32_t n_permutations, std::uint64_t seed, const Stop& stop);

}  // namespace foresift
