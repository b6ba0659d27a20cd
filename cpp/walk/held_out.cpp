#include "walk/held_out.hpp"

#include <algorithm>

namespace foresift {
namespace {

std::uint32_t code_at(const Codes& codes, std::uint32_t row) noexcept {
    return codes.narrow ? codes.narrow[row] : codes.wide[row];
}

}  // namespace

CodeWalker::CodeWalker(std::span<const Column> columns, std::size_t n_classes)
    : columns_(columns), n_classes_(n_classes) {}

void CodeWalker::add(const Tree& tree, std::span<const std::uint32_t> rows, std::span<double> shares) {
    prepare(tree);
    if (!plain_) {
        for (std::size_t i = 0; i < rows.size(); ++i) add_parts(tree, rows[i], &shares[i * n_classes_]);
        return;
    }
    walk(rows);
    for (std::size_t i = 0; i < rows.size(); ++i) {
        const auto leaf = static_cast<std::size_t>(leaves_[i]);
        for (std::size_t c = 0; c < n_classes_; ++c)
            shares[i * n_classes_ + c] += tree.counts[leaf * n_classes_ + c] / tree.nodes[leaf].size;
    }
}

void CodeWalker::prepare(const Tree& tree) {
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

// Several rows walk side by side, so that the waits for memory overlap.
void CodeWalker::walk(std::span<const std::uint32_t> rows) {
    constexpr std::size_t kLanes = 16;
    leaves_.resize(rows.size());
    for (std::size_t begin = 0; begin < rows.size(); begin += kLanes) {
        const std::size_t lanes = std::min(kLanes, rows.size() - begin);
        std::int32_t at[kLanes] = {};
        bool moved = true;
        while (moved) {
            std::int32_t changed = 0;
            for (std::size_t k = 0; k < lanes; ++k) {
                const Step& step = steps_[static_cast<std::size_t>(at[k])];
                const std::int32_t next = step.first_child + (code_at(step.codes, rows[begin + k]) > step.cut);
                changed |= next ^ at[k];
                at[k] = next;
            }
            moved = changed != 0;
        }
        std::copy_n(at, lanes, leaves_.begin() + static_cast<std::ptrdiff_t>(begin));
    }
}

// Child that a row takes at a node, or -1 for "all of them, in parts".
std::int32_t CodeWalker::branch_of(const Tree& tree, const Node& node, std::uint32_t row) const {
    const Column& column = columns_[node.feature];
    const std::uint32_t code = code_at(Codes::of(column), row);
    if (code == column.n_values) return node.missing_branch;
    if (node.category_set < 0) return code > steps_[static_cast<std::size_t>(&node - tree.nodes.data())].cut;
    const auto first = tree.set_codes.begin() + tree.set_offsets[node.category_set];
    const auto last = tree.set_codes.begin() + tree.set_offsets[node.category_set + 1];
    const auto found = std::lower_bound(first, last, code);
    return found != last && *found == code ? tree.set_branches[found - tree.set_codes.begin()] : node.majority_branch;
}

void CodeWalker::add_parts(const Tree& tree, std::uint32_t row, double* out) {
    parts_.assign(1, {0, 1.0});
    while (!parts_.empty()) {
        const Part part = parts_.back();
        parts_.pop_back();
        const Node& node = tree.nodes[part.node];
        if (node.first_child < 0) {
            for (std::size_t c = 0; c < n_classes_; ++c)
                out[c] += part.share * tree.counts[part.node * n_classes_ + c] / node.size;
            continue;
        }
        const auto branch = branch_of(tree, node, row);
        double size = 0;
        for (std::int32_t k = 0; k < node.n_children; ++k) size += tree.nodes[node.first_child + k].size;
        for (std::int32_t k = 0; k < node.n_children; ++k) {
            const auto child = node.first_child + k;
            if (branch == k)
                parts_.push_back({child, part.share});
            else if (branch < 0 && tree.nodes[child].size > 0)
                parts_.push_back({child, part.share * tree.nodes[child].size / size});
        }
    }
}

}  // namespace foresift
