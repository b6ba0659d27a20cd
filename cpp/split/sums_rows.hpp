// What rows add up to, for many groups of rows side by side: the categories of a column, or stretches between cuts.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "split/node_rows.hpp"

namespace foresift {

/// Sums of the cases of every group, but for their weight in all, which users of this keep if they need it. Groups can
/// be put in some orders by `key`, of which the best division in two of a convex criterion is a prefix.
template <class Case, bool kQuantity = Case::kQuantity>
class SumsRows;

/// Classes: a weight per class, and an order by the share of every class.
template <class Case>
class SumsRows<Case, false> {
public:
    using Weight = typename Case::Weight;

    void assign(std::size_t n_groups, const Tally<Weight>& like) {
        n_classes_ = like.n_classes();
        counts_.assign(n_groups * n_classes_, Weight{0});
    }
    void push_back() { counts_.resize(counts_.size() + n_classes_, Weight{0}); }
    std::size_t size() const noexcept { return counts_.size() / n_classes_; }
    void add(std::size_t g, const Case& c) noexcept { counts_[g * n_classes_ + c.cls()] += c.weight(); }
    std::span<const Weight> row(std::size_t g) const noexcept { return {&counts_[g * n_classes_], n_classes_}; }
    Weight weight(std::size_t g) const noexcept {
        Weight sum = 0;
        for (const Weight w : row(g)) sum += w;
        return sum;
    }
    /// Adds a group to `side`, or takes it away; not its weight in all.
    void move(std::size_t g, Tally<Weight>& side, bool in) const noexcept {
        for (std::size_t c = 0; c < n_classes_; ++c) side.by_class[c] += in ? row(g)[c] : -row(g)[c];
    }
    std::size_t n_orders() const noexcept { return n_classes_; }
    double key(std::size_t g, std::size_t order, Weight weight) const noexcept { return double(row(g)[order]) / double(weight); }
    /// Whether an order sorts nothing, because no row has that class.
    static bool is_flat(std::size_t order, const Tally<Weight>& totals) noexcept { return totals.by_class[order] == 0; }
    bool one_order_suffices() const noexcept { return n_classes_ == 2; }

private:
    std::size_t n_classes_ = 0;
    std::vector<Weight> counts_;
};

/// A quantity: one order, by the mean (Fisher 1958).
template <class Case>
class SumsRows<Case, true> {
public:
    using Weight = typename Case::Weight;

    void assign(std::size_t n_groups, const ValueSums<Weight>& like) {
        nothing_.clear_like(like);
        moments_.assign(n_groups, nothing_);
    }
    void push_back() { moments_.push_back(nothing_); }
    std::size_t size() const noexcept { return moments_.size(); }
    void add(std::size_t g, const Case& c) noexcept { moments_[g].add(c); }
    void add(std::size_t g, const ValueSums<Weight>& more) noexcept { moments_[g].add(more); }
    const ValueSums<Weight>& row(std::size_t g) const noexcept { return moments_[g]; }
    Weight weight(std::size_t g) const noexcept { return moments_[g].total; }
    void move(std::size_t g, ValueSums<Weight>& side, bool in) const noexcept {
        const Weight total = side.total;
        in ? side.add(moments_[g]) : side.remove(moments_[g]);
        side.total = total;
    }
    std::size_t n_orders() const noexcept { return 1; }
    double key(std::size_t g, std::size_t, Weight weight) const noexcept { return moments_[g].sum / double(weight); }
    static bool is_flat(std::size_t, const ValueSums<Weight>&) noexcept { return false; }
    bool one_order_suffices() const noexcept { return true; }

private:
    ValueSums<Weight> nothing_;
    std::vector<ValueSums<Weight>> moments_;
};

}  // namespace foresift
