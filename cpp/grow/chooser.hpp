// Which of the candidates at a node splits it. One rule per header: best_gain, best_ratio, level_order.
#pragma once

#include <cstdint>
#include <span>

#include "split/splitter.hpp"

namespace foresift {

template <class Case>
class Chooser {
public:
    virtual ~Chooser() = default;

    /// Whether every gain counts; else only those above the gain chosen so far, and the others may be reported too low.
    virtual bool exact() const noexcept { return true; }

    /// Before every tree, with all of its rows, and before the candidates of a node. `level`: how deep it lies;
    /// `unit`: what rounding errors of gains are measured in, see Tally::unit.
    virtual void start_tree(const NodeRows<Case>&) {}
    virtual void start_node(std::int32_t /*level*/, double /*unit*/) {}

    /// Takes note of a candidate. A rule that can tell at once puts the better one into `chosen`; `candidate` is then
    /// of no use any more.
    virtual void offer(Split& candidate, Split& chosen) = 0;

    /// After the last candidate.
    virtual void finish(const NodeRows<Case>&, Split& /*chosen*/) {}

    /// How deep a node counts that the split has divided; its children lie one level below.
    virtual std::int32_t level_of(const Split& /*chosen*/, std::int32_t level) const { return level; }
};

}  // namespace foresift
