// The split of the largest gain.
#pragma once

#include <utility>

#include "grow/chooser.hpp"

namespace foresift {

template <class Case>
class BestGain final : public Chooser<Case> {
public:
    bool exact() const noexcept override { return false; }
    void start_node(std::int32_t, double unit) override { unit_ = unit; }
    void offer(Split& candidate, Split& chosen) override {
        // Rounding must not let a later column win over an equal earlier one.
        if (!chosen.found() || candidate.merit() > chosen.merit() + 1e-13 * (unit_ + chosen.merit()))
            std::swap(chosen, candidate);
    }

private:
    double unit_ = 1;
};

}  // namespace foresift
