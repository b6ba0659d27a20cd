// What a node table must be before anything walks it.
#include <algorithm>
#include <limits>
#include <stdexcept>
#include <string>

#include "predict.hpp"

namespace foresift {
namespace {

[[noreturn]] void refuse(const char* what) {
    throw std::invalid_argument(std::string("The node table is damaged: ") + what + ".");
}

// The categories of one set and their branches. Sets share no entries, so that all of them together are one pass.
void check_set(const TreeView& tree, const Node& node, std::size_t& entries) {
    const auto set = static_cast<std::size_t>(node.category_set);
    if (set + 1 >= tree.set_offsets.size()) refuse("a category set is missing");
    const std::int64_t begin = tree.set_offsets[set], end = tree.set_offsets[set + 1];
    if (begin < 0 || begin > end || end > static_cast<std::int64_t>(tree.set_codes.size()))
        refuse("a category set is out of range");
    entries += static_cast<std::size_t>(end - begin);
    if (entries > tree.set_codes.size()) refuse("a category set has two nodes");
    for (auto i = static_cast<std::size_t>(begin); i < static_cast<std::size_t>(end); ++i)
        if (tree.set_branches[i] >= node.n_children) refuse("a category has no branch");
}

}  // namespace

void check_parents(std::span<const Node> nodes) {
    for (std::size_t i = 0; i < nodes.size(); ++i)
        if (nodes[i].parent < -1 || nodes[i].parent >= static_cast<std::int64_t>(i))
            refuse("a parent does not come before its child");
}

TreeView checked(TreeView tree) {
    const auto nodes = tree.nodes;
    const auto n = static_cast<std::int64_t>(nodes.size());
    if (n == 0 || n > std::numeric_limits<std::int32_t>::max()) refuse("it has no nodes, or too many");
    if (tree.counts.size() != nodes.size() * tree.n_classes) refuse("the counts are not one row per node");
    if (tree.set_codes.size() != tree.set_branches.size()) refuse("categories and branches differ in number");
    std::int32_t last_feature = -1;
    std::size_t entries = 0;
    tree.sets = tree.fractions = false;
    for (std::int64_t i = 0; i < n; ++i) {
        const Node& node = nodes[static_cast<std::size_t>(i)];
        if (node.first_child < 0) {
            if (node.missing_branch != 0) refuse("a leaf has a branch for missing values");
            continue;
        }
        const std::int64_t first = node.first_child, end = first + node.n_children;
        if (first <= i || end > n) refuse("a child is out of range, or does not come after its parent");
        for (std::int64_t child = first; child < end; ++child)
            if (nodes[static_cast<std::size_t>(child)].parent != i) refuse("a child has another parent");
        if (node.majority_branch >= node.n_children || node.missing_branch < -1 || node.missing_branch >= node.n_children)
            refuse("a branch is out of range");
        if (node.feature < 0) refuse("a split has no feature");
        last_feature = std::max(last_feature, node.feature);
        tree.fractions |= node.missing_branch < 0;
        if (node.category_set < 0) {
            if (node.n_children != 2) refuse("a cut has other than two branches");
        } else {
            tree.sets = true;
            check_set(tree, node, entries);
        }
    }
    tree.n_features = static_cast<std::size_t>(last_feature + std::int64_t{1});
    return tree;
}

}  // namespace foresift
