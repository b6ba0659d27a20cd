// The best split of a column at a node of the tree that is grown, wherever the codes of its rows lie just now.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "base/interrupt.hpp"
#include "split/splitter.hpp"

namespace foresift {

template <class Case, class Score>
class ColumnSearch {
public:
    using Outcome = typename Splitter<Case, Score>::Outcome;

    /// `columns` and what `stop` asks must outlive this.
    ColumnSearch(std::span<const Column> columns, Score score, const SplitOptions& options, const Stop& stop)
        : columns_(columns), splitter_(score, options), poll_(stop) {}

    /// Before every tree: the codes are those of the store.
    void start() {
        codes_.clear();
        for (const auto& column : columns_) codes_.push_back(Codes::of(column));
    }

    /// See Splitter::best.
    Outcome best(std::uint32_t column, const NodeRows<Case>& node, double floor, Bits& bits, Split& split) {
        poll_(node.members.size() + 64);
        last_ = column;
        return splitter_.best(columns_[column], codes_[column], node, floor, bits, split);
    }

    /// What a column gains on rows that only stand for those of a node; 0 if there is no split.
    double gain(std::uint32_t column, const NodeRows<Case>& rows, Bits& bits) {
        const bool found = best(column, rows, 0.0, bits, unused_) == Outcome::found;
        last_ = columns_.size();
        return found ? unused_.gain : 0.0;
    }

    /// The codes of a column, row by row of the node that was last searched or another one.
    std::span<const std::uint16_t> codes_at(std::span<const Member<Case>> members, std::uint32_t column) {
        const std::size_t n = members.size();
        if (column == last_ && !columns_[column].has_missing) return {splitter_.last_codes(), n};
        if (buffer_.size() < n) buffer_.resize(n);
        codes_[column].with([&](const auto* codes) {
            for (std::size_t i = 0; i < n; ++i) buffer_[i] = codes[members[i].row];
        });
        return {buffer_.data(), n};
    }

    std::span<const Column> columns() const noexcept { return columns_; }
    Codes& codes(std::uint32_t column) { return codes_[column]; }
    Splitter<Case, Score>& splitter() noexcept { return splitter_; }
    void poll(std::size_t steps) { poll_(steps); }

private:
    std::span<const Column> columns_;
    std::vector<Codes> codes_;
    Splitter<Case, Score> splitter_;
    StopPoller poll_;
    std::size_t last_ = 0;  // the column whose codes the splitter still holds
    Split unused_;
    std::vector<std::uint16_t> buffer_;
};

}  // namespace foresift
