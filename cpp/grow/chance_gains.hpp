// What a column would gain at a node by chance. One way to find out per header: class_shuffles, shadow_gains.
#pragma once

#include <cstdint>

#include "grow/node.hpp"
#include "split/splitter.hpp"

namespace foresift {

template <class Case>
class ChanceGains {
public:
    virtual ~ChanceGains() = default;

    /// Before every tree, by its number.
    virtual void start_tree(std::uint64_t tree) = 0;

    /// Adds a row to tree.permuted: what a column that was tried at a node, constant there or not, gains by chance.
    virtual void add(Tree& tree, std::int32_t at, const NodeRows<Case>& node, std::uint32_t column, bool constant) = 0;
};

}  // namespace foresift
