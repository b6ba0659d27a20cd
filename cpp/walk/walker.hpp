// How a row finds its way down a tree, whether its values are the user's or the codes of the column store.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <type_traits>
#include <vector>

#include "walk/table_check.hpp"

namespace foresift {

/// The child that a category takes; one that the node has not seen takes the largest.
template <class Number>
std::int32_t category_branch(const TreeView& tree, const Node& node, Number category) noexcept {
    const auto* first = tree.set_codes.data() + tree.set_offsets[node.category_set];
    const auto* last = tree.set_codes.data() + tree.set_offsets[node.category_set + 1];
    const auto* at = std::lower_bound(first, last, category);
    return at != last && *at == category ? tree.set_branches[at - tree.set_codes.data()] : node.majority_branch;
}

/// leaves[i] = where row_at(i) ends. next(node, row) is the node to go to; a leaf leads to itself. Several rows walk
/// side by side, so that the waits for memory overlap.
template <class RowAt, class Next>
void find_ends(RowAt row_at, Next next, std::span<std::int32_t> leaves) {
    constexpr std::size_t kLanes = 16;
    for (std::size_t begin = 0; begin < leaves.size(); begin += kLanes) {
        const std::size_t lanes = std::min(kLanes, leaves.size() - begin);
        std::invoke_result_t<RowAt, std::size_t> rows[kLanes];
        std::int32_t at[kLanes] = {};
        for (std::size_t k = 0; k < kLanes; ++k) rows[k] = row_at(begin + std::min(k, lanes - 1));
        bool moved = true;
        while (moved) {
            std::int32_t changed = 0;
            for (std::size_t k = 0; k < kLanes; ++k) {
                const std::int32_t to = next(at[k], rows[k]);
                changed |= to ^ at[k];
                at[k] = to;
            }
            moved = changed != 0;
        }
        std::copy_n(at, lanes, leaves.begin() + static_cast<std::ptrdiff_t>(begin));
    }
}

/// Adds the class shares of a row that may reach several leaves in parts. branch_at(node) is the child it takes, or -1
/// for all of them.
template <class BranchAt>
void add_parts(const TreeView& tree, BranchAt branch_at, double* out) {
    struct Part {
        std::int32_t node;
        double share;
    };
    std::vector<Part> parts{{0, 1.0}};
    while (!parts.empty()) {
        const Part part = parts.back();
        parts.pop_back();
        const Node& node = tree.nodes[part.node];
        if (node.first_child < 0) {
            for (std::size_t c = 0; c < tree.n_classes; ++c)
                out[c] += part.share * tree.counts[part.node * tree.n_classes + c] / node.size;
            continue;
        }
        const std::int32_t branch = branch_at(part.node);
        double size = 0;
        for (std::int32_t k = 0; k < node.n_children; ++k) size += tree.nodes[node.first_child + k].size;
        for (std::int32_t k = 0; k < node.n_children; ++k) {
            const auto child = node.first_child + k;
            if (branch == k)
                parts.push_back({child, part.share});
            else if (branch < 0 && tree.nodes[child].size > 0)
                parts.push_back({child, part.share * tree.nodes[child].size / size});
        }
    }
}

}  // namespace foresift
