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

namespace {

template <class Case, class Score>
Split split_with(Score score, const Column& column, const Response& response, std::span<const double> weights,
                 const SplitOptions& options) {
    std::vector<Member<Case>> members;
    typename Case::Sums totals(response.n_classes);
    double mean = 0, n = 0;  // a quantity is centred
    for (std::uint32_t row = 0; row < response.values.size(); ++row) {
        if (!(weights[row] > 0)) continue;
        n += weights[row];
        mean += (response.values[row] - mean) * (weights[row] / n);
    }
    if constexpr (Case::kQuantity) totals.center = mean;
    for (std::uint32_t row = 0; row < response.size(); ++row) {
        if (!(weights[row] > 0)) continue;
        members.push_back({row, response.at<Case>(row, weights[row])});
        totals.add(members.back().of);
    }
    Bits bits(0, 0, 0);
    Split split;
    Splitter<Case, Score>(score, options).best(column, Codes::of(column), {members, totals}, 0.0, bits, split);
    return split;
}

}  // namespace

Split split_column(const Column& column, const Response& response, std::span<const double> weights,
                   const SplitOptions& options) {
    const auto with = [&]<class Case>(auto score) { return split_with<Case>(score, column, response, weights, options); };
    if (options.criterion == Criterion::variance) {
        const int scale = scale_of(response.values);
        const auto values = scaled(response.values, scale);
        Split split = split_with<ValueCase<double>>(VarianceScore{}, column, Response(values), weights, options);
        split.gain = std::ldexp(split.gain, 2 * scale);
        return split;
    }
    switch (options.criterion) {
        case Criterion::gini: return with.operator()<RealCase>(GiniScore<>{});
        case Criterion::ssv: return with.operator()<RealCase>(SsvScore{});
        default: return with.operator()<RealCase>(EntropyScore<RealLog>{});
    }
}

}  // namespace foresift
