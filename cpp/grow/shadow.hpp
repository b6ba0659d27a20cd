// Shadow features: the values of every column in the rows' places permuted.
#pragma once

#include <cstdint>
#include <vector>

namespace foresift {

/// A permutation of the rows; see Grower::shadow_rows and Grower::shadow_ratios.
struct Shadow {
    std::vector<std::uint32_t> rows;
    std::vector<double> ratios;
};

}  // namespace foresift
