// The best split of one column at one node, numeric or nominal, with the rules for missing values.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <span>
#include <utility>
#include <vector>

#include "base/columns.hpp"
#include "base/rng.hpp"
#include "split/category_groups.hpp"
#include "split/criterion.hpp"
#include "split/cuts.hpp"
#include "split/node_rows.hpp"
#include "split/random_cuts.hpp"
#include "split/subsets.hpp"
#include "split/value_cuts.hpp"

namespace foresift {

/// learn: missing values go together to the side that scores best (a nominal column: one more category).
/// fractional: a split is judged on the known rows, times their share; the rest goes to all branches as
/// fractions of cases (C4.5).
enum class Missing : std::uint8_t { learn, fractional };

struct SplitOptions {
    Criterion criterion = Criterion::entropy;
    Missing missing = Missing::learn;
    std::uint32_t n_thresholds = 0;  // 0: every cut; else so many random ones per column
    bool multiway = false;           // nominal: one branch per category instead of two sets
    bool group_categories = false;   // nominal: one branch per group of categories, see category_groups.hpp; needs c45
    double min_leaf = 1;             // least weight of a branch
    double min_share = 0;            // least share of the node's weight on either side of a numeric cut, if one has it
    bool c45 = false;                // C4.5's rules for what may be split and what is a gain; missing must be fractional
    bool cut_penalty = false;        // a numeric gain is less log2(number of cuts) / n (C4.5 release 8)
    double min_gap = 0;              // numeric: no cut between neighbouring values that are not further apart
};

/// Differences up to this are rounding to C4.5: of gains, of ratios, of sums of fractions of cases.
inline constexpr double kNear = 1e-6;

/// A split of one column. Numeric: codes <= `cut` take branch 0. Nominal: see `grouping`.
struct Split {
    std::uint32_t feature = 0;
    double gain = -std::numeric_limits<double>::infinity();
    double by_chance = 0;  // what chance would gain, where that is known
    bool nominal = false;
    std::uint32_t cut = 0;
    double threshold = std::numeric_limits<double>::quiet_NaN();  // set when drawn at random
    int missing_branch = kNoMissing;
    Grouping grouping;

    static constexpr int kNoMissing = -2;  // no missing value at this node: nothing was learned
    static constexpr int kFractions = -1;
    void reset() noexcept {
        gain = -std::numeric_limits<double>::infinity();
        by_chance = 0;
        nominal = false;
        threshold = std::numeric_limits<double>::quiet_NaN();
        missing_branch = kNoMissing;
    }
    bool found() const noexcept { return gain > -std::numeric_limits<double>::infinity(); }
    /// What candidates are compared by.
    double merit() const noexcept { return gain - by_chance; }
    std::size_t n_branches() const noexcept { return nominal ? grouping.n_branches : 2; }
};

template <class Case>
struct NodeRows {
    std::span<const Member<Case>> members;
    const typename Case::Sums& totals;
};

/// Information gain (bits), Gini decrease or SSV of any number of branches; `counts` has one row of class
/// weights per branch. SSV counts the pairs of different classes that part company, twice, less the rows of
/// each class outside its fullest branch: for two branches the formula of Grabczewski & Jankowski.
double branch_gain(Criterion criterion, std::span<const double> counts, std::size_t n_classes);

/// The same of the branches that each category of a table goes to.
template <class Case>
double branch_gain(Criterion criterion, const CategoryTable<Case>& table, const Grouping& grouping) {
    if constexpr (Case::kQuantity) {
        SumsRows<Case> branches;
        branches.assign(grouping.n_branches, table.totals);
        for (std::size_t g = 0; g < table.size(); ++g) branches.add(grouping.branches[g], table.sums.row(g));
        const double mean = table.totals.mean(), n = double(table.totals.total);
        double between = 0;
        for (std::size_t b = 0; b < branches.size(); ++b) {
            const double size = double(branches.weight(b)), sum = branches.row(b).sum - size * mean;
            between += size > 0 ? sum * sum / size : 0.0;
        }
        return between / n;
    } else {
        const std::size_t n_classes = table.totals.n_classes();
        std::vector<double> branches(grouping.n_branches * n_classes);
        for (std::size_t g = 0; g < table.size(); ++g)
            for (std::size_t c = 0; c < n_classes; ++c)
                branches[grouping.branches[g] * n_classes + c] += double(table.sums.row(g)[c]);
        return branch_gain(criterion, branches, n_classes);
    }
}

/// The best split of one column over all rows; weights[i] >= 0, and those of weight 0 are not there.
Split split_column(const Column& column, const Response& response, std::span<const double> weights,
                   const SplitOptions& options);

template <class Case, class Score>
class Splitter {
public:
    using Weight = typename Case::Weight;
    using Sums = typename Case::Sums;

    Splitter(Score score, const SplitOptions& options)
        : cuts_(score), random_cuts_(score), options_(options), min_leaf_(options.c45 ? options.min_leaf - kNear : least_sum<Case>(options.min_leaf)) {}

    /// Before every tree: how many classes it tells apart, which C4.5 asks for.
    void start(std::size_t n_classes) noexcept { n_classes_ = double(n_classes); }

    enum class Outcome : std::uint8_t { constant, none, found };
    static constexpr std::size_t kFewRows = 16;

    /// Fills `split` (all but `feature`) with the best split of `column`, whose codes are `codes`. Splits that
    /// gain no more than `floor` may be reported below their true value.
    Outcome best(const Column& column, Codes codes, const NodeRows<Case>& node, double floor, Bits& bits,
                 Split& split) {
        split.reset();
        return column.nominal ? nominal(column, codes, node, split)
                              : numeric(column, codes, node, floor, bits, split);
    }

    /// What no split in two gains more than: one into pure branches; of a quantity and few rows, the best of all that
    /// divide every row. Without rows of middling values, which fractions leave out, a split can gain more than that.
    double most_gain(const NodeRows<Case>& node) {
        const Sums& totals = node.totals;
        if constexpr (Case::kQuantity)
            if (node.members.size() <= kFewRows && !options_.multiway && options_.missing == Missing::learn)
                return best_of_all(node) / double(totals.total);
        return cuts_.score().gain(cuts_.score().pure(totals), unsplit(totals), double(totals.total));
    }

    /// The codes of the last numeric column without missing values, row by row of its node.
    const std::uint16_t* last_codes() const noexcept { return codes_.data(); }

private:
    Outcome numeric(const Column& column, Codes codes, const NodeRows<Case>& node, double floor, Bits& bits,
                    Split& split);
    Outcome nominal(const Column& column, Codes codes, const NodeRows<Case>& node, Split& split);
    template <class Code> Known<Case> gather(const Code* codes, const Column&, const NodeRows<Case>&);
    Known<Case> join_close(const Known<Case>& known, const Column& column);
    Grouping grouped(double missing) const;
    // Of the rows that a split divides; `all` also has those that fractions leave out, whose rounding errors stay.
    double tie(const Sums& totals, [[maybe_unused]] const Sums& all) noexcept {
        const double n = double(totals.total);
        if constexpr (Case::kQuantity) return 1e-12 * (totals.spread() + 1e-12 * all.spread());
        if (n != tie_of_) {  // the columns of a node come one after the other
            tie_of_ = n;
            tie_ = 1e-13 * (options_.criterion == Criterion::ssv ? n * n : 1 + xlog2x(n));
        }
        return tie_;
    }
    // No gain is negative but by rounding; SSV is no gain.
    double rounded(double gain) const noexcept {
        return options_.criterion == Criterion::ssv ? gain : std::max(0.0, gain);
    }
    // C4.5: a numeric cut leaves on either side a tenth of the known rows per class, though no more than 25.
    double least_side(double known) const noexcept {
        if (!options_.c45) return std::max(min_leaf_, options_.min_share * known);
        return std::max(options_.min_leaf, std::min(25.0, 0.1 * known / n_classes_)) - kNear;
    }
    // The best division in two has all of one side below all of the other (Fisher 1958).
    double best_of_all(const NodeRows<Case>& node) const {
        std::array<Case, kFewRows> sorted;
        std::size_t n = 0;
        for (const auto& member : node.members) {
            std::size_t hole = n++;
            for (; hole > 0 && sorted[hole - 1].y() > member.of.y(); --hole) sorted[hole] = sorted[hole - 1];
            sorted[hole] = member.of;
        }
        Sums left = none_of(node.totals);
        double best = 0;
        for (std::size_t i = 0; i + 1 < n; ++i) {
            left.add(sorted[i]);
            best = std::max(best, score_of(cuts_.score(), left, node.totals));
        }
        return best;
    }
    static Sums none_of(const Sums& like) {
        Sums none;
        none.clear_like(like);
        return none;
    }
    double unsplit(const Sums& totals) {
        none_left_.clear_like(totals);
        return score_of(cuts_.score(), none_left_, totals);
    }

    std::conditional_t<Case::kQuantity, ValueCuts<Case, Score>, CutSearch<Case, Score>> cuts_;
    RandomCuts<Case, Score> random_cuts_;
    SplitOptions options_;
    double min_leaf_, n_classes_ = 2;
    double tie_of_ = -1, tie_ = 0;
    std::vector<std::uint16_t> codes_, joined_, present_, last_close_;
    std::vector<Member<Case>> known_members_;
    Sums missing_, known_, none_left_;
    std::vector<double> draws_;
    ItemBuffers<Case> buffers_;
    CategoryTable<Case> table_;
};

template <class Case, class Score>
template <class Code>
Known<Case> Splitter<Case, Score>::gather(const Code* codes, const Column& column,
                                          const NodeRows<Case>& node) {
    const std::size_t n = node.members.size();
    if (codes_.size() < n) codes_.resize(n);
    std::span<const Member<Case>> members = node.members;
    std::size_t known = n;
    if (!column.has_missing) {
        for (std::size_t i = 0; i < n; ++i) codes_[i] = codes[members[i].row];
    } else {
        if (known_members_.size() < n) known_members_.resize(n);
        missing_.clear_like(node.totals);
        known = 0;
        for (const auto& member : node.members) {
            const std::uint32_t code = codes[member.row];
            if (code == column.n_values) {
                missing_.add(member.of);
                continue;
            }
            codes_[known] = static_cast<std::uint16_t>(code);
            known_members_[known++] = member;
        }
        members = std::span(known_members_).first(known);
    }
    // Shifted to signed numbers, whose minimum and maximum every x86-64 has vector instructions for.
    std::int16_t low = std::numeric_limits<std::int16_t>::max(), high = std::numeric_limits<std::int16_t>::min();
    for (std::size_t i = 0; i < known; ++i) {
        low = std::min(low, as_signed(codes_[i]));
        high = std::max(high, as_signed(codes_[i]));
    }
    const double n_rows = double(column.narrow.size() + column.wide.size()), share = double(known) / n_rows;
    const double ties = (n_rows - column.n_values) * share * share;
    return {{codes_.data(), known}, members, as_unsigned(low), as_unsigned(high), ties};
}

// Gives values that are too close for a cut one code, that of the last of them. The codes of the rows stay in codes_.
template <class Case, class Score>
Known<Case> Splitter<Case, Score>::join_close(const Known<Case>& known, const Column& column) {
    present_.assign(known.codes.begin(), known.codes.end());
    std::sort(present_.begin(), present_.end());
    present_.erase(std::unique(present_.begin(), present_.end()), present_.end());
    last_close_ = present_;
    for (std::size_t i = present_.size() - 1; i-- > 0;)
        if (!(column.value(present_[i]) + options_.min_gap < column.value(present_[i + 1])))
            last_close_[i] = last_close_[i + 1];
    if (last_close_ == present_) return known;
    joined_.clear();
    for (const auto code : known.codes) {
        const auto at = std::lower_bound(present_.begin(), present_.end(), code) - present_.begin();
        joined_.push_back(last_close_[static_cast<std::size_t>(at)]);
    }
    return {joined_, known.members, last_close_.front(), known.high, known.ties};
}

template <class Case, class Score>
auto Splitter<Case, Score>::numeric(const Column& column, Codes codes, const NodeRows<Case>& node, double floor,
                                    Bits& bits, Split& split) -> Outcome {
    auto known = codes.with([&](const auto* c) { return gather(c, column, node); });
    const std::size_t n_known = known.codes.size();
    const bool some_missing = n_known < node.members.size();
    if (n_known == 0 || (known.low == known.high && !(some_missing && options_.missing == Missing::learn)))
        return Outcome::constant;
    if (options_.min_gap > 0) known = join_close(known, column);

    // What the cut divides: every row, or only the known ones.
    const bool only_known = some_missing && options_.missing == Missing::fractional;
    if (only_known) known_.set_rest(node.totals, missing_);
    const auto& totals = only_known ? known_ : node.totals;
    const double n = double(totals.total), base = unsplit(totals);
    const auto& score = cuts_.score();
    // With a least share every cut counts: whether one leaves as much on either side must not depend on the floor.
    const bool all_count = some_missing || options_.min_share > 0 || !(floor > 0);
    const double floor_score = all_count ? -std::numeric_limits<double>::infinity() : score.score_at(floor, base, n);
    double least = least_side(n);
    Frame<Case> frame{totals, none_left_, least, floor_score, tie(totals, node.totals), false, options_.cut_penalty};

    Cut best;
    draws_.clear();
    for (std::uint32_t i = 0; i < options_.n_thresholds; ++i) draws_.push_back(bits.unit());
    const auto search = [&](const Frame<Case>& f) {
        if (draws_.empty())
            cuts_.every_cut(known, f, best);
        else
            random_cuts_.search(known, f, column, draws_, best);
    };
    search(frame);
    if (!best.found() && options_.min_share > 0) {  // the values lie so that no cut leaves as much on either side
        frame.min_leaf = least = min_leaf_;
        search(frame);
    }
    if (some_missing && !only_known) {
        search({totals, missing_, least, floor_score, frame.tie, true});
        // Known against missing: with the missing rows as the left side the score is the same.
        const double left = double(totals.total - missing_.total), right = double(missing_.total);
        const double apart = score_of(score, missing_, totals);
        if (left >= least && right >= least && apart > best.score + frame.tie)
            best = {apart, known.high, false, std::numeric_limits<double>::infinity()};
    }
    if (!best.found()) return Outcome::none;
    split.gain = rounded(score.gain(best.score, base, n)) * (n / double(node.totals.total));
    if (options_.cut_penalty) split.gain -= std::log2(double(cuts_.n_cuts())) / double(node.totals.total);
    if (options_.c45 && split.gain <= kNear) return Outcome::none;
    split.cut = best.code;
    split.threshold = best.threshold;
    if (some_missing) split.missing_branch = only_known ? Split::kFractions : (best.missing_left ? 0 : 1);
    return Outcome::found;
}

// C4.5's groups of categories; at least two of them must reach the least weight.
template <class Case, class Score>
Grouping Splitter<Case, Score>::grouped([[maybe_unused]] double missing) const {
    Grouping result;
    if constexpr (!Case::kQuantity) {
        const std::size_t n_classes = table_.totals.n_classes();
        std::vector<double> counts;
        for (std::size_t g = 0; g < table_.size(); ++g)
            for (std::size_t c = 0; c < n_classes; ++c) counts.push_back(double(table_.sums.row(g)[c]));
        auto groups = group_categories(counts, n_classes, std::max(0.0, missing), min_leaf_);
        const std::size_t n_groups = std::size_t{1} + *std::max_element(groups.begin(), groups.end());
        std::vector<double> sizes(n_groups);
        for (std::size_t g = 0; g < groups.size(); ++g) sizes[groups[g]] += double(table_.sizes[g]);
        if (std::count_if(sizes.begin(), sizes.end(), [&](double size) { return size >= min_leaf_; }) < 2) return result;
        result.categories = table_.categories;
        result.branches = std::move(groups);
        result.n_branches = static_cast<std::uint16_t>(n_groups);
    }
    return result;
}

template <class Case, class Score>
auto Splitter<Case, Score>::nominal(const Column& column, Codes codes, const NodeRows<Case>& node, Split& split)
    -> Outcome {
    const std::uint32_t missing_code = column.n_values;
    bool some_missing = false;
    auto* const items = buffers_.reserve(node.members.size());
    std::size_t kept = 0;
    codes.with([&](const auto* c) {
        for (const auto& member : node.members) {
            const std::uint32_t code = c[member.row];
            const bool missing = code == missing_code;
            some_missing |= missing;
            if (!missing || options_.missing == Missing::learn) items[kept++] = {code, member.of};
        }
    });
    table_.assign(buffers_.sort(kept, 0, missing_code), node.totals);
    if (table_.size() < 2) return Outcome::constant;

    const double n = double(table_.totals.total);
    SubsetSearch<Case, Score> search(cuts_.score(), table_, min_leaf_, tie(table_.totals, node.totals));
    const bool convex = options_.criterion != Criterion::ssv;
    if (options_.group_categories && table_.size() <= kMostGrouped)
        split.grouping = grouped(double(node.totals.total) - n);
    else
        split.grouping =
            options_.multiway ? search.multiway() : search.two_sets(convex && table_.sums.one_order_suffices());
    if (!split.grouping.found()) return Outcome::none;
    split.nominal = true;

    split.gain = rounded(branch_gain(options_.criterion, table_, split.grouping)) * (n / double(node.totals.total));
    if (some_missing) {
        const bool fractional = options_.missing == Missing::fractional;
        split.missing_branch = fractional ? Split::kFractions : split.grouping.branches.back();
    }
    return Outcome::found;
}

}  // namespace foresift
