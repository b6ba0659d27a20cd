// Histograms of columns, and of their shadows, at the nodes of one level of trees: sums over the rows of one block.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "base/interrupt.hpp"

namespace foresift {

/// Rows of a table as 8-bit codes, column by column; the target has a code too.
struct CodeBlock {
    std::span<const std::uint8_t> codes;    // codes[j * n_rows() + i]
    std::span<const std::uint16_t> target;  // at most kMaxBlockRows
    std::uint64_t number = 0;               // among all blocks: permutations are drawn by it

    std::size_t n_rows() const noexcept { return target.size(); }
    const std::uint8_t* column(std::size_t j) const noexcept { return codes.data() + j * n_rows(); }
};

inline constexpr std::size_t kMaxBlockRows = (std::size_t{1} << 16) - 1;  // rows are counted in 16 bits
inline constexpr std::size_t kCodes = 256;

/// Trees, and what to sum up at the nodes of their last level. All nodes of a level have the same columns.
struct LevelPlan {
    static constexpr std::uint32_t kMaxScore = 1U << 24;
    static constexpr std::uint32_t kNoSlot = 0xffffffffU;

    // Of every tree: where its nodes and its requests begin; one more number ends the last.
    std::vector<std::uint32_t> nodes_of, requests_of;
    // Of every node, the root of a tree first: the column that splits it, its first child, counted in its tree, and the
    // child of each of kCodes codes. A node that is not split has itself as the first child, and child 0 for all codes.
    std::vector<std::uint32_t> node_column, first_child;
    std::vector<std::uint8_t> child_of;
    std::vector<std::uint32_t> slot;  // number of a node whose histograms are wanted, from 0 in its tree; else kNoSlot
    std::vector<std::uint32_t> n_slots, depth;  // of every tree: such nodes, and levels above them
    // Of every request: its column, and 0 for the column itself, p + 1 for its values in rows permuted by number p.
    // Requests with the same permutation are neighbours.
    std::vector<std::uint32_t> request_column, request_shadow;
    std::vector<std::uint32_t> width;   // of every column: codes are below this
    std::uint32_t n_codes = 2;          // of the target
    std::vector<std::uint32_t> scores;  // of a quantity, of every target code, below kMaxScore; empty: classes
    std::uint64_t seed = 0;

    std::size_t n_trees() const noexcept { return n_slots.size(); }
    /// Numbers of a histogram per code: those of every class, or rows and their sum of scores.
    std::size_t n_sums() const noexcept { return scores.empty() ? n_codes : 2; }
};

/// Adds the rows of a block to the histograms: tree by tree, request by request, slot by slot, each has n_sums() rows of
/// `width` numbers. Adds to `counts` how many rows of each target code every slot of every tree has. Whole numbers: the
/// order of the blocks does not matter. Preconditions: target codes are below n_codes.
void add_level(const CodeBlock& block, const LevelPlan& plan, std::span<std::int64_t> sums, std::span<std::int64_t> counts,
               const Stop& stop);

/// The permutation of a block: row i of the shadow has the value of row result[i].
std::vector<std::uint16_t> block_permutation(std::uint64_t seed, std::uint64_t number, const CodeBlock& block);

}  // namespace foresift
