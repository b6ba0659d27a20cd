#include "split/splitter.hpp"

namespace foresift {

double branch_gain(Criterion criterion, std::span<const double> counts, std::size_t n_classes) {
    std::vector<double> total(n_classes), fullest(n_classes);
    double n = 0, inside = 0;
    for (std::size_t begin = 0; begin < counts.size(); begin += n_classes) {
        double size = 0, term = 0, squares = 0;
        for (std::size_t c = 0; c < n_classes; ++c) {
            const double x = counts[begin + c];
            total[c] += x;
            fullest[c] = std::max(fullest[c], x);
            size += x;
            term += xlog2x(x);
            squares += x * x;
        }
        n += size;
        if (criterion == Criterion::gini)
            inside += size > 0 ? squares / size : 0.0;
        else if (criterion == Criterion::ssv)
            inside += (size * size - squares) / 2;  // pairs of different classes that stay together
        else
            inside += term - xlog2x(size);
    }
    double term = 0, squares = 0, outside = 0;
    for (std::size_t c = 0; c < n_classes; ++c) {
        term += xlog2x(total[c]);
        squares += total[c] * total[c];
        outside += total[c] - fullest[c];
    }
    if (criterion == Criterion::gini) return (inside - squares / n) / n;
    if (criterion == Criterion::ssv) return 2 * ((n * n - squares) / 2 - inside) - outside;
    return (inside - (term - xlog2x(n))) / n;
}

Split split_column(const Column& column, std::span<const std::int32_t> target, std::uint32_t n_classes,
                   std::span<const double> weights, const SplitOptions& options) {
    std::vector<Member<RealCase>> members;
    Tally<double> totals(n_classes);
    for (std::uint32_t row = 0; row < target.size(); ++row) {
        if (!(weights[row] > 0)) continue;
        members.push_back({row, RealCase::make(static_cast<std::uint32_t>(target[row]), weights[row])});
        totals.add(members.back().of);
    }
    const NodeRows<RealCase> node{members, totals};
    Bits bits(0, 0, 0);
    Split split;
    const auto search = [&](auto score) {
        Splitter<RealCase, decltype(score)>(score, options).best(column, Codes::of(column), node, 0.0, bits, split);
    };
    if (options.criterion == Criterion::gini)
        search(GiniScore<>{});
    else if (options.criterion == Criterion::ssv)
        search(SsvScore{});
    else
        search(EntropyScore<RealLog>{});
    return split;
}

}  // namespace foresift
