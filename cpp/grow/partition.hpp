// Part of tree_grower.hpp: writing a split down and dividing the rows of a node among its children.
#pragma once

#include "grow/tree_grower.hpp"

namespace foresift {

template <class Case, class Score>
void TreeGrower<Case, Score>::write_split(const Pending& at, const Split& split, std::int32_t first_child) {
    Node& node = out_.nodes[at.node];
    node.first_child = first_child;
    node.feature = static_cast<std::int32_t>(split.feature);
    node.n_children = static_cast<std::uint16_t>(split.n_branches());
    node.gain = split.gain;
    for (std::size_t b = 1; b < split.n_branches(); ++b)
        if (sides_[b].total > sides_[node.majority_branch].total) node.majority_branch = static_cast<std::uint16_t>(b);
    node.missing_branch = split.missing_branch == Split::kNoMissing ? node.majority_branch : split.missing_branch;
    if (!split.nominal) {
        node.threshold = split.threshold;
        return;
    }
    node.category_set = static_cast<std::int32_t>(out_.set_offsets.size()) - 1;
    for (std::size_t g = 0; g < split.grouping.categories.size(); ++g) {
        if (split.grouping.categories[g] == columns_[split.feature].n_values) continue;  // missing, not a category
        out_.set_codes.push_back(split.grouping.categories[g]);
        out_.set_branches.push_back(split.grouping.branches[g]);
    }
    out_.set_offsets.push_back(static_cast<std::int32_t>(out_.set_codes.size()));
}

// Replaces the node's rows by those of its children, the first child's last, so that it is visited next.
template <class Case, class Score>
void TreeGrower<Case, Score>::divide(const Pending& at, Split& split) {
    const std::size_t n_branches = split.n_branches();
    while (sides_.size() < n_branches) sides_.emplace_back(response_.n_classes);
    for (std::size_t b = 0; b < n_branches; ++b) sides_[b].clear_like(totals_);
    ends_.resize(n_branches);
    const bool plain_cut = !split.nominal && split.missing_branch == Split::kNoMissing;
    if (plain_cut)
        cut_in_two(at, split);
    else
        share_out(at, split);

    const std::int32_t first = new_nodes(n_branches, at.node);
    write_split(at, split, first);
    // Children that are pure are leaves: their rows are dropped, and the others move up.
    std::size_t begin = at.begin, end = at.begin;
    for (std::size_t b = n_branches; b-- > 0;) {
        const std::size_t from = b + 1 == n_branches ? at.begin : ends_[b + 1], size = ends_[b] - from;
        const auto child = first + static_cast<std::int32_t>(b);
        set_counts(child, sides_[b]);
        if (is_pure(sides_[b], std::span(members_).subspan(from, size))) continue;
        if (from != begin) std::copy_n(members_.begin() + from, size, members_.begin() + begin);
        end = begin + size;
        pending_.push_back({child, at.depth + 1, begin, sampler_->n_constant()});
        begin = end;
    }
    members_.resize(end);
}

// The common case: a numeric cut, no missing value. Right rows stay in front, left ones follow.
template <class Case, class Score>
void TreeGrower<Case, Score>::cut_in_two(const Pending& at, Split& split) {
    const auto codes = search_.codes_at(members_of(at), split.feature);
    const std::size_t n = codes.size();
    if (spare_.size() < n) spare_.resize(n);
    auto *here = members_.data() + at.begin, *spare = spare_.data();
    const std::uint32_t cut = split.cut;
    std::size_t n_left = 0;
    for (std::size_t i = 0; i < n; ++i) {
        const Member<Case> member = here[i];
        spare[n_left] = member;
        here[i - n_left] = member;
        n_left += codes[i] <= cut;
    }
    const std::size_t n_right = n - n_left;
    tally_sides({spare, n_left}, {here, n_right});
    std::copy_n(spare, n_left, here + n_right);
    ends_[1] = at.begin + n_right;
    ends_[0] = at.begin + n;
    note_threshold(at, split, codes);
}

// The threshold lies half way between the neighbouring values that are present at the node.
template <class Case, class Score>
void TreeGrower<Case, Score>::note_threshold(const Pending& at, Split& split, std::span<const std::uint16_t> codes) {
    if (!std::isnan(split.threshold)) return;
    // Shifted to signed numbers, whose minimum and maximum every x86-64 has vector instructions for.
    std::int16_t below = std::numeric_limits<std::int16_t>::min(), above = std::numeric_limits<std::int16_t>::max();
    const std::int16_t cut = as_signed(static_cast<std::uint16_t>(split.cut));
    for (const auto code : codes) {
        const std::int16_t c = as_signed(code);
        below = std::max(below, c <= cut ? c : std::numeric_limits<std::int16_t>::min());
        above = std::min(above, c > cut ? c : std::numeric_limits<std::int16_t>::max());
    }
    cut_codes_.push_back({at.node, split.feature, as_unsigned(below), as_unsigned(above)});
}

template <class Case, class Score>
void TreeGrower<Case, Score>::tally_sides(std::span<const Member<Case>> left, std::span<const Member<Case>> right) {
    if constexpr (Case::kQuantity || std::is_same_v<Weight, double>) {
        for (const auto& m : left) sides_[0].add(m.of);
        for (const auto& m : right) sides_[1].add(m.of);
    } else {
        // Whole numbers: count the left, the rest is right. Two classes need no look-up, so the loop is vectorised.
        if (response_.n_classes == 2) {
            Weight total = 0, second = 0;
            for (const auto& m : left) {
                total += m.of.weight();
                second += m.of.cls() ? m.of.weight() : 0;
            }
            sides_[0].total = total;
            sides_[0].by_class[0] = total - second;
            sides_[0].by_class[1] = second;
        } else {
            for (const auto& m : left) sides_[0].add(m.of);
        }
        sides_[1].total = totals_.total - sides_[0].total;
        for (std::size_t c = 0; c < response_.n_classes; ++c)
            sides_[1].by_class[c] = totals_.by_class[c] - sides_[0].by_class[c];
    }
}

// Thresholds are looked up together at the end: each look-up misses the cache, and so the misses overlap.
template <class Case, class Score>
void TreeGrower<Case, Score>::write_thresholds() {
    for (const auto& cut : cut_codes_)
        out_.nodes[cut.node].threshold = columns_[cut.feature].threshold_between(cut.below, cut.above);
}

// Any number of branches; a row with a missing value may go to all of them in parts.
template <class Case, class Score>
void TreeGrower<Case, Score>::share_out(const Pending& at, Split& split) {
    const std::size_t n_branches = split.n_branches();
    if (!split.nominal) note_threshold(at, split, search_.codes_at(members_of(at), split.feature));
    spare_.assign(members_.begin() + at.begin, members_.end());
    members_.resize(at.begin);
    const auto branch = branches_.of<Case>(split, columns_[split.feature], search_.codes(split.feature), spare_);
    for (std::size_t i = 0; i < spare_.size(); ++i)
        if (branch[i] != Branches::kEvery) sides_[branch[i]].add(spare_[i].of);
    std::vector<double> shares(n_branches);
    double known = 0;
    for (std::size_t b = 0; b < n_branches; ++b) known += shares[b] = double(sides_[b].total);
    // Room for every branch, the last one first; rows keep their order inside a branch.
    std::vector<std::size_t> at_end(n_branches, 0);
    std::size_t everywhere = 0;
    for (std::size_t i = 0; i < spare_.size(); ++i)
        branch[i] == Branches::kEvery ? ++everywhere : ++at_end[branch[i]];
    std::size_t end = at.begin;
    for (std::size_t b = n_branches; b-- > 0;) {
        const std::size_t size = at_end[b] + everywhere;
        at_end[b] = end;
        ends_[b] = end += size;
    }
    members_.resize(end);
    for (std::size_t i = 0; i < spare_.size(); ++i) {
        Member<Case> member = spare_[i];
        if (branch[i] != Branches::kEvery) {
            members_[at_end[branch[i]]++] = member;
            continue;
        }
        const double whole = double(member.of.weight());
        for (std::size_t b = 0; b < n_branches; ++b) {
            member.of = member.of.weighing(whole * shares[b] / known);
            sides_[b].add(member.of);
            members_[at_end[b]++] = member;
        }
    }
}

}  // namespace foresift
