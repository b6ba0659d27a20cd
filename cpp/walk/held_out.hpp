// Sends rows of the column store down a tree that was grown on other rows of it, without going back to values.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "base/columns.hpp"
#include "grow/node.hpp"
#include "walk/table_check.hpp"

namespace foresift {

/// Walks rows down trees by their codes. A cut becomes the last code whose value lies at or below its threshold, so
/// a row ends in the leaf that its values would lead to (of binned columns: that the largest value of its bin would).
class CodeWalker {
public:
    /// `columns` must outlive the walker.
    CodeWalker(std::span<const Column> columns, std::size_t n_classes);

    /// Adds the class shares of the leaf that rows[i] reaches to shares[i * n_classes ...]. A missing value that
    /// goes to all branches reaches several leaves in parts.
    void add(const Tree& tree, std::span<const std::uint32_t> rows, std::span<double> shares);

private:
    // One node; a leaf leads to itself. A numeric cut without missing values needs no more than this.
    struct Step {
        Codes codes;
        std::int32_t first_child;
        std::uint32_t cut;
    };

    void prepare(const TreeView& tree);
    std::int32_t branch_of(const TreeView& tree, std::int32_t at, std::uint32_t row) const;

    std::span<const Column> columns_;
    std::size_t n_classes_;
    bool plain_ = true;  // every split of the tree is a cut of a column without missing values
    std::vector<Step> steps_;
    std::vector<std::int32_t> leaves_;
};

}  // namespace foresift
