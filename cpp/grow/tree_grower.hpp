// Grows trees one after another: visits nodes, lets the splitter judge the columns the sampler draws, and divides
// the rows. No recursion: nodes wait on a stack, and their rows lie in one array in the order of that stack.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <numeric>
#include <optional>
#include <span>
#include <type_traits>
#include <utility>
#include <vector>

#include "base/interrupt.hpp"
#include "grow/grower.hpp"
#include "grow/sampler.hpp"
#include "grow/shared_gains.hpp"
#include "split/splitter.hpp"

namespace foresift {

// Grows one tree after another, keeping its buffers.
template <class Case, class Score>
class TreeGrower {
public:
    using Weight = typename Case::Weight;

    TreeGrower(std::span<const Column> columns, std::uint32_t n_classes, const GrowOptions& options, Score score,
               const ColumnDraw& draw, std::span<const Shadow> shadows, SharedTrials* shared,
               const Stop& stop)
        : columns_(columns), n_classes_(n_classes), options_(options), order_(options.column_order),
          splitter_(score, options.split), draw_(draw),
          max_features_(draw.max_features ? draw.max_features : options.max_features), shadows_(shadows),
          shared_(shared), poll_(stop), totals_(n_classes) {
        used_.assign(draw.allowed.begin(), draw.allowed.end());
        if (used_.empty()) {
            used_.resize(columns.size());
            std::iota(used_.begin(), used_.end(), 0U);
        }
        if (options.level_columns.empty()) return;
        level_of_.assign(columns.size(), -1);
        for (std::size_t k = 0; k < options.level_columns.size(); ++k)
            level_of_.at(options.level_columns[k]) = static_cast<std::int32_t>(k);
    }

    /// times[i] = how often row i was drawn.
    Tree grow(std::uint64_t tree, std::span<const std::uint32_t> times, std::span<const std::int32_t> target,
              std::span<const double> weights) {
        start(tree);
        for (std::uint32_t row = 0; row < times.size(); ++row) {
            const double weight = weights.empty() ? times[row] : times[row] * weights[row];
            if (!(weight > 0)) continue;
            members_.push_back({row, Case::make(static_cast<std::uint32_t>(target[row]), weight)});
            totals_.add(members_.back().of);
        }
        if (options_.split.c45) start_c45();
        new_nodes(1, -1);
        set_counts(0, totals_);
        defer_below_ = rows_worth_moving(members_.size());
        pending_.push_back({0, 0, 0, 0});
        drain();
        if (!deferred_.empty()) finish_deferred();
        write_thresholds();
        most_nodes_ = std::max(most_nodes_, out_.nodes.size());
        return std::move(out_);
    }

private:
    // A node whose rows are the last ones of members_, from `begin` on.
    struct Pending {
        std::int32_t node;
        std::int32_t depth;
        std::size_t begin;
        std::size_t n_constant;
    };

    // Neighbouring codes of a cut that are present at the node; the threshold lies between their values.
    struct CutCodes {
        std::int32_t node;
        std::uint32_t feature, below, above;
    };

    void start(std::uint64_t tree) {
        tree_number_ = tree;
        const std::size_t n_places = order_.empty() ? columns_.size() : order_.size();
        const std::size_t n_drawable = order_.empty() ? used_.size() : order_.size();
        sampler_.emplace(static_cast<std::uint32_t>(n_places), draw_.weights,
                         draw_.weights.empty() && max_features_ >= n_drawable, draw_.allowed);
        shuffled_node_ = -1;
        codes_.clear();
        for (const auto& column : columns_) codes_.push_back(Codes::of(column));
        out_ = {};
        out_.nodes.reserve(most_nodes_);
        out_.counts.reserve(most_nodes_ * n_classes_);
        members_.clear(), totals_.clear();
        pending_.clear(), cut_codes_.clear();
        deferred_.clear(), deferred_members_.clear();
    }
    void drain() {
        while (!pending_.empty()) {
            const Pending next = pending_.back();
            pending_.pop_back();
            visit(next);
        }
    }
    void start_c45();
    std::size_t rows_worth_moving(std::size_t n_rows) const;
    void finish_deferred();
    void visit(Pending at);
    bool choose(Pending& at, const NodeRows<Case>& node, Split& chosen);
    typename Splitter<Case, Score>::Outcome judge(const NodeRows<Case>& node, std::uint32_t feature, double floor,
                                                  Bits& bits);
    SharedTrials::Gain* shared_gains(const Pending& at);
    void try_permuted(const Pending& at, const NodeRows<Case>& node, std::uint32_t feature, bool constant);
    void try_shadows(const Pending& at, const NodeRows<Case>& node, std::uint32_t feature);
    NodeRows<Case> moved(const NodeRows<Case>& node, const Shadow& shadow);
    // Shadows take turns: tree k has the next `shadows_per_tree` of them after tree k - 1.
    bool has_turn(std::size_t shadow) const noexcept {
        const std::size_t n = options_.n_shadows, m = options_.shadows_per_tree;
        return m == 0 || (shadow + n - tree_number_ % n * m % n) % n < m;
    }
    void pick_by_ratio(const NodeRows<Case>& node, Split& chosen);
    double split_information(const Split& split, const NodeRows<Case>& node);
    void branch_of_rows(const Split& split, std::span<const Member<Case>> members);
    void write_split(const Pending& at, const Split& split, std::int32_t first_child);
    void divide(const Pending& at, Split& split);
    void cut_in_two(const Pending& at, Split& split);
    std::span<const std::uint16_t> node_codes(const Pending& at, std::uint32_t feature);
    void tally_sides(std::span<const Member<Case>> left, std::span<const Member<Case>> right);
    void share_out(const Pending& at, Split& split);
    void write_thresholds();
    void note_threshold(const Pending& at, Split& split, std::span<const std::uint16_t> codes);

    std::int32_t new_nodes(std::size_t count, std::int32_t parent) {
        const auto first = static_cast<std::int32_t>(out_.nodes.size());
        Node node;
        node.parent = parent;
        out_.nodes.resize(out_.nodes.size() + count, node);
        out_.counts.resize(out_.nodes.size() * n_classes_);
        return first;
    }
    void set_counts(std::int32_t node, const Tally<Weight>& tally) {
        out_.nodes[node].size = double(tally.total);
        for (std::size_t c = 0; c < n_classes_; ++c) out_.counts[node * n_classes_ + c] = double(tally.by_class[c]);
    }
    std::span<const Column> columns_;
    std::vector<Codes> codes_;  // of every column, at first those of the store
    std::size_t n_classes_;
    const GrowOptions& options_;
    std::span<const std::uint32_t> order_;  // of each place of the sampler, its column; empty: the same number
    Splitter<Case, Score> splitter_;
    ColumnDraw draw_;
    std::uint32_t max_features_;
    std::vector<std::uint32_t> used_;  // the columns that may be drawn
    std::span<const Shadow> shadows_;
    SharedTrials* shared_;  // null: trees have nothing in common
    std::optional<FeatureSampler> sampler_;  // anew for every tree: its state is the tree's
    std::uint64_t tree_number_ = 0;
    StopPoller poll_;
    std::uint32_t last_tried_ = 0;  // the column whose codes the splitter still holds

    Tree out_;
    std::size_t most_nodes_ = 0;  // of the trees so far
    std::vector<Pending> pending_;
    std::vector<Member<Case>> members_, spare_;
    std::size_t defer_below_ = 0;
    std::vector<Pending> deferred_;  // begin counts in deferred_members_; a node ends where the next begins
    std::vector<Member<Case>> deferred_members_;
    struct CodeBuffer {
        std::vector<std::uint8_t> narrow;
        std::vector<std::uint16_t> wide;
    };
    std::vector<CodeBuffer> near_;  // the codes of the deferred rows, column by column
    Tally<Weight> totals_;
    Split trial_, chosen_;
    std::int32_t shuffled_node_ = -1;  // whose rows with shuffled classes are in shuffled_
    std::vector<Member<Case>> shuffled_;
    SharedTrials::Gain* known_gains_ = nullptr;  // at the node that is visited; null: it is the tree's own
    std::vector<std::uint32_t> path_;
    Tally<Weight> shadow_totals_;  // of the shadow that is tried
    std::vector<Case> shuffled_cases_;
    Split permuted_trial_;
    std::vector<std::int32_t> level_of_;        // oblivious tree: the level of each column, -1 for none
    std::vector<Split> candidates_;             // gain ratio only
    std::vector<std::uint8_t> out_of_average_;  // C4.5: per column, whether its gain is left out of the average
    std::vector<std::uint16_t> branch_, lut_;   // branch of each row of the node; of each category
    std::vector<std::uint16_t> code_buffer_;
    std::vector<CutCodes> cut_codes_;
    std::vector<Tally<Weight>> sides_;  // of each branch
    std::vector<std::size_t> ends_;     // where each branch's rows end in members_; the last branch comes first
};

inline constexpr std::uint16_t kEveryBranch = 0xffff;

// The rows of a node lie ever further apart in a large store, until every code read is a cache miss. So nodes that
// have become small are put aside; when all the large ones are done, the codes are copied once, node after node,
// and each subtree then works inside its own block. Returns the largest size to put aside; 0: not worth it.
template <class Case, class Score>
std::size_t TreeGrower<Case, Score>::rows_worth_moving(std::size_t n_rows) const {
    constexpr std::size_t kCache = 1 << 19, kLevels = 8;  // bytes that stay close; levels a subtree has at least
    if (!shadows_.empty()) return 0;  // shadows look up rows by their number in the store
    std::size_t bytes_per_row = 0;
    for (const auto j : used_) bytes_per_row += codes_[j].narrow ? 1 : 2;
    const std::size_t limit = kCache / std::max<std::size_t>(bytes_per_row, 1);
    const bool pays = n_rows > 2 * limit && max_features_ * kLevels >= used_.size();
    return pays && limit >= 64 ? limit : 0;
}

template <class Case, class Score>
void TreeGrower<Case, Score>::finish_deferred() {
    const std::size_t n = deferred_members_.size();
    const auto copy = [&](const auto* from, auto& to) {
        if (to.size() < n) to.resize(n);
        for (std::size_t i = 0; i < n; ++i) to[i] = from[deferred_members_[i].row];
        return to.data();
    };
    near_.resize(columns_.size());
    for (const auto j : used_) {
        poll_(n);
        if (codes_[j].narrow)
            codes_[j].narrow = copy(codes_[j].narrow, near_[j].narrow);
        else
            codes_[j].wide = copy(codes_[j].wide, near_[j].wide);
    }
    defer_below_ = 0;
    for (std::size_t k = 0; k < deferred_.size(); ++k) {
        const std::size_t begin = deferred_[k].begin, end = k + 1 < deferred_.size() ? deferred_[k + 1].begin : n;
        members_.assign(deferred_members_.begin() + begin, deferred_members_.begin() + end);
        for (std::size_t i = 0; i < members_.size(); ++i) members_[i].row = static_cast<std::uint32_t>(begin + i);
        pending_.push_back({deferred_[k].node, deferred_[k].depth, 0, 0});
        drain();
    }
}

template <class Case, class Score>
void TreeGrower<Case, Score>::visit(Pending at) {
    if (members_.size() - at.begin < defer_below_) {
        deferred_.push_back({at.node, at.depth, deferred_members_.size(), 0});
        deferred_members_.insert(deferred_members_.end(), members_.begin() + at.begin, members_.end());
        members_.resize(at.begin);
        return;
    }
    // Only impure nodes are pending: pure ones became leaves when their parent was divided (or: the root).
    totals_.total = 0;
    std::size_t present = 0;
    for (std::size_t c = 0; c < n_classes_; ++c) {
        const double count = out_.counts[at.node * n_classes_ + c];
        totals_.by_class[c] = static_cast<Weight>(count);
        totals_.total += totals_.by_class[c];
        present += count > 0;
    }
    const NodeRows<Case> node{std::span(members_).subspan(at.begin), totals_};
    Split& split = chosen_;
    split.reset();
    const bool may_split = present > 1 && double(totals_.total) >= options_.min_split &&
                           (options_.max_depth < 0 || at.depth < options_.max_depth);
    if (may_split && choose(at, node, split) && split.gain >= options_.min_gain) {
        divide(at, split);
    } else {
        members_.resize(at.begin);
    }
}

template <class Case, class Score>
bool TreeGrower<Case, Score>::choose(Pending& at, const NodeRows<Case>& node, Split& chosen) {
    Bits bits(options_.seed, tree_number_, static_cast<std::uint64_t>(at.node));
    sampler_->start(at.n_constant);
    const bool by_ratio = options_.split.criterion == Criterion::gain_ratio;
    const bool exact = by_ratio || options_.record_tried || !level_of_.empty();
    std::int32_t level = std::numeric_limits<std::int32_t>::max();
    candidates_.clear();
    known_gains_ = shared_gains(at);
    bool tried_one = false;
    // Pure branches cannot be beaten, nor have they descendants that ask which columns are constant. Random cuts
    // share their stream with the draws of columns, which must stay as they are.
    const bool may_settle = !exact && options_.split.n_thresholds == 0 && shadows_.empty();
    const double settled = may_settle ? splitter_.most_gain(totals_) - 5e-14 : std::numeric_limits<double>::infinity();
    for (std::uint32_t drawn = 0; drawn < max_features_ || !tried_one; ++drawn) {
        const auto place = sampler_->draw(bits);
        if (!place) break;
        if (chosen.found() && chosen.gain >= settled) continue;
        const std::uint32_t feature = order_.empty() ? *place : order_[*place];
        using Outcome = typename Splitter<Case, Score>::Outcome;
        Outcome outcome = Outcome::constant;
        if (!sampler_->is_constant(*place)) {
            outcome = judge(node, feature, exact ? 0.0 : chosen.gain, bits);
            if (outcome == Outcome::constant) sampler_->mark_constant(*place);
        }
        tried_one |= outcome != Outcome::constant;
        trial_.feature = feature;
        if (options_.record_tried)
            out_.tried.push_back({at.node, static_cast<std::int32_t>(feature),
                                  outcome == Outcome::found ? trial_.gain : 0.0});
        if (!shadows_.empty()) try_shadows(at, node, feature);
        if (options_.n_permutations > 0) try_permuted(at, node, feature, outcome == Outcome::constant);
        if (outcome != Outcome::found) continue;
        if (!level_of_.empty()) {
            if (level_of_[feature] < at.depth || level_of_[feature] >= level) continue;
            level = level_of_[feature];
            std::swap(chosen, trial_);
            continue;
        }
        // Rounding must not let a later column win over an equal earlier one.
        if (by_ratio)
            candidates_.push_back(trial_);
        else if (!chosen.found() || trial_.gain > chosen.gain + 1e-13 * (1 + chosen.gain))
            std::swap(chosen, trial_);
    }
    if (by_ratio) pick_by_ratio(node, chosen);
    if (known_gains_ && chosen.found()) {  // its gain may be all that is known of it
        poll_(node.members.size() + 64);
        splitter_.best(columns_[chosen.feature], codes_[chosen.feature], node, 0.0, bits, chosen);
        last_tried_ = chosen.feature;
    }
    if (!level_of_.empty() && chosen.found()) at.depth = level;
    return chosen.found();
}

// C4.5 leaves nominal columns with nearly as many values as rows out of the average gain, unless all are like that.
template <class Case, class Score>
void TreeGrower<Case, Score>::start_c45() {
    const auto n_classes = std::count_if(totals_.by_class.begin(), totals_.by_class.end(), [](Weight w) { return w > 0; });
    splitter_.start(static_cast<std::size_t>(n_classes));
    out_of_average_.assign(columns_.size(), 0);
    for (std::size_t j = 0; j < columns_.size(); ++j) {
        if (!columns_[j].nominal || columns_[j].n_values < 0.3 * double(totals_.total) - kNear) continue;
        std::vector<std::uint8_t> seen(columns_[j].n_values + std::size_t{1});
        codes_[j].with([&](const auto* codes) {
            for (const auto& member : members_) seen[codes[member.row]] = 1;
        });
        const auto n_seen = std::count(seen.begin(), seen.end() - 1, 1);
        out_of_average_[j] = double(n_seen) >= 0.3 * double(totals_.total) - kNear;
    }
    if (std::find(out_of_average_.begin(), out_of_average_.end(), 0) == out_of_average_.end())
        out_of_average_.assign(columns_.size(), 0);
}

// The best ratio among the splits of at least average gain (Quinlan 1993; less 1e-3, as his program has it).
template <class Case, class Score>
void TreeGrower<Case, Score>::pick_by_ratio(const NodeRows<Case>& node, Split& chosen) {
    const bool c45 = options_.split.c45;
    double sum = 0, n = 0;
    for (const auto& candidate : candidates_) {
        if (c45 && out_of_average_[candidate.feature]) continue;
        sum += candidate.gain;
        n += 1;
    }
    if (n == 0) return;
    const double least = sum / n - 1e-3, tie = c45 ? kNear : 1e-13;
    double best = c45 ? 0.0 : -1.0;
    for (auto& candidate : candidates_) {
        if (candidate.gain < least) continue;
        const double information = split_information(candidate, node);
        const double ratio = information > 0 ? candidate.gain / information : 0.0;
        if (ratio <= best + tie) continue;
        best = ratio;
        chosen = candidate;
    }
}

// Entropy of the division itself, in bits; missing values of C4.5 count as one more branch.
template <class Case, class Score>
double TreeGrower<Case, Score>::split_information(const Split& split, const NodeRows<Case>& node) {
    branch_of_rows(split, node.members);
    std::vector<double> sizes(split.n_branches() + 1);
    for (std::size_t i = 0; i < node.members.size(); ++i)
        sizes[branch_[i] == kEveryBranch ? split.n_branches() : branch_[i]] += double(node.members[i].of.weight());
    double inside = 0, n = 0;
    for (const double size : sizes) {
        inside += xlog2x(size);
        n += size;
    }
    return (xlog2x(n) - inside) / n;
}

}  // namespace foresift

#include "grow/partition.hpp"
#include "grow/shadows.hpp"
#include "grow/shared.hpp"
