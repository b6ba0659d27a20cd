// Histograms of the nodes of a level, against a loop over rows that follows each of them down its tree.
#include "hist/level_sums.hpp"

#include <algorithm>
#include <numeric>

#include "tests/tools.hpp"

using namespace foresift;
using namespace foresift::tests;

namespace {

struct Rows {
    std::vector<std::uint8_t> codes;
    std::vector<std::uint16_t> target;
    std::uint64_t number;
    CodeBlock block() const { return {codes, target, number}; }
};

Rows make_rows(Dice& dice, const LevelPlan& plan, std::size_t n_rows, std::uint64_t number) {
    Rows rows{{}, {}, number};
    for (const auto width : plan.width)
        for (std::size_t i = 0; i < n_rows; ++i)  // many of one code
            rows.codes.push_back(static_cast<std::uint8_t>(dice.unit() < 0.3 ? width - 1 : dice.below(width)));
    for (std::size_t i = 0; i < n_rows; ++i) rows.target.push_back(static_cast<std::uint16_t>(dice.below(plan.n_codes)));
    return rows;
}

// A tree of so many levels whose nodes are split with some probability, and requests for columns and shadows.
void add_tree(Dice& dice, LevelPlan& plan, std::uint32_t depth, double share_split, double share_slots) {
    const std::size_t begin = plan.node_column.size();
    const auto n_nodes = [&] { return static_cast<std::uint32_t>(plan.node_column.size() - begin); };
    const auto add_node = [&] {
        plan.node_column.push_back(dice.below(std::uint32_t(plan.width.size())));
        plan.first_child.push_back(n_nodes() - 1);
        plan.child_of.insert(plan.child_of.end(), kCodes, 0);
    };
    add_node();
    std::uint32_t level_begin = 0;
    for (std::uint32_t level = 0; level < depth; ++level) {
        const std::uint32_t level_end = n_nodes();
        for (std::uint32_t node = level_begin; node < level_end; ++node) {
            if (dice.unit() > share_split) continue;
            const std::uint32_t n_children = 2 + dice.below(level == 0 ? 3 : 2);
            plan.first_child[begin + node] = n_nodes();
            for (std::size_t code = 0; code < kCodes; ++code)
                plan.child_of[(begin + node) * kCodes + code] = static_cast<std::uint8_t>(dice.below(n_children));
            for (std::uint32_t k = 0; k < n_children; ++k) add_node();
        }
        level_begin = level_end;
    }
    std::uint32_t n_slots = 0;
    for (std::uint32_t node = 0; node < n_nodes(); ++node)  // leaves above the last level may have slots too
        plan.slot.push_back(plan.first_child[begin + node] == node && dice.unit() < share_slots ? n_slots++
                                                                                                : LevelPlan::kNoSlot);
    plan.n_slots.push_back(n_slots);
    plan.depth.push_back(depth);
    plan.nodes_of.push_back(static_cast<std::uint32_t>(plan.node_column.size()));
    for (const std::uint32_t shadow : {0U, 1U, 4U, 7U})
        for (std::uint32_t column = 0; column < plan.width.size(); ++column)
            if (dice.unit() < 0.6) plan.request_column.push_back(column), plan.request_shadow.push_back(shadow);
    plan.requests_of.push_back(static_cast<std::uint32_t>(plan.request_column.size()));
}

LevelPlan make_plan(Dice& dice, bool quantity, std::uint32_t n_codes) {
    LevelPlan plan;
    plan.nodes_of = plan.requests_of = {0};
    plan.width = {2, 3, 16, 17, 255, 256};
    plan.n_codes = n_codes;
    plan.seed = 11 + dice.below(5);
    if (quantity)
        for (std::uint32_t c = 0; c < n_codes; ++c)
            plan.scores.push_back(c == 0 ? LevelPlan::kMaxScore - 1 : dice.below(LevelPlan::kMaxScore));
    return plan;
}

struct Sums {
    std::vector<std::int64_t> sums, counts;
    bool operator==(const Sums&) const = default;
};

Sums zeros(const LevelPlan& plan) {
    Sums sums;
    std::size_t n = 0, n_slots = 0;
    for (std::size_t tree = 0; tree < plan.n_trees(); ++tree) {
        n_slots += plan.n_slots[tree];
        for (auto r = plan.requests_of[tree]; r < plan.requests_of[tree + 1]; ++r)
            n += plan.width[plan.request_column[r]] * plan.n_slots[tree] * plan.n_sums();
    }
    sums.sums.resize(n);
    sums.counts.resize(n_slots * plan.n_codes);
    return sums;
}

std::uint32_t slot_of(const LevelPlan& plan, std::size_t tree, const Rows& rows, std::size_t row) {
    std::uint32_t node = 0;
    const std::size_t begin = plan.nodes_of[tree];
    for (std::uint32_t step = 0; step < plan.depth[tree]; ++step) {
        const std::uint8_t code = rows.codes[plan.node_column[begin + node] * rows.target.size() + row];
        node = plan.first_child[begin + node] + plan.child_of[(begin + node) * kCodes + code];
    }
    return plan.slot[begin + node];
}

// One row after the other, as the header says it.
void add_literally(const LevelPlan& plan, const Rows& rows, Sums& to) {
    const std::size_t n_rows = rows.target.size();
    std::size_t at = 0, at_counts = 0;
    for (std::size_t tree = 0; tree < plan.n_trees(); ++tree) {
        for (std::size_t i = 0; i < n_rows; ++i)
            if (const auto slot = slot_of(plan, tree, rows, i); slot != LevelPlan::kNoSlot)
                ++to.counts[at_counts + slot * plan.n_codes + rows.target[i]];
        at_counts += plan.n_slots[tree] * plan.n_codes;
        for (auto r = plan.requests_of[tree]; r < plan.requests_of[tree + 1]; ++r) {
            const std::size_t column = plan.request_column[r], width = plan.width[column];
            std::vector<std::uint16_t> from(n_rows);
            std::iota(from.begin(), from.end(), std::uint16_t{0});
            if (plan.request_shadow[r] > 0) from = block_permutation(plan.seed, plan.request_shadow[r] - 1, rows.block());
            for (std::size_t i = 0; i < n_rows; ++i) {
                const auto slot = slot_of(plan, tree, rows, i);
                if (slot == LevelPlan::kNoSlot) continue;
                std::int64_t* const histogram = to.sums.data() + at + slot * plan.n_sums() * width;
                const std::size_t code = rows.codes[column * n_rows + from[i]];
                if (plan.scores.empty()) {
                    ++histogram[rows.target[i] * width + code];
                } else {
                    ++histogram[code];
                    histogram[width + code] += plan.scores[rows.target[i]];
                }
            }
            at += width * plan.n_slots[tree] * plan.n_sums();
        }
    }
    assert(at == to.sums.size() && at_counts == to.counts.size());
}

Sums found(const LevelPlan& plan, const std::vector<Rows>& blocks) {
    Sums sums = zeros(plan);
    for (const auto& rows : blocks) add_level(rows.block(), plan, sums.sums, sums.counts, {});
    return sums;
}

Sums literal(const LevelPlan& plan, const std::vector<Rows>& blocks) {
    Sums sums = zeros(plan);
    for (const auto& rows : blocks) add_literally(plan, rows, sums);
    return sums;
}

void several_trees(bool quantity, std::uint32_t n_codes) {
    Dice dice(quantity ? 1 : 2);
    for (int round = 0; round < 4; ++round) {
        LevelPlan plan = make_plan(dice, quantity, n_codes);
        for (const std::uint32_t depth : {0U, 3U, 1U, 5U}) add_tree(dice, plan, depth, 0.8, round == 3 ? 1.0 : 0.7);
        std::vector<Rows> blocks;
        for (const std::size_t n_rows : {1, 63, 64, 65, 0, 500})
            blocks.push_back(make_rows(dice, plan, n_rows, 10 + blocks.size()));
        const auto expected = literal(plan, blocks);
        assert(found(plan, blocks) == expected);
        std::reverse(blocks.begin(), blocks.end());
        assert(found(plan, blocks) == expected);
    }
}

// More than 256 slots and classes together: keys of 32 bits. Beside a tree with few.
void many_keys(bool quantity) {
    Dice dice(3);
    LevelPlan plan = make_plan(dice, quantity, 3);
    for (const std::uint32_t depth : {9U, 0U, 4U}) add_tree(dice, plan, depth, 0.95, 1.0);
    assert(plan.n_slots[0] > 256);
    const std::vector<Rows> blocks{make_rows(dice, plan, 700, 0), make_rows(dice, plan, 129, 1)};
    assert(found(plan, blocks) == literal(plan, blocks));
}

// Just as many keys as 16 bits hold, and one more; every row in one cell.
void at_the_limit() {
    for (const std::uint32_t n_codes : {127U, 128U, 129U, 255U, 256U}) {
        LevelPlan plan;
        plan.nodes_of = plan.requests_of = {0, 1};
        plan.node_column = plan.first_child = plan.slot = plan.depth = plan.request_column = plan.request_shadow = {0};
        plan.child_of.assign(kCodes, 0);
        plan.n_slots = {1};
        plan.width = {256};
        plan.n_codes = n_codes;
        Rows rows{std::vector<std::uint8_t>(kMaxBlockRows, 255), {}, 0};
        rows.target.assign(kMaxBlockRows, static_cast<std::uint16_t>(n_codes - 1));
        assert(found(plan, {rows}) == literal(plan, {rows}));
        plan.scores.assign(n_codes, LevelPlan::kMaxScore - 1);  // the largest sum that there is
        assert(found(plan, {rows}) == literal(plan, {rows}));
    }
}

// Whatever the order of the requests.
void requests_in_any_order() {
    Dice dice(4);
    for (const bool quantity : {false, true}) {
        LevelPlan plan = make_plan(dice, quantity, 3);
        add_tree(dice, plan, 2, 1.0, 1.0);
        std::reverse(plan.request_column.begin(), plan.request_column.end());
        std::reverse(plan.request_shadow.begin(), plan.request_shadow.end());
        const std::vector<Rows> blocks{make_rows(dice, plan, 300, 5)};
        assert(found(plan, blocks) == literal(plan, blocks));
    }
}

void permutations() {
    Dice dice(5);
    const LevelPlan plan = make_plan(dice, false, 2);
    const Rows rows = make_rows(dice, plan, 1000, 3);
    const auto first = block_permutation(1, 2, rows.block());
    assert(first == block_permutation(1, 2, rows.block()));
    std::vector<std::uint16_t> sorted(first);
    std::sort(sorted.begin(), sorted.end());
    for (std::size_t i = 0; i < sorted.size(); ++i) assert(sorted[i] == i);
    Rows other(rows);
    other.number = 4;
    assert(first != block_permutation(1, 2, other.block()));
    assert(first != block_permutation(1, 3, rows.block()));
    assert(first != block_permutation(2, 2, rows.block()));
}

void stops() {
    Dice dice(6);
    LevelPlan plan = make_plan(dice, false, 2);
    add_tree(dice, plan, 5, 1.0, 1.0);
    const Rows rows = make_rows(dice, plan, 60000, 0);
    Sums sums = zeros(plan);
    bool stopped = false;
    try {
        add_level(rows.block(), plan, sums.sums, sums.counts, [] { return true; });
    } catch (const Interrupted&) {
        stopped = true;
    }
    assert(stopped);
}

}  // namespace

int main() {
    for (const std::uint32_t n_codes : {1U, 2U, 3U, 7U, 40U}) {
        several_trees(false, n_codes);
        several_trees(true, n_codes);
    }
    many_keys(false);
    many_keys(true);
    at_the_limit();
    requests_in_any_order();
    permutations();
    stops();
    return passed("level_sums");
}
