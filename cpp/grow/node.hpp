// A grown tree: the flat node table.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace foresift {

/// One row of the node table; children are contiguous. The Python side reads it as a structured array.
struct Node {
    std::int32_t parent = -1;
    std::int32_t first_child = -1;   // -1: leaf
    std::int32_t feature = -1;       // -1: leaf
    std::int32_t category_set = -1;  // -1: numeric cut
    std::uint16_t n_children = 0;
    std::uint16_t majority_branch = 0;  // the largest child: where an unseen category goes
    std::int32_t missing_branch = 0;    // child a missing value takes; -1: all of them, as fractions
    double threshold = 0;  // numeric: x <= threshold takes child 0, else child 1
    double gain = 0;
    double size = 0;  // weight of the rows
};
static_assert(sizeof(Node) == 48);

/// Whether a node above this one is split by the feature.
inline bool split_above(std::span<const Node> nodes, std::int32_t at, std::int32_t feature) {
    for (at = nodes[at].parent; at >= 0; at = nodes[at].parent)
        if (nodes[at].feature == feature) return true;
    return false;
}

/// The gain of one feature tried at one node, whether it won or not.
struct Tried {
    std::int32_t node;
    std::int32_t feature;
    double gain;
};

/// Category set s holds set_codes[set_offsets[s] .. set_offsets[s + 1]), each with its child.
struct Tree {
    std::vector<Node> nodes;
    std::vector<double> counts;  // per node the weights of its classes, or the weighted sum of a quantity
    std::vector<std::int32_t> set_offsets{0};
    std::vector<std::uint16_t> set_codes, set_branches;
    std::vector<Tried> tried;
    std::vector<double> complexity;  // of a quantity, per node; 0 for leaves of one value. See complexity.hpp
    std::vector<double> variance;    // of a quantity, per node that tried columns; recorded with `tried`
    std::vector<double> permuted;  // per trial, n_permutations or n_shadows gains; NaN: not asked for
};

}  // namespace foresift
