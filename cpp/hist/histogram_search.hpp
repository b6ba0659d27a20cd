// The best split of a column by its histogram at a node: what the splitter finds on the rows, without the rows.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "hist/level_sums.hpp"
#include "split/splitter.hpp"

namespace foresift {

/// What the requests of one tree gain at its slots, and how those for the columns themselves split.
struct LevelGains {
    std::vector<double> gains;              // of every request and slot; 0: no split
    std::vector<std::uint32_t> n_children;  // of every request for a column itself, and slot; 0: no split
    std::vector<std::uint8_t> child_of;     // and which child each of kCodes codes goes to
    std::vector<std::int64_t> child_rows;   // how many rows each of these children has, one child after the other
};

/// One tree of a plan. `sums` are those of add_level over all blocks, for this tree; nominal[j] != 0 says that codes of
/// column j have no order. The last code of every column stands for missing.
LevelGains search_level(const LevelPlan& plan, std::size_t tree, std::span<const std::int64_t> sums,
                        std::span<const std::uint8_t> nominal, const SplitOptions& options, const Stop& stop);

}  // namespace foresift
