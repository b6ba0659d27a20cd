#include "kernels/ssv_rank.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <queue>

#include "grow/grower.hpp"
#include "split/criterion.hpp"

namespace foresift {
namespace {

// Sums of real weights come out a little different in another order of the rows; that must not decide what goes first.
void round_savings(std::vector<PrunableSplit>& splits, double total) {
    const double unit = 1e-12 * total;
    for (auto& split : splits) split.saved = std::max(0.0, std::round(split.saved / unit)) * unit;
}
double to_40_bits(double x) noexcept {
    int exponent = 0;
    const double fraction = std::frexp(x, &exponent);
    return std::ldexp(std::round(std::ldexp(fraction, 40)), exponent - 40);
}

// The final splits of a tree that is being pruned, the next to go on top.
class FinalSplits {
public:
    explicit FinalSplits(std::span<const PrunableSplit> splits) : splits_(splits), n_below_(splits.size(), 0) {
        for (const auto& split : splits)
            if (split.parent >= 0) ++n_below_[static_cast<std::size_t>(split.parent)];
        for (std::size_t k = 0; k < splits.size(); ++k)
            if (n_below_[k] == 0) push(k);
    }

    bool empty() const noexcept { return heap_.empty(); }
    double least_saved() const noexcept { return heap_.top().saved; }

    /// Takes the top one out. Its parent becomes final only by `deleted`.
    std::size_t take() {
        const std::size_t k = heap_.top().split;
        heap_.pop();
        return k;
    }
    void deleted(std::size_t k) {
        const std::int32_t parent = splits_[k].parent;
        if (parent >= 0 && --n_below_[static_cast<std::size_t>(parent)] == 0) push(static_cast<std::size_t>(parent));
    }

private:
    struct Entry {
        double saved, ssv;
        std::size_t split;
        bool operator>(const Entry& o) const noexcept {
            if (saved != o.saved) return saved > o.saved;
            return ssv != o.ssv ? ssv > o.ssv : split > o.split;
        }
    };
    void push(std::size_t k) { heap_.push({splits_[k].saved, to_40_bits(splits_[k].ssv), k}); }

    std::span<const PrunableSplit> splits_;
    std::vector<std::uint16_t> n_below_;  // splits among the sides of each
    std::priority_queue<Entry, std::vector<Entry>, std::greater<>> heap_;
};

// Grows full SSV trees on one numeric column each. With one column a node is a stretch of the sorted rows, so they are
// sorted once and never moved: the same splits as the engine's, many times as fast.
class NumericColumnTrees {
public:
    NumericColumnTrees(std::span<const std::int32_t> target, std::uint32_t n_classes, std::span<const double> weights,
                       const Stop& stop)
        : target_(target), weights_(weights), poll_(stop), totals_(n_classes), left_(n_classes) {}

    const std::vector<PrunableSplit>& grow(const Column& column) {
        Codes::of(column).with([&](const auto* codes) { sort(codes, column.n_values); });
        splits_.clear();
        pending_.assign(1, {0, rows_.size(), -1});
        double total = 0;
        while (!pending_.empty()) {
            const Stretch next = pending_.back();
            pending_.pop_back();
            const double n = visit(next);
            total = std::max(total, n);  // the first is the root
        }
        round_savings(splits_, total);
        return splits_;
    }

private:
    struct Row {
        double weight;
        std::uint32_t code, cls;
    };
    struct Stretch {
        std::size_t begin, end;
        std::int32_t parent;
    };

    template <class Code> void sort(const Code* codes, std::uint32_t n_values) {
        starts_.assign(n_values + std::size_t{1}, 0);
        const auto weight = [&](std::size_t i) { return weights_.empty() ? 1.0 : weights_[i]; };
        for (std::size_t i = 0; i < target_.size(); ++i) starts_[codes[i] + std::size_t{1}] += weight(i) > 0;
        for (std::size_t v = 1; v <= n_values; ++v) starts_[v] += starts_[v - 1];
        rows_.resize(starts_.back());
        for (std::size_t i = 0; i < target_.size(); ++i) {
            if (!(weight(i) > 0)) continue;
            rows_[starts_[codes[i]]++] = {weight(i), codes[i], static_cast<std::uint32_t>(target_[i])};
        }
    }

    // Counts the classes of a stretch, and cuts it where that scores best. Returns its weight.
    double visit(const Stretch& at) {
        poll_(at.end - at.begin);
        const std::span<const Row> rows = std::span(rows_).subspan(at.begin, at.end - at.begin);
        for (const auto& row : rows) totals_[row.cls] = left_[row.cls] = 0;
        double n = 0, fullest = 0;
        bool impure = false;
        for (const auto& row : rows) {
            n += row.weight;
            fullest = std::max(fullest, totals_[row.cls] += row.weight);
            impure |= row.cls != rows.front().cls;
        }
        if (at.parent >= 0) splits_[static_cast<std::size_t>(at.parent)].saved += fullest;
        if (!impure) return n;
        const auto [score, size] = best_cut(rows, n);
        if (!(score >= 0)) return n;
        const auto number = static_cast<std::int32_t>(splits_.size());
        splits_.push_back({at.parent, -1, score, -fullest});
        pending_.push_back({at.begin + size, at.end, number});
        pending_.push_back({at.begin, at.begin + size, number});
        return n;
    }

    struct Best {
        double score;
        std::size_t size;  // rows on the left
    };
    Best best_cut(std::span<const Row> rows, double n) {
        const SsvScore ssv;
        const double tie = 1e-13 * n * n;  // as in the splitter: scores closer than this are equal, the first wins
        Best best{-std::numeric_limits<double>::infinity(), 0};
        double sum = 0, n_left = 0;
        for (std::size_t i = 0; i + 1 < rows.size(); ++i) {
            const Row& row = rows[i];
            const double l = left_[row.cls], r = totals_[row.cls] - l;
            sum += ssv.term(l + row.weight, r - row.weight) - ssv.term(l, r);
            left_[row.cls] = l + row.weight;
            n_left += row.weight;
            const double score = ssv.join(sum, n_left, n - n_left);
            if (score > best.score + tie && rows[i + 1].code != row.code) best = {score, i + 1};
        }
        return best;
    }

    std::span<const std::int32_t> target_;
    std::span<const double> weights_;
    StopPoller poll_;
    std::vector<std::size_t> starts_;  // of each code in rows_
    std::vector<Row> rows_;            // sorted by code
    std::vector<double> totals_, left_;
    std::vector<Stretch> pending_;
    std::vector<PrunableSplit> splits_;
};

}  // namespace

std::vector<PrunableSplit> splits_of(std::span<const Node> nodes, std::span<const double> counts,
                                     std::size_t n_classes) {
    const auto fullest = [&](std::int32_t node) {
        const auto classes = counts.subspan(static_cast<std::size_t>(node) * n_classes, n_classes);
        return *std::max_element(classes.begin(), classes.end());
    };
    struct Visit {
        std::int32_t node, parent;
    };
    std::vector<PrunableSplit> splits;
    std::vector<Visit> pending{{0, -1}};
    while (!pending.empty()) {
        const auto [at, parent] = pending.back();
        pending.pop_back();
        const Node& node = nodes[static_cast<std::size_t>(at)];
        if (node.first_child < 0) continue;
        const auto number = static_cast<std::int32_t>(splits.size());
        splits.push_back({parent, at, node.gain, -fullest(at)});
        for (std::int32_t child = node.first_child + node.n_children; child-- > node.first_child;) {
            splits.back().saved += fullest(child);
            pending.push_back({child, number});
        }
    }
    round_savings(splits, nodes[0].size);
    return splits;
}

double rank_by_pruning(std::span<const PrunableSplit> splits) {
    FinalSplits final(splits);
    std::vector<double> ssv;
    ssv.reserve(splits.size());
    while (!final.empty()) {
        const std::size_t k = final.take();
        ssv.push_back(splits[k].ssv);
        final.deleted(k);
    }
    // From the last one to go back to the full tree: nothing is subtracted, so nothing is lost.
    double sum = 0, best = 0;
    for (std::size_t i = 1; i <= ssv.size(); ++i) {
        sum += ssv[ssv.size() - i];
        best = std::max(best, sum / std::log(2.0 + double(i)));
    }
    return best;
}

std::vector<std::int32_t> rounds_of_pruning(std::span<const PrunableSplit> splits) {
    FinalSplits final(splits);
    std::vector<std::int32_t> rounds(splits.size());
    std::vector<std::size_t> going;
    for (std::int32_t round = 0; !final.empty(); ++round) {
        const double least = final.least_saved();
        going.clear();
        while (!final.empty() && final.least_saved() == least) going.push_back(final.take());
        for (const std::size_t k : going) {
            rounds[k] = round;
            final.deleted(k);
        }
        while (!final.empty() && final.least_saved() == 0) {
            const std::size_t k = final.take();
            rounds[k] = round;
            final.deleted(k);
        }
    }
    return rounds;
}

std::vector<double> ssv_ranks(std::span<const Column> columns, std::span<const std::int32_t> target,
                              std::uint32_t n_classes, std::span<const double> weights,
                              const Stop& stop) {
    NumericColumnTrees numeric(target, n_classes, weights, stop);
    GrowOptions options;
    options.split.criterion = Criterion::ssv;
    options.split.min_leaf = 0;
    options.min_split = 0;
    const std::uint64_t first[] = {0};
    std::vector<double> ranks;
    for (std::size_t j = 0; j < columns.size(); ++j) {
        check_stop(stop);
        if (!columns[j].nominal) {
            ranks.push_back(rank_by_pruning(numeric.grow(columns[j])));
            continue;
        }
        const Tree tree = Grower(columns.subspan(j, 1), {target, n_classes}, weights, options).grow(first, {}, stop)[0];
        ranks.push_back(rank_by_pruning(splits_of(tree.nodes, tree.counts, n_classes)));
    }
    return ranks;
}

}  // namespace foresift
