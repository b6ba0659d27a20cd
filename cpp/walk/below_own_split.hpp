// Which split candidates have nothing new to tell, found by the way up from each.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "grow/node.hpp"

namespace foresift {

/// For every trial whether its feature was split on above the node: what it knew has been used there.
std::vector<std::uint8_t> below_own_split(std::span<const Node> nodes, std::span<const Tried> tried);

}  // namespace foresift
