#include "walk/table_check.hpp"

#include <algorithm>
#include <limits>
#include <stdexcept>
#include <string>

namespace foresift {
namespace {

[[noreturn]] void damaged(const std::string& what) {
    throw std::invalid_argument("The node table is damaged: " + what + ".");
}

// Not 0 if node i of n does not lead on to later nodes of the table, or a leaf leads anywhere. Bits instead of branches:
// leaves and splits come as they like, and a wrong guess would cost more than all of this.
std::uint32_t faults(const Node& node, std::int32_t i, std::uint32_t n) noexcept {
    const auto first = static_cast<std::uint32_t>(node.first_child), feature = static_cast<std::uint32_t>(node.feature);
    const auto missing = static_cast<std::uint32_t>(node.missing_branch);
    const std::uint32_t n_children = node.n_children, no_split = -(first >> 31);  // all ones for a leaf
    const std::uint32_t no_room = (node.first_child <= i) | (first + n_children > n);
    const std::uint32_t no_branch = (node.majority_branch >= n_children) | (missing + 1 > n_children) |
                                    ((node.category_set < 0) & (n_children != 2));
    return (no_split & missing) | (~no_split & (no_room | no_branch)) | ((first ^ feature) >> 31);
}

// The categories of all sets and their branches. Sets share no entries, so that together they are one pass.
void check_sets(const TreeView& tree) {
    const auto n_codes = static_cast<std::int64_t>(tree.set_codes.size());
    if (tree.set_codes.size() != tree.set_branches.size()) damaged("categories and branches differ in number");
    std::int64_t entries = 0;
    for (const Node& node : tree.nodes) {
        if (node.first_child < 0 || node.category_set < 0) continue;
        const auto set = static_cast<std::size_t>(node.category_set);
        if (set + 1 >= tree.set_offsets.size()) damaged("a category set is missing");
        const std::int64_t begin = tree.set_offsets[set], end = tree.set_offsets[set + 1];
        if (begin < 0 || begin > end || end > n_codes) damaged("a category set is out of range");
        entries += end - begin;
        if (entries > n_codes) damaged("a category set has two nodes");
        for (auto k = static_cast<std::size_t>(begin); k < static_cast<std::size_t>(end); ++k)
            if (tree.set_branches[k] >= node.n_children) damaged("a category has no branch");
    }
}

}  // namespace

void check_parents(std::span<const Node> nodes) {
    for (std::size_t i = 0; i < nodes.size(); ++i)
        if (nodes[i].parent < -1 || nodes[i].parent >= static_cast<std::int64_t>(i))
            damaged("a parent does not come before its child");
}

void check_children(const TreeView& tree) {
    for (std::size_t i = 0; i < tree.nodes.size(); ++i)
        for (std::size_t k = 0; tree.nodes[i].first_child >= 0 && k < tree.nodes[i].n_children; ++k)
            if (tree.nodes[static_cast<std::size_t>(tree.nodes[i].first_child) + k].parent != static_cast<std::int64_t>(i))
                damaged("a child has another parent");
}

TreeView checked(TreeView tree) {
    const auto n = static_cast<std::int64_t>(tree.nodes.size());
    if (n == 0 || n > std::numeric_limits<std::int32_t>::max()) damaged("it has no nodes, or too many");
    if (tree.counts.size() != tree.nodes.size() * tree.n_classes) damaged("the counts are not one row per node");
    // A sign bit tells: some missing branch is negative, every category set is.
    std::int32_t last_feature = -1, some_missing = 0, every_set = -1;
    std::uint32_t found = 0;
    for (std::int32_t i = 0; i < static_cast<std::int32_t>(n); ++i) {
        const Node& node = tree.nodes[static_cast<std::size_t>(i)];
        found |= faults(node, i, static_cast<std::uint32_t>(n));
        some_missing |= node.missing_branch;
        every_set &= node.category_set;
        last_feature = std::max(last_feature, node.feature);
    }
    if (found) damaged("children, branches or the feature of a node are out of range");
    tree.n_features = static_cast<std::size_t>(last_feature + std::int64_t{1});
    tree.sets = every_set >= 0;
    tree.fractions = some_missing < 0;
    if (tree.sets) check_sets(tree);
    if (tree.fractions) check_children(tree);  // else a row takes one way down, and it ends
    return tree;
}

}  // namespace foresift
