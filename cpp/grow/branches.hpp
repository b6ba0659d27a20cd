// The branch of a split that each row of a node takes.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

#include "base/columns.hpp"
#include "split/splitter.hpp"

namespace foresift {

class Branches {
public:
    static constexpr std::uint16_t kEvery = 0xffff;  // a row with a missing value that is shared out

    /// Of each row, by the codes of the column that splits. The span is good until the next call.
    template <class Case>
    std::span<const std::uint16_t> of(const Split& split, const Column& column, Codes from,
                                      std::span<const Member<Case>> members) {
        branch_.resize(members.size());
        const std::uint32_t missing = column.n_values;
        const auto for_missing = static_cast<std::uint16_t>(
            split.missing_branch == Split::kFractions ? kEvery : std::max(split.missing_branch, 0));
        if (split.nominal) {
            of_category_.resize(column.n_values + std::size_t{1});
            for (std::size_t g = 0; g < split.grouping.categories.size(); ++g)
                of_category_[split.grouping.categories[g]] = split.grouping.branches[g];
            of_category_[missing] = for_missing;
        }
        from.with([&](const auto* codes) {
            for (std::size_t i = 0; i < members.size(); ++i) {
                const std::uint32_t code = codes[members[i].row];
                if (split.nominal)
                    branch_[i] = of_category_[code];
                else
                    branch_[i] = code == missing ? for_missing : code > split.cut;
            }
        });
        return branch_;
    }

private:
    std::vector<std::uint16_t> branch_, of_category_;
};

}  // namespace foresift
