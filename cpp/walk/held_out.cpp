#include "walk/held_out.hpp"

#include <algorithm>

#include "walk/walker.hpp"

namespace foresift {
namespace {

std::uint32_t code_at(const Codes& codes, std::uint32_t row) noexcept {
    return codes.narrow ? codes.narrow[row] : codes.wide[row];
}

}  // namespace

CodeWalker::CodeWalker(std::span<const Column> columns, std::size_t n_classes)
    : columns_(columns), n_classes_(n_classes) {}

void CodeWalker::add(const Tree& grown, std::span<const std::uint32_t> rows, std::span<double> shares) {
    const TreeView tree = view_of(grown, n_classes_);
    prepare(tree);
    if (!plain_) {
        for (std::size_t i = 0; i < rows.size(); ++i)
            add_parts(tree, [&](std::int32_t at) { return branch_of(tree, at, rows[i]); }, &shares[i * n_classes_]);
        return;
    }
    leaves_.resize(rows.size());
    const auto next = [&](std::int32_t at, std::uint32_t row) {
        const Step& step = steps_[static_cast<std::size_t>(at)];
        return step.first_child + (code_at(step.codes, row) > step.cut);
    };
    find_ends([&](std::size_t i) { return rows[i]; }, next, leaves_);
    for (std::size_t i = 0; i < rows.size(); ++i) {
        const auto leaf = static_cast<std::size_t>(leaves_[i]);
        for (std::size_t c = 0; c < n_classes_; ++c)
            shares[i * n_classes_ + c] += tree.counts[leaf * n_classes_ + c] / tree.nodes[leaf].size;
    }
}

void CodeWalker::prepare(const TreeView& tree) {
    plain_ = std::all_of(tree.nodes.begin(), tree.nodes.end(), [&](const Node& node) {
        return node.first_child < 0 || (node.category_set < 0 && !columns_[node.feature].has_missing);
    });
    steps_.resize(tree.nodes.size());
    for (std::size_t i = 0; i < steps_.size(); ++i) {
        const Node& node = tree.nodes[i];
        if (node.first_child < 0) {
            steps_[i] = {Codes::of(columns_[0]), static_cast<std::int32_t>(i), kMaxCodes};
            continue;
        }
        const Column& column = columns_[node.feature];
        const std::uint32_t cut = node.category_set < 0 ? column.last_at_or_below(node.threshold, 0, column.n_values) : 0;
        steps_[i] = {Codes::of(column), node.first_child, cut};
    }
}

// Child that a row takes at a node, or -1 for "all of them, in parts".
std::int32_t CodeWalker::branch_of(const TreeView& tree, std::int32_t at, std::uint32_t row) const {
    const Node& node = tree.nodes[at];
    const Column& column = columns_[node.feature];
    const std::uint32_t code = code_at(Codes::of(column), row);
    if (code == column.n_values) return node.missing_branch;
    if (node.category_set < 0) return code > steps_[static_cast<std::size_t>(at)].cut;
    return category_branch(tree, node, code);
}

}  // namespace foresift
