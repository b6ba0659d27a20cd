// Grows trees one after another: visits nodes, searches the columns the sampler draws, lets the chooser pick one of the
// splits, and divides the rows. No recursion: nodes wait on a stack, and their rows lie in one array in the order of
// that stack.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <memory>
#include <numeric>
#include <optional>
#include <span>
#include <type_traits>
#include <utility>
#include <vector>

#include "base/interrupt.hpp"
#include "grow/best_gain.hpp"
#include "grow/best_ratio.hpp"
#include "grow/branches.hpp"
#include "grow/class_shuffles.hpp"
#include "grow/column_search.hpp"
#include "grow/complexity.hpp"
#include "grow/grower.hpp"
#include "grow/level_order.hpp"
#include "grow/many_categories.hpp"
#include "grow/sampler.hpp"
#include "grow/shadow_gains.hpp"
#include "grow/shared_gains.hpp"
#include "split/splitter.hpp"

namespace foresift {

// Grows one tree after another, keeping its buffers.
template <class Case, class Score>
class TreeGrower {
public:
    using Weight = typename Case::Weight;
    using Sums = typename Case::Sums;
    using Outcome = typename Splitter<Case, Score>::Outcome;

    TreeGrower(std::span<const Column> columns, const Response& response, const GrowOptions& options, Score score,
               const ColumnDraw& draw, std::span<const Shadow> shadows, SharedTrials* shared,
               std::span<const std::uint8_t> has_many_categories, const Stop& stop)
        : columns_(columns), response_(response), options_(options), order_(options.column_order),
          search_(columns, score, options.split, stop), shared_(shared),
          many_categories_(search_, has_many_categories, options), draw_(draw),
          max_features_(draw.max_features ? draw.max_features : options.max_features), totals_(response.n_classes) {
        used_.assign(draw.allowed.begin(), draw.allowed.end());
        if (used_.empty()) {
            used_.resize(columns.size());
            std::iota(used_.begin(), used_.end(), 0U);
        }
        if (!options.level_columns.empty())
            chooser_ = std::make_unique<LevelOrder<Case>>(options.level_columns, columns.size());
        else if (options.split.criterion == Criterion::gain_ratio)
            chooser_ = std::make_unique<BestRatio<Case, Score>>(search_, options.split);
        else
            chooser_ = std::make_unique<BestGain<Case>>();
        if (!shadows.empty())
            chance_ = std::make_unique<ShadowGains<Case, Score>>(search_, shadows, shared_, options);
        else if (options.n_permutations > 0)
            chance_ = std::make_unique<ClassShuffles<Case, Score>>(search_, options);
    }

    /// times[i] = how often row i was drawn.
    Tree grow(std::uint64_t tree, std::span<const std::uint32_t> times, std::span<const double> weights) {
        start(tree);
        for (std::uint32_t i = 0; i < times.size(); ++i) {
            const std::uint32_t row = response_.order.empty() ? i : response_.order[i];
            const double weight = weights.empty() ? times[row] : times[row] * weights[row];
            if (!(weight > 0)) continue;
            members_.push_back({row, response_.at<Case>(row, weight)});
            totals_.add(members_.back().of);
        }
        if constexpr (!Case::kQuantity) search_.splitter().start(totals_.n_present());
        chooser_->start_tree({members_, totals_});
        many_categories_.start_tree(tree);
        if (chance_) chance_->start_tree(tree);
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
        search_.start();
        out_ = {};
        out_.nodes.reserve(most_nodes_);
        out_.counts.reserve(most_nodes_ * response_.n_outputs());
        members_.clear(), totals_.clear_like(Sums(response_.n_classes));
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
    std::size_t rows_worth_moving(std::size_t n_rows);
    void finish_deferred();
    void visit(Pending at);
    bool choose(Pending& at, const NodeRows<Case>& node, Split& chosen);
    Outcome search(const NodeRows<Case>& node, std::uint32_t feature, double floor, Bits& bits);
    void write_split(const Pending& at, const Split& split, std::int32_t first_child);
    void divide(const Pending& at, Split& split);
    void cut_in_two(const Pending& at, Split& split);
    std::span<const Member<Case>> members_of(const Pending& at) const { return std::span(members_).subspan(at.begin); }
    void tally_sides(std::span<const Member<Case>> left, std::span<const Member<Case>> right);
    void share_out(const Pending& at, Split& split);
    void write_thresholds();
    void note_threshold(const Pending& at, Split& split, std::span<const std::uint16_t> codes);

    void sum_up(const Pending& at);
    static bool is_pure(const Sums& sums, std::span<const Member<Case>> members) {
        if constexpr (Case::kQuantity)
            return std::all_of(members.begin(), members.end(), [&](const auto& m) { return m.of.y() == members[0].of.y(); });
        else
            return sums.n_present() < 2;
    }
    std::int32_t new_nodes(std::size_t count, std::int32_t parent) {
        const auto first = static_cast<std::int32_t>(out_.nodes.size());
        Node node;
        node.parent = parent;
        out_.nodes.resize(out_.nodes.size() + count, node);
        out_.counts.resize(out_.nodes.size() * response_.n_outputs());
        if constexpr (Case::kQuantity) {
            out_.complexity.resize(out_.nodes.size());
            if (options_.record_tried) out_.variance.resize(out_.nodes.size());
        }
        return first;
    }
    void set_counts(std::int32_t node, const Sums& sums) {
        out_.nodes[node].size = double(sums.total);
        if constexpr (Case::kQuantity) {
            out_.counts[node] = sums.sum + double(sums.total) * sums.center;
        } else {
            const std::size_t k = sums.n_classes();
            for (std::size_t c = 0; c < k; ++c) out_.counts[node * k + c] = double(sums.by_class[c]);
        }
    }
    std::span<const Column> columns_;
    Response response_;
    const GrowOptions& options_;
    std::span<const std::uint32_t> order_;  // of each place of the sampler, its column; empty: the same number
    ColumnSearch<Case, Score> search_;
    SharedGains shared_;
    std::unique_ptr<Chooser<Case>> chooser_;
    ManyCategories<Case, Score> many_categories_;
    std::unique_ptr<ChanceGains<Case>> chance_;  // null: nobody asks what a column gains by chance
    ColumnDraw draw_;
    std::uint32_t max_features_;
    std::vector<std::uint32_t> used_;  // the columns that may be drawn
    std::optional<FeatureSampler> sampler_;  // anew for every tree: its state is the tree's
    std::uint64_t tree_number_ = 0;

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
    Sums totals_;
    Complexity complexity_;
    Split trial_, chosen_;
    Branches branches_;
    std::vector<CutCodes> cut_codes_;
    std::vector<Sums> sides_;  // of each branch
    std::vector<std::size_t> ends_;     // where each branch's rows end in members_; the last branch comes first
};

// The rows of a node lie ever further apart in a large store, until every code read is a cache miss. So nodes that
// have become small are put aside; when all the large ones are done, the codes are copied once, node after node,
// and each subtree then works inside its own block. Returns the largest size to put aside; 0: not worth it.
template <class Case, class Score>
std::size_t TreeGrower<Case, Score>::rows_worth_moving(std::size_t n_rows) {
    constexpr std::size_t kCache = 1 << 19, kLevels = 8;  // bytes that stay close; levels a subtree has at least
    if (options_.n_shadows > 0) return 0;  // shadows look up rows by their number in the store
    std::size_t bytes_per_row = 0;
    for (const auto j : used_) bytes_per_row += search_.codes(j).narrow ? 1 : 2;
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
        search_.poll(n);
        Codes& codes = search_.codes(j);
        if (codes.narrow)
            codes.narrow = copy(codes.narrow, near_[j].narrow);
        else
            codes.wide = copy(codes.wide, near_[j].wide);
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
    sum_up(at);
    const NodeRows<Case> node{members_of(at), totals_};
    Split& split = chosen_;
    split.reset();
    // Only impure nodes are pending: pure ones became leaves when their parent was divided (or: the root).
    const bool pure = at.node == 0 && is_pure(totals_, node.members);
    const bool may_split = !pure && double(totals_.total) >= least_sum<Case>(options_.min_split) &&
                           (options_.max_depth < 0 || at.depth < options_.max_depth);
    if (may_split && choose(at, node, split) && split.merit() >= options_.min_gain) {
        divide(at, split);
    } else {
        members_.resize(at.begin);
    }
}

// What the rows of a node add up to. The center of a quantity is its mean, but for digits that would keep the sums of
// whole numbers, or of few values, from being exact.
template <class Case, class Score>
void TreeGrower<Case, Score>::sum_up(const Pending& at) {
    if constexpr (Case::kQuantity) {
        const auto members = members_of(at);
        double n = 0, sum = 0, low = members[0].of.y(), high = low;
        for (const auto& m : members) {
            const double y = m.of.y();
            n += double(m.of.weight());
            sum += double(m.of.weight()) * y;
            low = std::min(low, y);
            high = std::max(high, y);
        }
        const double grid = std::ldexp(1.0, std::max(std::ilogb(high > low ? high - low : 1.0) - 20, -1000));
        totals_.clear();
        totals_.center = std::clamp(std::nearbyint(sum / n / grid) * grid, low, high);
        for (const auto& m : members) totals_.add(m.of);
        out_.complexity[at.node] = complexity_.of<Case>(members);
        if (options_.record_tried) out_.variance[at.node] = totals_.spread() / n;
    } else {
        const std::size_t k = totals_.n_classes();
        totals_.total = 0;
        for (std::size_t c = 0; c < k; ++c) {
            totals_.by_class[c] = static_cast<Weight>(out_.counts[at.node * k + c]);
            totals_.total += totals_.by_class[c];
        }
    }
}

// The best split of a column; of one that another tree has tried at the same node, only its gain.
template <class Case, class Score>
auto TreeGrower<Case, Score>::search(const NodeRows<Case>& node, std::uint32_t feature, double floor, Bits& bits)
    -> Outcome {
    trial_.reset();
    trial_.feature = feature;
    trial_.gain = shared_.recall(feature);
    if (!std::isnan(trial_.gain)) return Outcome::found;
    const auto outcome = search_.best(feature, node, floor, bits, trial_);
    if (outcome == Outcome::found) shared_.note(feature, 0, trial_.gain);
    return outcome;
}

template <class Case, class Score>
bool TreeGrower<Case, Score>::choose(Pending& at, const NodeRows<Case>& node, Split& chosen) {
    Bits bits(options_.seed, tree_number_, static_cast<std::uint64_t>(at.node));
    sampler_->start(at.n_constant);
    shared_.enter(out_, at.node, at.depth);
    chooser_->start_node(at.depth, totals_.unit());
    const bool exact = options_.record_tried || chooser_->exact();
    // Pure branches cannot be beaten, nor have they descendants that ask which columns are constant. Random cuts
    // share their stream with the draws of columns, which must stay as they are.
    const bool may_settle = !exact && options_.split.n_thresholds == 0 && !chance_;
    const double settled = may_settle ? search_.splitter().most_gain(node) - 5e-14 * totals_.unit()
                                      : std::numeric_limits<double>::infinity();
    bool tried_one = options_.constant_leaf;  // then no column is drawn beyond max_features_
    for (std::uint32_t drawn = 0; drawn < max_features_ || !tried_one; ++drawn) {
        const auto place = sampler_->draw(bits);
        if (!place) break;
        if (chosen.found() && chosen.merit() >= settled) continue;  // drawn, so that later draws stay as they are
        const std::uint32_t feature = order_.empty() ? *place : order_[*place];
        Outcome outcome = Outcome::constant;
        if (!sampler_->is_constant(*place)) {
            outcome = search(node, feature, exact ? 0.0 : chosen.merit(), bits);
            if (outcome == Outcome::constant) sampler_->mark_constant(*place);
        }
        const bool found = outcome == Outcome::found, constant = outcome == Outcome::constant;
        if (options_.record_tried)
            out_.tried.push_back({at.node, static_cast<std::int32_t>(feature), found ? trial_.gain : 0.0});
        if (chance_) chance_->add(out_, at.node, node, feature, constant);
        if (found && many_categories_.concern(feature)) {
            if (!exact && trial_.gain <= chosen.merit()) continue;  // nor can what is left of the gain be the best
            if (!many_categories_.beats_chance(at.node, node, trial_)) continue;
        }
        tried_one |= !constant;
        if (found) chooser_->offer(trial_, chosen);
    }
    chooser_->finish(node, chosen);
    if (!chosen.found()) return false;
    if (shared_.any()) {  // its gain may be all that is known of it
        const double by_chance = chosen.by_chance;
        search_.best(chosen.feature, node, 0.0, bits, chosen);
        chosen.by_chance = by_chance;
    }
    at.depth = chooser_->level_of(chosen, at.depth);
    return true;
}

}  // namespace foresift

#include "grow/partition.hpp"
