// Oblivious trees: one column per level. A node takes the first of them, from its own level on, that splits it.
#pragma once

#include <cstddef>
#include <utility>
#include <vector>

#include "grow/chooser.hpp"

namespace foresift {

template <class Case>
class LevelOrder final : public Chooser<Case> {
public:
    /// `columns` has the column of each level.
    LevelOrder(std::span<const std::uint32_t> columns, std::size_t n_columns) : of_column_(n_columns, -1) {
        for (std::size_t k = 0; k < columns.size(); ++k) of_column_.at(columns[k]) = static_cast<std::int32_t>(k);
    }

    void start_node(std::int32_t level, double) override { level_ = level; }
    void offer(Split& candidate, Split& chosen) override {
        const auto level = of_column_[candidate.feature];
        if (level >= level_ && (!chosen.found() || level < of_column_[chosen.feature])) std::swap(chosen, candidate);
    }
    std::int32_t level_of(const Split& chosen, std::int32_t) const override { return of_column_[chosen.feature]; }

private:
    std::vector<std::int32_t> of_column_;  // its level, -1 for none
    std::int32_t level_ = 0;
};

}  // namespace foresift
