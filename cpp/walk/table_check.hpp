// What a node table must be before anything walks it: tables are unpickled, and Python can write to them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "grow/node.hpp"

namespace foresift {

/// A node table that lives elsewhere; the same arrays as in Tree. Only one that `checked` returned may be walked.
struct TreeView {
    std::span<const Node> nodes;
    std::span<const double> counts;
    std::span<const std::int32_t> set_offsets;
    std::span<const std::uint16_t> set_codes, set_branches;
    std::size_t n_classes = 0;
    // What `checked` has seen.
    std::size_t n_features = 0;  // rows must have so many columns
    bool sets = false;           // some split is by sets of categories
    bool fractions = false;      // at some split missing values take all branches
};

/// A tree that was grown here needs no check.
inline TreeView view_of(const Tree& tree, std::size_t n_classes) {
    return {tree.nodes, tree.counts, tree.set_offsets, tree.set_codes, tree.set_branches, n_classes};
}

/// Looks at every node once, for a table can come from anywhere. Throws std::invalid_argument unless children come after
/// their parents, branches, features, counts and category sets are there, and each way down can be walked; where rows
/// take several of them, see check_children.
TreeView checked(TreeView tree);

/// Throws unless no node has two parents, so that all ways down together are no longer than the table. For a table that
/// `checked` returned.
void check_children(const TreeView& tree);

/// Throws unless every parent comes before its children: what the way up needs.
void check_parents(std::span<const Node> nodes);

}  // namespace foresift
