// The best split of a nominal column at one node: one branch per category, or two sets of categories.
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <numeric>
#include <span>
#include <utility>
#include <vector>

#include "split/criterion.hpp"
#include "split/node_rows.hpp"
#include "split/sums_rows.hpp"

namespace foresift {

/// categories[g] goes to branch branches[g]; categories ascend, every branch 0..n_branches-1 occurs.
struct Grouping {
    double score = -std::numeric_limits<double>::infinity();
    std::vector<std::uint16_t> categories, branches;
    std::uint16_t n_branches = 0;

    bool found() const noexcept { return n_branches > 0; }
};

/// The categories present at a node: their weights, and what their rows add up to.
template <class Case>
struct CategoryTable {
    using Weight = typename Case::Weight;
    using Sums = typename Case::Sums;
    std::vector<std::uint16_t> categories;
    std::vector<Weight> sizes;
    SumsRows<Case> sums;
    Sums totals;

    std::size_t size() const noexcept { return categories.size(); }

    /// From items sorted by code; `like` says how many classes there are.
    void assign(std::span<const Item<Case>> items, const Sums& like) {
        categories.clear(), sizes.clear();
        sums.assign(0, like);
        for (const auto& item : items) {
            if (categories.empty() || categories.back() != item.code) {
                categories.push_back(static_cast<std::uint16_t>(item.code));
                sums.push_back();
                sizes.push_back(Weight{0});
            }
            sums.add(size() - 1, item.row);
            sizes.back() += item.row.weight();
        }
        totals.clear_like(like);
        for (std::size_t g = 0; g < size(); ++g) move(g, totals, true);
    }
    /// Adds a category to `side`, or takes it away.
    void move(std::size_t g, Sums& side, bool in) const noexcept {
        sums.move(g, side, in);
        side.total += in ? sizes[g] : -sizes[g];
    }
};

/// Up to this many categories every division in two is tried; beyond, see `two_sets`.
inline constexpr std::size_t kMostForEverySubset = 10;

template <class Case, class Score>
class SubsetSearch {
public:
    using Weight = typename Case::Weight;
    using Sums = typename Case::Sums;

    SubsetSearch(Score score, const CategoryTable<Case>& table, double min_leaf, double tie)
        : score_(score), table_(table), left_(table.totals), totals_(table.totals), min_leaf_(min_leaf), tie_(tie) {}

    /// The best division in two sets. All subsets up to ten categories; beyond, single categories and the
    /// prefixes of every order of the categories by the share of one class. With two classes and a criterion
    /// that is convex in all counts at once, those prefixes hold the optimum (Breiman et al. 1984, 4.2), as those
    /// of the order by the mean do for a quantity. So `prefixes_suffice` skips the rest, unless the optimum is too
    /// small on one side.
    Grouping two_sets(bool prefixes_suffice) {
        if (table_.size() < 2) return {};
        if (prefixes_suffice) {
            const double least = std::exchange(min_leaf_, 0.0);
            prefixes(table_.sums.n_orders() - 1);
            min_leaf_ = least;
            if (large_enough(best_.weight)) return best_division();
            best_ = {};
        }
        if (table_.size() <= kMostForEverySubset) {
            all_subsets();
        } else {
            singletons();
            bool in_table_order = false;  // that is how all classes sort that no row has
            for (std::size_t c = 0; c < table_.sums.n_orders(); ++c) {
                const bool flat = table_.sums.is_flat(c, totals_);
                if (!flat || !in_table_order) prefixes(c);
                in_table_order |= flat;
            }
        }
        return best_division();
    }

    /// One branch per category; at least two of them must reach the least weight.
    Grouping multiway() const {
        Grouping result;
        std::size_t large = 0;
        for (const Weight size : table_.sizes) large += double(size) >= min_leaf_;
        if (table_.size() < 2 || large < 2) return result;
        result.categories = table_.categories;
        result.branches.resize(table_.size());
        std::iota(result.branches.begin(), result.branches.end(), std::uint16_t{0});
        result.n_branches = static_cast<std::uint16_t>(table_.size());
        return result;
    }

private:
    void flip(std::size_t g) noexcept {
        in_left_[g] ^= 1;
        n_left_ += in_left_[g] ? 1 : -1;
        table_.move(g, left_, in_left_[g]);
    }
    void reset() {
        left_.clear();
        n_left_ = 0;
        in_left_.assign(table_.size(), 0);
    }

    bool large_enough(Weight left) const noexcept {
        return double(left) >= min_leaf_ && double(totals_.total - left) >= min_leaf_;
    }

    // How a division came about, which is all that must be kept of it.
    enum class Kind : std::uint8_t { none, subset, single, prefix };
    struct Found {
        double score = -std::numeric_limits<double>::infinity();
        Weight weight = 0;  // of the left side
        std::size_t smaller = 0;
        Kind kind = Kind::none;
        std::size_t order = 0, number = 0;
    };

    // Takes the present division if it is better; of equals the one with the smaller set, and the first.
    void offer(Kind kind, std::size_t order, std::size_t number) {
        if (!large_enough(left_.total)) return;
        const double score = score_of(score_, left_, totals_);
        const auto n_left = static_cast<std::size_t>(n_left_);
        const std::size_t smaller = std::min(n_left, table_.size() - n_left);
        if (score > best_.score + tie_ || (score > best_.score - tie_ && smaller < best_.smaller))
            best_ = {score, left_.total, smaller, kind, order, number};
    }

    // The smaller set is branch 0; of equally large ones that with the first category.
    Grouping best_division() {
        Grouping result;
        if (best_.kind == Kind::none) return result;
        reset();
        if (best_.kind == Kind::single) {
            flip(best_.number);
        } else if (best_.kind == Kind::prefix) {
            sort_by_key(best_.order);
            for (std::size_t i = 0; i < best_.number; ++i) flip(order_[i]);
        } else {
            const std::size_t gray = best_.number ^ (best_.number >> 1);
            for (std::size_t g = 0; g < table_.size(); ++g)
                if ((gray >> g) & 1) flip(g);
        }
        const std::size_t m = table_.size(), n_left = static_cast<std::size_t>(n_left_);
        const bool swap = 2 * n_left > m || (2 * n_left == m && !in_left_[0]);
        result.score = best_.score;
        result.n_branches = 2;
        result.categories = table_.categories;
        result.branches.resize(m);
        for (std::size_t g = 0; g < m; ++g) result.branches[g] = (in_left_[g] != 0) == swap;
        return result;
    }

    void all_subsets() {
        reset();
        const std::size_t m = table_.size();
        // Gray code: one category changes sides at a time; the last one stays right, so no division comes twice.
        for (std::uint32_t step = 1; step < (1U << (m - 1)); ++step) {
            flip(static_cast<std::size_t>(std::countr_zero(step)));
            offer(Kind::subset, 0, step);
        }
    }
    void singletons() {
        reset();
        for (std::size_t g = 0; g < table_.size(); ++g) {
            flip(g);
            offer(Kind::single, 0, g);
            in_left_[g] = 0;
            n_left_ = 0;
            left_.clear();
        }
    }
    void prefixes(std::size_t order) {
        reset();
        sort_by_key(order);
        for (std::size_t i = 0; i + 1 < order_.size(); ++i) {
            flip(order_[i]);
            offer(Kind::prefix, order, i + 1);
        }
    }
    void sort_by_key(std::size_t order) {
        order_.resize(table_.size());
        std::iota(order_.begin(), order_.end(), std::size_t{0});
        const auto key = [&](std::size_t g) { return table_.sums.key(g, order, table_.sizes[g]); };
        std::stable_sort(order_.begin(), order_.end(), [&](std::size_t a, std::size_t b) { return key(a) < key(b); });
    }

    Score score_;
    const CategoryTable<Case>& table_;
    Sums left_, totals_;
    double min_leaf_, tie_;
    std::vector<std::uint8_t> in_left_;
    std::ptrdiff_t n_left_ = 0;
    std::vector<std::size_t> order_;
    Found best_;
};

}  // namespace foresift
