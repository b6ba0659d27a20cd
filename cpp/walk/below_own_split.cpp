#include "walk/below_own_split.hpp"

namespace foresift {

std::vector<std::uint8_t> below_own_split(std::span<const Node> nodes, std::span<const Tried> tried) {
    std::vector<std::uint8_t> below(tried.size(), 0);
    for (std::size_t t = 0; t < tried.size(); ++t)
        below[t] = split_above(nodes, tried[t].node, tried[t].feature);
    return below;
}

}  // namespace foresift
