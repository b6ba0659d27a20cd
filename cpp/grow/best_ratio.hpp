// The best gain ratio among the splits of at least average gain (Quinlan 1993; less 1e-3, as his program has it).
#pragma once

#include <algorithm>
#include <vector>

#include "grow/branches.hpp"
#include "grow/chooser.hpp"
#include "grow/column_search.hpp"

namespace foresift {

template <class Case, class Score>
class BestRatio final : public Chooser<Case> {
public:
    /// `search` must outlive this. `c45`: also what the program C4.5 does beside the book.
    BestRatio(ColumnSearch<Case, Score>& search, const SplitOptions& options)
        : search_(search), c45_(options.c45), grouped_(options.group_categories) {}

    // C4.5 leaves nominal columns with nearly as many values as rows out of the average, unless all are like that, or
    // values are grouped.
    void start_tree(const NodeRows<Case>& root) override {
        const auto columns = search_.columns();
        left_out_.assign(columns.size(), 0);
        const double many = 0.3 * double(root.totals.total) - kNear;
        for (std::uint32_t j = 0; c45_ && !grouped_ && j < columns.size(); ++j) {
            if (!columns[j].nominal || columns[j].n_values < many) continue;
            std::vector<std::uint8_t> seen(columns[j].n_values + std::size_t{1});
            search_.codes(j).with([&](const auto* codes) {
                for (const auto& member : root.members) seen[codes[member.row]] = 1;
            });
            left_out_[j] = double(std::count(seen.begin(), seen.end() - 1, 1)) >= many;
        }
        if (std::find(left_out_.begin(), left_out_.end(), 0) == left_out_.end()) left_out_.assign(columns.size(), 0);
    }

    void start_node(std::int32_t, double) override { candidates_.clear(); }
    void offer(Split& candidate, Split&) override { candidates_.push_back(candidate); }

    void finish(const NodeRows<Case>& node, Split& chosen) override {
        double sum = 0, n = 0;
        for (const auto& candidate : candidates_) {
            if (left_out_[candidate.feature]) continue;
            sum += candidate.merit();
            n += 1;
        }
        if (n == 0) return;
        const double least = sum / n - 1e-3, tie = c45_ ? kNear : 1e-13;
        double best = c45_ ? 0.0 : -1.0;
        for (const auto& candidate : candidates_) {
            if (candidate.merit() < least) continue;
            const double information = split_information(candidate, node);
            const double ratio = information > 0 ? candidate.merit() / information : 0.0;
            if (ratio <= best + tie) continue;
            best = ratio;
            chosen = candidate;
        }
    }

private:
    // Entropy of the division itself, in bits; missing values of C4.5 count as one more branch.
    double split_information(const Split& split, const NodeRows<Case>& node) {
        const auto branch = branches_.of<Case>(split, search_.columns()[split.feature], search_.codes(split.feature), node.members);
        std::vector<double> sizes(split.n_branches() + 1);
        for (std::size_t i = 0; i < node.members.size(); ++i)
            sizes[branch[i] == Branches::kEvery ? split.n_branches() : branch[i]] += double(node.members[i].of.weight());
        double inside = 0, n = 0;
        for (const double size : sizes) {
            inside += xlog2x(size);
            n += size;
        }
        return (xlog2x(n) - inside) / n;
    }

    ColumnSearch<Case, Score>& search_;
    bool c45_, grouped_;
    std::vector<Split> candidates_;
    std::vector<std::uint8_t> left_out_;  // per column, whether its gain is left out of the average
    Branches branches_;
};

}  // namespace foresift
