#include "hist/level_sums.hpp"

#include <algorithm>
#include <array>
#include <numeric>

#include "base/rng.hpp"

namespace foresift {
namespace {

// The permutations of a block, each drawn when it is asked for.
class Permutations {
public:
    Permutations(const CodeBlock& block, std::uint64_t seed) : block_(block), seed_(seed) {}
    const std::vector<std::uint16_t>& of(std::size_t number) {
        if (drawn_.size() <= number) drawn_.resize(number + 1);
        if (drawn_[number].empty()) drawn_[number] = block_permutation(seed_, number, block_);
        return drawn_[number];
    }

private:
    const CodeBlock& block_;
    std::uint64_t seed_;
    std::vector<std::vector<std::uint16_t>> drawn_;
};

// Rows are read in their order in the block, whatever node they are in: a key says where a row counts. A shadow has the
// keys in permuted order instead of the codes, so that all columns of a permutation share them. Key is an integer that
// holds kCodes times the number of keys.
template <class Key>
class LevelWalk {
public:
    LevelWalk(const CodeBlock& block, const LevelPlan& plan, Permutations& permutations, StopPoller& poll)
        : block_(block), plan_(plan), permutations_(permutations), poll_(poll), n_(block.n_rows()), nodes_(n_), keys_(n_),
          moved_(n_) {
        if (quantity()) parts_.resize(n_), moved_parts_.resize(n_);
    }

    void run(std::size_t tree, std::int64_t* sums, std::int64_t* counts) {
        find_nodes(tree);
        find_keys(tree, counts);
        std::uint32_t last = 0;
        const Key* keys = keys_.data();
        const std::uint64_t* parts = parts_.data();
        for (auto r = plan_.requests_of[tree]; r < plan_.requests_of[tree + 1]; ++r) {
            poll_(n_);
            const std::uint32_t shadow = plan_.request_shadow[r];
            if (shadow != last) {
                last = shadow;
                if (shadow != 0) move(permutations_.of(shadow - 1));
                keys = shadow != 0 ? moved_.data() : keys_.data();
                parts = shadow != 0 ? moved_parts_.data() : parts_.data();
            }
            const std::uint32_t column = plan_.request_column[r], width = plan_.width[column];
            if (quantity())
                add_scores(block_.column(column), width, keys, parts, sums);
            else
                add_rows(block_.column(column), width, keys, sums);
            sums += n_keys_ * width * (quantity() ? 2 : 1);
        }
    }

private:
    bool quantity() const noexcept { return !plan_.scores.empty(); }

    void find_nodes(std::size_t tree) {
        const std::size_t begin = plan_.nodes_of[tree];
        const std::uint32_t *const column = plan_.node_column.data() + begin, *const first = plan_.first_child.data() + begin;
        const std::uint8_t *const child_of = plan_.child_of.data() + begin * kCodes, *const codes = block_.codes.data();
        std::fill(nodes_.begin(), nodes_.end(), 0U);
        for (std::uint32_t step = 0; step < plan_.depth[tree]; ++step) {
            poll_(n_);
            for (std::size_t i = 0; i < n_; ++i) {
                const std::uint32_t node = nodes_[i];
                nodes_[i] = first[node] + child_of[node * kCodes + codes[column[node] * n_ + i]];
            }
        }
    }

    // Slot and class of every row, or its slot if there are no classes; rows without a slot come last.
    void find_keys(std::size_t tree, std::int64_t* counts) {
        const std::uint32_t* const slot = plan_.slot.data() + plan_.nodes_of[tree];
        const std::uint32_t n_slots = plan_.n_slots[tree], per_slot = quantity() ? 1 : plan_.n_codes;
        for (std::size_t i = 0; i < n_; ++i) {
            const std::uint32_t at = std::min(slot[nodes_[i]], n_slots), target = block_.target[i];
            keys_[i] = static_cast<Key>((at * per_slot + (quantity() ? 0U : target)) * kCodes);
            if (quantity()) parts_[i] = kOne + plan_.scores[target];
            if (at < n_slots) ++counts[at * plan_.n_codes + target];
        }
        n_keys_ = std::size_t{n_slots} * per_slot;
        n_all_keys_ = n_keys_ + per_slot;
    }

    // Row i of the shadow has the code of row permutation[i]; so row permutation[i] has the key of row i.
    void move(const std::vector<std::uint16_t>& permutation) {
        for (std::size_t i = 0; i < n_; ++i) moved_[permutation[i]] = keys_[i];
        if (quantity())
            for (std::size_t i = 0; i < n_; ++i) moved_parts_[permutation[i]] = parts_[i];
    }

    // Of few cells neighbours often meet in one: copies take turns, so that no increment waits for the one before it.
    void add_rows(const std::uint8_t* code, std::uint32_t width, const Key* keys, std::int64_t* sums) {
        const std::size_t copies = n_all_keys_ <= kFewKeys ? 2 : 1, size = n_all_keys_ * kCodes;
        near_.assign(copies * size, 0);
        std::uint16_t *const even = near_.data(), *const odd = even + (copies - 1) * size;
        std::array<Key, kTogether> cells;
        std::size_t i = 0;
        for (; i + kTogether <= n_; i += kTogether) {
            for (std::size_t k = 0; k < kTogether; ++k) cells[k] = static_cast<Key>(keys[i + k] + code[i + k]);
            for (std::size_t k = 0; k < kTogether; k += 2) ++even[cells[k]], ++odd[cells[k + 1]];
        }
        for (; i < n_; ++i) ++even[static_cast<std::size_t>(keys[i]) + code[i]];
        for (std::size_t key = 0; key < n_keys_; ++key)
            for (std::size_t copy = 0; copy < copies; ++copy) {
                const std::uint16_t* const from = even + copy * size + key * kCodes;
                for (std::uint32_t k = 0; k < width; ++k) sums[key * width + k] += from[k];
            }
    }

    // One addition counts a row and adds its score: there are fewer than 2^16 rows, of scores below 2^24.
    void add_scores(const std::uint8_t* code, std::uint32_t width, const Key* keys, const std::uint64_t* parts,
                    std::int64_t* sums) {
        both_.assign(n_all_keys_ * kCodes, 0);
        for (std::size_t i = 0; i < n_; ++i) both_[static_cast<std::size_t>(keys[i]) + code[i]] += parts[i];
        for (std::size_t key = 0; key < n_keys_; ++key) {
            const std::uint64_t* const from = both_.data() + key * kCodes;
            std::int64_t* const to = sums + key * 2 * width;
            for (std::uint32_t k = 0; k < width; ++k) {
                to[k] += static_cast<std::int64_t>(from[k] >> kShift);
                to[width + k] += static_cast<std::int64_t>(from[k] & (kOne - 1));
            }
        }
    }

    static constexpr std::size_t kFewKeys = 16, kTogether = 64;
    static constexpr unsigned kShift = 44;
    static constexpr std::uint64_t kOne = std::uint64_t{1} << kShift;

    const CodeBlock& block_;
    const LevelPlan& plan_;
    Permutations& permutations_;
    StopPoller& poll_;
    std::size_t n_, n_keys_ = 0, n_all_keys_ = 0;
    std::vector<std::uint32_t> nodes_;
    std::vector<Key> keys_, moved_;
    std::vector<std::uint64_t> parts_, moved_parts_;
    std::vector<std::uint16_t> near_;
    std::vector<std::uint64_t> both_;
};

}  // namespace

std::vector<std::uint16_t> block_permutation(std::uint64_t seed, std::uint64_t number, const CodeBlock& block) {
    std::vector<std::uint16_t> rows(block.n_rows());
    std::iota(rows.begin(), rows.end(), std::uint16_t{0});
    Bits bits(seed, number, kShadowStream + ((block.number + 1) << 32));
    shuffle(rows, bits);
    return rows;
}

void add_level(const CodeBlock& block, const LevelPlan& plan, std::span<std::int64_t> sums, std::span<std::int64_t> counts,
               const Stop& stop) {
    if (block.n_rows() == 0) return;
    Permutations permutations(block, plan.seed);
    StopPoller poll(stop);
    LevelWalk<std::uint16_t> narrow(block, plan, permutations, poll);
    LevelWalk<std::uint32_t> wide(block, plan, permutations, poll);
    std::int64_t *to = sums.data(), *to_counts = counts.data();
    for (std::size_t tree = 0; tree < plan.n_trees(); ++tree) {
        const std::size_t n_slots = plan.n_slots[tree], n_keys = (n_slots + 1) * (plan.scores.empty() ? plan.n_codes : 1);
        if (n_keys * kCodes <= std::size_t{1} << 16)
            narrow.run(tree, to, to_counts);
        else
            wide.run(tree, to, to_counts);
        std::size_t width = 0;
        for (auto r = plan.requests_of[tree]; r < plan.requests_of[tree + 1]; ++r) width += plan.width[plan.request_column[r]];
        to += width * n_slots * plan.n_sums();
        to_counts += n_slots * plan.n_codes;
    }
}

}  // namespace foresift
