#include "grow/grower.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "c45/prune.hpp"
#include "grow/tree_grower.hpp"
#include "walk/held_out.hpp"

namespace foresift {
namespace {

// Whole weights up to this total use a table.
constexpr double kLargestTable = 1 << 23;

}  // namespace

std::vector<std::uint32_t> Grower::drawn_rows(std::uint64_t tree) const {
    const auto n_rows = static_cast<std::uint32_t>(response_.size());
    const auto n = heavy_.empty() ? n_rows : static_cast<std::uint32_t>(heavy_.size());
    const auto row_at = [&](std::uint32_t i) { return heavy_.empty() ? i : heavy_[i]; };
    std::vector<std::uint32_t> times(n_rows, 0);
    Bits bits(options_.seed, tree, kRowStream);
    if (options_.draw == Draw::all) {
        for (std::uint32_t i = 0; i < n; ++i) times[row_at(i)] = 1;
    } else if (options_.draw == Draw::bootstrap) {
        for (std::uint32_t i = 0; i < options_.n_draw; ++i) ++times[row_at(bits.below(n))];
    } else {
        // Selection sampling: each row with the probability that is left for it.
        std::uint32_t wanted = options_.n_draw;
        for (std::uint32_t i = 0; i < n && wanted > 0; ++i)
            if (bits.below(n - i) < wanted) {
                times[row_at(i)] = 1;
                --wanted;
            }
    }
    return times;
}

std::vector<std::uint32_t> Grower::shadow_rows(std::uint64_t shadow) const {
    const std::size_t n_rows = response_.size();
    if (const auto& given = options_.shadow_rows; !given.empty())
        return {given.begin() + std::ptrdiff_t(shadow * n_rows), given.begin() + std::ptrdiff_t((shadow + 1) * n_rows)};
    std::vector<std::uint32_t> rows(n_rows);
    std::iota(rows.begin(), rows.end(), 0U);
    Bits bits(options_.seed, shadow, kShadowStream);
    if (heavy_.empty()) {
        shuffle(rows, bits);
        return rows;
    }
    auto moved = heavy_;
    shuffle(moved, bits);
    for (std::size_t i = 0; i < heavy_.size(); ++i) rows[heavy_[i]] = moved[i];
    return rows;
}

std::vector<double> Grower::shadow_ratios(std::uint64_t shadow) const {
    if (weights_.empty()) return {};
    const auto source = shadow_rows(shadow);
    std::vector<std::vector<std::uint32_t>> of_stratum(static_cast<std::size_t>(n_strata_));
    for (std::uint32_t i = 0; i < weights_.size(); ++i)  // in the order of the shadow: ties fall by chance
        if (weights_[source[i]] > 0) of_stratum[strata_[source[i]]].push_back(source[i]);
    std::vector<std::uint32_t> rank(weights_.size(), 0);
    bool vary = false;
    for (auto& rows : of_stratum) {
        const auto lighter = [&](std::uint32_t a, std::uint32_t b) { return weights_[a] < weights_[b]; };
        std::stable_sort(rows.begin(), rows.end(), lighter);
        for (std::uint32_t k = 0; k < rows.size(); ++k) rank[rows[k]] = k;
        vary = vary || (!rows.empty() && weights_[rows.front()] < weights_[rows.back()]);
    }
    if (!vary) return {};
    std::vector<double> ratios(weights_.size(), 1.0);
    for (std::uint32_t i = 0; i < ratios.size(); ++i) {
        if (!(weights_[i] > 0) || !(weights_[source[i]] > 0)) continue;
        const auto &own = of_stratum[strata_[i]], &other = of_stratum[strata_[source[i]]];
        if (own.empty()) continue;  // rows that are given need not be a permutation
        const std::uint64_t place = (2ULL * rank[source[i]] + 1) * own.size() / (2ULL * other.size());
        ratios[i] = weights_[own[place]] / weights_[i];
    }
    return ratios;
}

Grower::Grower(std::span<const Column> columns, const Response& response, std::span<const double> weights,
               const GrowOptions& options)
    : columns_(columns), response_(response), weights_(weights.begin(), weights.end()), options_(options) {
    if (!response.values.empty()) scale_values();
    if (!weights_.empty()) find_strata();
    if (std::find(weights.begin(), weights.end(), 0.0) != weights.end())
        for (std::uint32_t row = 0; row < weights.size(); ++row)
            if (weights[row] > 0) heavy_.push_back(row);
    const std::uint32_t n_permutations =
        options.shadow_of.empty() ? options.n_shadows
                                  : 1 + *std::max_element(options.shadow_of.begin(), options.shadow_of.end());
    for (std::uint32_t t = 0; t < n_permutations; ++t) shadows_.push_back({shadow_rows(t), shadow_ratios(t)});
    // Every tree has the same root, and what a column gains there is neither left to chance nor, as it is if trials
    // are not recorded, only as exact as the choice of the best column needs it.
    const bool plain = options.split.n_thresholds == 0 && options.split.criterion != Criterion::gain_ratio;
    const bool exact = plain && options.record_tried && options.level_columns.empty();
    if (options.n_shadows > 0 && options.draw == Draw::all && exact)
        shared_ = std::make_unique<SharedTrials>(columns.size(), options.n_shadows);
    if (options.correct_nominal) find_many_categories();
    double largest = 1;
    bool whole = true;
    for (const double w : weights) {
        largest = std::max(largest, w);
        whole = whole && w == std::floor(w);
    }
    const double n_drawn = options.draw == Draw::all ? double(response.size()) : double(options.n_draw);
    const bool parts = options.split.missing == Missing::fractional &&
                       std::any_of(columns.begin(), columns.end(), [](const Column& c) { return c.has_missing; });
    // The weight of a row is counted in 16 bits; a bootstrap draws some rows far more often than the average one.
    const double n_rows = heavy_.empty() ? double(response.size()) : double(heavy_.size());
    const double average = std::max(1.0, n_drawn / n_rows) * largest;
    whole_ = whole && !parts && average <= 1024 && n_drawn * largest <= kLargestTable &&
             response.n_classes < CountCase::kLimit;
    if (!whole_ || !response.values.empty()) return;
    of_whole_.resize(static_cast<std::size_t>(n_drawn * largest) + 1);
    const bool gini = options.split.criterion == Criterion::gini;
    for (std::size_t i = 1; i < of_whole_.size(); ++i) of_whole_[i] = gini ? 1 / double(i) : xlog2x(double(i));
}

void Grower::scale_values() {
    scale_ = scale_of(response_.values);
    values_ = scaled(response_.values, scale_);
    response_.values = values_;
    options_.min_gain = std::ldexp(options_.min_gain, -2 * scale_);
    order_.resize(values_.size());
    std::iota(order_.begin(), order_.end(), 0U);
    std::stable_sort(order_.begin(), order_.end(), [&](std::uint32_t a, std::uint32_t b) { return values_[a] < values_[b]; });
    const auto equal = [&](std::uint32_t a, std::uint32_t b) { return values_[a] == values_[b]; };
    if (std::adjacent_find(order_.begin(), order_.end(), equal) == order_.end()) order_.clear();
    response_.order = order_;
}

// Classes, or tenths of the rows of positive weight by the quantity; rows of the same value stay together.
void Grower::find_strata() {
    strata_.assign(response_.classes.begin(), response_.classes.end());
    n_strata_ = static_cast<std::int32_t>(response_.n_classes);
    if (values_.empty()) return;
    n_strata_ = 10;
    std::vector<double> sorted;
    for (std::size_t row = 0; row < values_.size(); ++row)
        if (weights_[row] > 0) sorted.push_back(values_[row]);
    std::sort(sorted.begin(), sorted.end());
    for (const double y : values_) {
        const auto n = std::ssize(sorted), below = std::lower_bound(sorted.begin(), sorted.end(), y) - sorted.begin();
        strata_.push_back(static_cast<std::int32_t>(std::min(below, n - 1) * n_strata_ / n));
    }
}

void Grower::find_many_categories() {
    has_many_.assign(columns_.size(), 0);
    for (std::size_t j = 0; j < columns_.size(); ++j) {
        const Column& column = columns_[j];
        if (!column.nominal || column.n_values <= kManyCategories) continue;
        std::vector<std::uint8_t> seen(column.n_values + std::size_t{1});
        Codes::of(column).with([&](const auto* codes) {
            if (heavy_.empty())
                for (std::size_t i = 0; i < response_.size(); ++i) seen[codes[i]] = 1;
            else
                for (const auto i : heavy_) seen[codes[i]] = 1;
        });
        has_many_[j] = std::count(seen.begin(), seen.end() - 1, 1) > std::ptrdiff_t{kManyCategories};
    }
}

// Gains and sums in the units of the quantity.
void Grower::unscale(Tree& tree) const {
    const double unit = std::ldexp(1.0, scale_), square = std::ldexp(1.0, 2 * scale_);
    for (auto& node : tree.nodes) node.gain *= square;
    for (auto& sum : tree.counts) sum *= unit;
    for (auto& trial : tree.tried) trial.gain *= square;
    for (auto& variance : tree.variance) variance *= square;
    for (auto& gain : tree.permuted) gain *= square;
}

template <class Case, class Score>
void Grower::grow_with(Score score, std::span<const std::uint64_t> trees, const ColumnDraw& draw,
                       const Stop& stop, const Take& take) const {
    TreeGrower<Case, Score> grower(columns_, response_, options_, score, draw, shadows_, shared_.get(), has_many_, stop);
    for (const auto tree : trees) {
        const auto times = drawn_rows(tree);
        Tree grown = grower.grow(tree, times, weights_);
        if constexpr (Case::kQuantity)
            unscale(grown);
        else if (options_.finish.wanted)
            grown = finish_c45({columns_, response_.classes, response_.n_classes, times, weights_}, grown,
                               options_.split.group_categories, options_.finish, stop);
        take(std::move(grown));
    }
}

std::vector<Tree> Grower::grow(std::span<const std::uint64_t> trees, const ColumnDraw& draw,
                               const Stop& stop) const {
    std::vector<Tree> grown;
    grow_each(trees, draw, stop, [&](Tree&& tree) { grown.push_back(std::move(tree)); });
    return grown;
}

void Grower::vote(std::span<const std::uint64_t> trees, const ColumnDraw& draw, std::span<const std::uint32_t> rows,
                  std::span<double> shares, const Stop& stop) const {
    CodeWalker walker(columns_, response_.n_outputs());
    grow_each(trees, draw, stop, [&](Tree&& tree) { walker.add(tree, rows, shares); });
}

void Grower::grow_each(std::span<const std::uint64_t> trees, const ColumnDraw& draw, const Stop& stop,
                       const Take& take) const {
    const bool table = whole_;
    switch (options_.split.criterion) {
        case Criterion::variance:
            return table ? grow_with<ValueCase<std::uint32_t>>(VarianceScore{}, trees, draw, stop, take)
                         : grow_with<ValueCase<double>>(VarianceScore{}, trees, draw, stop, take);
        case Criterion::gini:
            return table ? grow_with<CountCase>(GiniScore<TableQuotient>{{of_whole_.data()}}, trees, draw, stop, take)
                         : grow_with<RealCase>(GiniScore<>{}, trees, draw, stop, take);
        case Criterion::ssv:
            return table ? grow_with<CountCase>(SsvScore{}, trees, draw, stop, take)
                         : grow_with<RealCase>(SsvScore{}, trees, draw, stop, take);
        case Criterion::entropy:
        case Criterion::gain_ratio:
            return table ? grow_with<CountCase>(EntropyScore<TableLog>{{of_whole_.data()}}, trees, draw, stop, take)
                         : grow_with<RealCase>(EntropyScore<RealLog>{}, trees, draw, stop, take);
    }
}

}  // namespace foresift
