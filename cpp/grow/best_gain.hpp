// The split of the largest gain.
#pragma once

#include <utility>

#include "grow/chooser.hpp"

namespace foresift {

template <class Case>
class BestGain final : public Chooser<Case> {
public:
    bool exact() const noexcept override { return false; }
    void offer(Split& candidate, Split& chosen) override {
        // Rounding must not let a later column win over an equal earlier one.
        if (!chosen.found() || candidate.merit() > chosen.merit() + 1e-13 * (1 + chosen.merit())) std::swap(chosen, candidate);
    }
};

}  // namespace foresift
