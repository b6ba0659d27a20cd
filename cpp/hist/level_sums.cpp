#include "hist/level_sums.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <numeric>

#include "base/rng.hpp"

namespace foresift {
namespace {

// Rows of a node, those of a class together; `ends` says where each class ends. Of a quantity there is one class.
struct NodeSpan {
    std::span<const std::uint16_t> rows;
    std::span<const std::uint32_t> ends;
};

class LevelWalk {
public:
    LevelWalk(const CodeBlock& block, const LevelPlan& plan, std::span<std::int64_t> sums, std::span<std::int64_t> counts,
              const Stop& stop)
        : block_(block), plan_(plan), sums_(sums), counts_(counts), poll_(stop),
          n_classes_(plan.scores.empty() ? plan.n_codes : 1), moved_(block.n_rows()) {
        const std::size_t n_nodes = plan.n_nodes();
        sums_at_.reserve(plan.request_column.size());
        std::size_t at = 0;
        for (const auto column : plan.request_column) {
            sums_at_.push_back(at);
            at += plan.n_sums() * plan.width[column];
        }
        counts_at_.assign(n_nodes, 0);
        wanted_.assign(n_nodes, 0);
        for (std::size_t node = 0, n_before = 0; node < n_nodes; ++node) {
            wanted_[node] = plan.requests_of[node] < plan.requests_of[node + 1];
            counts_at_[node] = plan.n_codes * n_before;
            n_before += wanted_[node];
        }
        for (std::size_t node = n_nodes; node-- > 0;)  // children come after their parents
            for (auto s = plan.splits_of[node]; s < plan.splits_of[node + 1]; ++s)
                if (any_wanted(s)) wanted_[node] = 1;
    }

    void run() {
        const std::size_t n = block_.n_rows();
        std::vector<std::uint16_t> rows(n);
        std::vector<std::uint32_t> ends(n_classes_);
        if (n_classes_ == 1) {
            std::iota(rows.begin(), rows.end(), std::uint16_t{0});
            ends[0] = static_cast<std::uint32_t>(n);
        } else {  // class after class
            std::vector<std::uint32_t> begins(n_classes_ + 1);
            for (const auto c : block_.target) ++begins[c + std::size_t{1}];
            std::partial_sum(begins.begin(), begins.end(), begins.begin());
            std::copy(begins.begin() + 1, begins.end(), ends.begin());
            for (std::size_t i = 0; i < n; ++i) rows[begins[block_.target[i]]++] = static_cast<std::uint16_t>(i);
        }
        if (n > 0 && wanted_[0]) visit(0, {rows, ends}, 0);
    }

private:
    struct Level {  // the children of the node that is being divided at a depth, one after the other
        std::vector<std::uint16_t> rows, spare;
        std::vector<std::uint32_t> begins, ends;
    };

    bool any_wanted(std::uint32_t split) const {
        const auto* first = wanted_.data() + plan_.first_child[split];
        return std::any_of(first, first + plan_.n_children[split], [](auto w) { return w != 0; });
    }

    void visit(std::uint32_t node, NodeSpan at, std::size_t depth) {
        poll_(at.rows.size() + 64);
        if (plan_.requests_of[node] < plan_.requests_of[node + 1]) answer(node, at);
        if (levels_.size() <= depth) levels_.resize(depth + 1);
        for (auto s = plan_.splits_of[node]; s < plan_.splits_of[node + 1]; ++s) {
            if (!any_wanted(s)) continue;
            const std::size_t n_children = plan_.n_children[s];
            divide(s, at, levels_[depth]);
            for (std::size_t b = 0; b < n_children; ++b) {
                const std::uint32_t child = plan_.first_child[s] + static_cast<std::uint32_t>(b);
                const Level& level = levels_[depth];  // deeper visits may move the levels
                const std::size_t begin = level.begins[b], end = level.begins[b + 1];
                if (!wanted_[child] || begin == end) continue;
                const auto ends = std::span(level.ends).subspan(b * n_classes_, n_classes_);
                visit(child, {std::span(level.rows).subspan(begin, end - begin), ends}, depth + 1);
            }
        }
    }

    // Rows stay in the order of their classes.
    void divide(std::uint32_t split, NodeSpan at, Level& level) {
        const std::size_t n_children = plan_.n_children[split], n = at.rows.size();
        const std::uint8_t* const code = block_.column(plan_.split_column[split]);
        const std::uint8_t* const child = plan_.child_of.data() + split * kCodes;
        level.rows.resize(n), level.spare.resize(n);
        level.begins.assign(n_children + 1, 0);
        level.ends.assign(n_children * n_classes_, 0);
        if (n_children == 2) {
            std::uint16_t *const left = level.rows.data(), *const right = level.spare.data();
            std::size_t n_left = 0, n_right = 0, i = 0;
            for (std::size_t c = 0; c < n_classes_; ++c) {
                for (; i < at.ends[c]; ++i) {  // no branch to mispredict
                    const std::uint16_t row = at.rows[i];
                    const std::size_t to_right = child[code[row]];
                    left[n_left] = row;
                    right[n_right] = row;
                    n_left += 1 - to_right;
                    n_right += to_right;
                }
                level.ends[c] = static_cast<std::uint32_t>(n_left);
                level.ends[n_classes_ + c] = static_cast<std::uint32_t>(n_right);
            }
            std::copy_n(right, n_right, left + n_left);
            level.begins[1] = static_cast<std::uint32_t>(n_left);
            level.begins[2] = static_cast<std::uint32_t>(n);
            return;
        }
        for (const auto row : at.rows) ++level.begins[child[code[row]] + std::size_t{1}];
        std::partial_sum(level.begins.begin(), level.begins.end(), level.begins.begin());
        std::vector<std::uint32_t> to(level.begins.begin(), level.begins.end() - 1);
        std::size_t i = 0;
        for (std::size_t c = 0; c < n_classes_; ++c) {
            for (; i < at.ends[c]; ++i) level.rows[to[child[code[at.rows[i]]]]++] = at.rows[i];
            for (std::size_t b = 0; b < n_children; ++b) level.ends[b * n_classes_ + c] = to[b] - level.begins[b];
        }
    }

    void answer(std::uint32_t node, NodeSpan at) {
        for (const auto row : at.rows) ++counts_[counts_at_[node] + block_.target[row]];
        if (!plan_.scores.empty()) {
            parts_.resize(at.rows.size());
            for (std::size_t i = 0; i < at.rows.size(); ++i)
                parts_[i] = kOne + plan_.scores[block_.target[at.rows[i]]];
        }
        std::uint32_t last = 0;
        const std::uint16_t* rows = at.rows.data();
        for (auto r = plan_.requests_of[node]; r < plan_.requests_of[node + 1]; ++r) {
            poll_(at.rows.size());
            const std::uint32_t shadow = plan_.request_shadow[r];
            if (shadow != last) {
                last = shadow;
                rows = shadow ? moved(shadow - 1, at.rows) : at.rows.data();
            }
            const std::uint32_t column = plan_.request_column[r];
            if (plan_.scores.empty())
                count(block_.column(column), plan_.width[column], rows, at.ends, sums_.data() + sums_at_[r]);
            else
                add_scores(block_.column(column), plan_.width[column], rows, sums_.data() + sums_at_[r]);
        }
    }

    const std::uint16_t* moved(std::uint32_t number, std::span<const std::uint16_t> rows) {
        if (permutations_.size() <= number) permutations_.resize(number + std::size_t{1});
        auto& permutation = permutations_[number];
        if (permutation.empty()) permutation = block_permutation(plan_.seed, number, block_);
        for (std::size_t i = 0; i < rows.size(); ++i) moved_[i] = permutation[rows[i]];
        return moved_.data();
    }

    // Counts are made close at hand. Of few codes, neighbours often have the same: four counts take turns, so that no
    // increment waits for the one before it.
    void count(const std::uint8_t* code, std::uint32_t width, const std::uint16_t* rows, std::span<const std::uint32_t> ends,
               std::int64_t* to) {
        std::size_t i = 0;
        for (const auto end : ends) {
            const std::size_t n = end - i;
            if (width > kFewCodes || n * 4 < width) {
                for (; i + 4 <= end; i += 4) {  // four row numbers by one load
                    std::uint64_t four;
                    std::memcpy(&four, rows + i, sizeof four);
                    ++to[code[four & 0xffff]];
                    ++to[code[(four >> 16) & 0xffff]];
                    ++to[code[(four >> 32) & 0xffff]];
                    ++to[code[four >> 48]];
                }
                for (; i < end; ++i) ++to[code[rows[i]]];
            } else {
                near_.fill(0);
                std::uint32_t *const a = near_.data(), *const b = a + kCodes, *const c = b + kCodes, *const d = c + kCodes;
                for (; i + 4 <= end; i += 4) {
                    ++a[code[rows[i]]];
                    ++b[code[rows[i + 1]]];
                    ++c[code[rows[i + 2]]];
                    ++d[code[rows[i + 3]]];
                }
                for (; i < end; ++i) ++a[code[rows[i]]];
                for (std::uint32_t k = 0; k < width; ++k) to[k] += std::int64_t{a[k]} + b[k] + c[k] + d[k];
            }
            to += width;
        }
    }

    // One addition counts a row and adds its score: there are at most 2^16 rows, of scores below 2^24.
    void add_scores(const std::uint8_t* code, std::uint32_t width, const std::uint16_t* rows, std::int64_t* to) {
        both_.fill(0);
        std::uint64_t *const a = both_.data(), *const b = a + kCodes;
        std::size_t i = 0;
        const std::size_t n = parts_.size();
        for (; i + 2 <= n; i += 2) {
            a[code[rows[i]]] += parts_[i];
            b[code[rows[i + 1]]] += parts_[i + 1];
        }
        if (i < n) a[code[rows[i]]] += parts_[i];
        for (std::uint32_t k = 0; k < width; ++k) {
            const std::uint64_t sum = a[k] + b[k];
            to[k] += static_cast<std::int64_t>(sum >> kShift);
            to[width + k] += static_cast<std::int64_t>(sum & (kOne - 1));
        }
    }

    static constexpr std::uint32_t kFewCodes = 32;
    static constexpr unsigned kShift = 44;
    static constexpr std::uint64_t kOne = std::uint64_t{1} << kShift;

    const CodeBlock& block_;
    const LevelPlan& plan_;
    std::span<std::int64_t> sums_, counts_;
    StopPoller poll_;
    std::size_t n_classes_;
    std::vector<std::size_t> sums_at_, counts_at_;
    std::vector<std::uint8_t> wanted_;  // whether a node, or one below it, has requests
    std::vector<Level> levels_;
    std::vector<std::vector<std::uint16_t>> permutations_;
    std::vector<std::uint16_t> moved_;
    std::vector<std::uint64_t> parts_;
    alignas(64) std::array<std::uint32_t, 4 * kCodes> near_;
    alignas(64) std::array<std::uint64_t, 2 * kCodes> both_;
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
    LevelWalk(block, plan, sums, counts, stop).run();
}

}  // namespace foresift
