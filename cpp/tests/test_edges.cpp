// Scores at the edges of bins and bounds inside them, against every cut there could be.
#include "split/edges.hpp"

#include "tests/tools.hpp"

using namespace foresift;
using namespace foresift::tests;

namespace {

using Whole = std::uint32_t;

struct Histogram {
    std::vector<Whole> weights;
    Tally<Whole> totals{2}, start{2};
};

Histogram make_histogram(Dice& dice, std::size_t n_bins) {
    Histogram h;
    for (std::size_t c = 0; c < 2; ++c) h.start.by_class[c] = dice.below(dice.below(2) ? 3 : 40);
    h.totals = h.start;
    for (std::size_t k = 0; k < 2 * n_bins; ++k) {
        h.weights.push_back(dice.below(2) ? dice.below(6) : 0);
        h.totals.by_class[k % 2] += h.weights.back();
    }
    h.start.total = h.start.by_class[0] + h.start.by_class[1];
    h.totals.total = h.totals.by_class[0] + h.totals.by_class[1];
    return h;
}

std::vector<double> log_table(std::size_t n) {
    std::vector<double> table(n + 1);
    for (std::size_t i = 1; i <= n; ++i) table[i] = xlog2x(double(i));
    return table;
}

void tables_agree_to_the_last_bit() {
    Dice dice(3);
    const auto logs = log_table(1000);
    const EntropyScore<TableLog> score{{logs.data()}};
    TabledTerms tabled;
    for (int round = 0; round < 20; ++round) {
        const auto h = make_histogram(dice, 1 + dice.below(40));
        tabled.make(score, h.totals);
        const PlainTerms<Whole, EntropyScore<TableLog>> plain(score, h.totals);
        for (Whole l0 = 0; l0 <= h.totals.by_class[0]; ++l0)
            for (Whole l1 = 0; l1 <= h.totals.by_class[1]; ++l1)
                assert(tabled.join(tabled.first(l0) + tabled.second(l1), l0 + l1) ==
                       plain.join(plain.first(l0) + plain.second(l1), l0 + l1));
    }
}

// Every edge that may be cut is offered, the last one never; no cut that the rows of a bin allow, in whatever order
// they come, scores more than its bound or an edge that was offered.
template <class Score>
void bounds_hold(const Score& score) {
    Dice dice(4);
    for (int round = 0; round < 200; ++round) {
        const std::size_t n_bins = 1 + dice.below(12);
        const auto h = make_histogram(dice, n_bins);
        if (h.totals.total < 2) continue;
        const double min_leaf = dice.below(3) ? dice.below(2) : 2.5 + dice.below(5);
        const PlainTerms<Whole, Score> terms(score, h.totals);
        const EdgeScan<Whole, PlainTerms<Whole, Score>> edges(terms, h.totals, min_leaf);
        std::vector<Bin<Whole>> bins(n_bins);
        std::vector<double> offered(n_bins, -kInfinity);
        const std::array<Whole, 2> start{h.start.by_class[0], h.start.by_class[1]};
        edges.scan(std::span<const Whole>(h.weights), 0, n_bins, start, bins.data(), [] { return -kInfinity; },
                   [&](double s, std::size_t b) { offered[b] = s; });
        auto left = h.start;
        for (std::size_t b = 0; b < n_bins; ++b) {
            assert(bins[b].number == b && bins[b].left[0] == left.by_class[0] && bins[b].left[1] == left.by_class[1]);
            const double most = std::max({bins[b].bound, offered[b], b > 0 ? offered[b - 1] : -kInfinity});
            for (Whole i = 0; i <= h.weights[2 * b]; ++i)
                for (Whole j = 0; j <= h.weights[2 * b + 1]; ++j) {
                    Tally<Whole> cut = left;
                    cut.by_class[0] += i, cut.by_class[1] += j, cut.total += i + j;
                    assert(score_of(score, cut, h.totals) <= most + 1e-9);
                }
            for (std::size_t c = 0; c < 2; ++c) left.by_class[c] += h.weights[2 * b + c];
            left.total += h.weights[2 * b] + h.weights[2 * b + 1];
            const bool allowed = double(left.total) >= min_leaf && double(h.totals.total - left.total) >= min_leaf;
            assert(edges.admissible(left.total) == allowed);
            assert((offered[b] > -kInfinity) == (allowed && b + 1 < n_bins));
            if (allowed && b + 1 < n_bins) assert(near(offered[b], score_of(score, left, h.totals)));
        }
    }
}

// From the middle on, the rest is as if it had been reached from the start.
void may_begin_anywhere() {
    Dice dice(5);
    const auto h = make_histogram(dice, 30);
    const auto logs = log_table(1000);
    const PlainTerms<Whole, EntropyScore<TableLog>> terms({{logs.data()}}, h.totals);
    const EdgeScan<Whole, PlainTerms<Whole, EntropyScore<TableLog>>> edges(terms, h.totals, 1);
    const std::span<const Whole> weights(h.weights);
    std::vector<Bin<Whole>> all(30), some(10);
    const auto ignore = [](double, std::size_t) {};
    const auto none = [] { return kInfinity; };
    edges.scan(weights, 0, 30, {h.start.by_class[0], h.start.by_class[1]}, all.data(), none, ignore);
    edges.scan(weights, 15, 25, all[15].left, some.data(), none, ignore);
    for (std::size_t k = 0; k < 10; ++k)
        assert(some[k].number == 15 + k && some[k].bound == all[15 + k].bound && some[k].left == all[15 + k].left);
}

}  // namespace

int main() {
    const auto logs = log_table(1000);
    tables_agree_to_the_last_bit();
    bounds_hold(EntropyScore<TableLog>{{logs.data()}});
    bounds_hold(GiniScore<>{});
    bounds_hold(SsvScore{});
    may_begin_anywhere();
    return passed("edges");
}
