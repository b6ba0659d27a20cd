// What tests of growing trees share: random data, one tree at a time, and whether two are the same.
#pragma once

#include <cstring>
#include <functional>
#include <span>
#include <utility>

#include "grow/grower.hpp"
#include "tests/tools.hpp"

namespace foresift::tests {

inline const std::function<bool()> kGoOn = [] { return false; };

inline Tree grow(const Grower& grower, std::uint64_t number = 0, std::span<const double> feature_weights = {}) {
    const std::uint64_t numbers[] = {number};
    auto trees = grower.grow(numbers, feature_weights, kGoOn);
    assert(trees.size() == 1);
    return std::move(trees[0]);
}

inline bool equal(const Tree& a, const Tree& b) {
    return a.nodes.size() == b.nodes.size() &&
           std::memcmp(a.nodes.data(), b.nodes.data(), a.nodes.size() * sizeof(Node)) == 0 && a.counts == b.counts &&
           a.set_offsets == b.set_offsets && a.set_codes == b.set_codes && a.set_branches == b.set_branches;
}

struct Data {
    std::vector<Column> columns;
    std::vector<std::int32_t> target;
    std::uint32_t n_classes = 2;
};

inline Data make_data(std::size_t n, std::size_t p, std::uint64_t seed, double missing = 0.05) {
    Dice dice(seed);
    Data data;
    for (std::size_t j = 0; j < p; ++j) {
        std::vector<double> values(n);
        for (auto& v : values) v = dice.unit() < missing ? kNaN : j % 2 ? dice.below(9) : dice.unit();
        data.columns.push_back(code_numeric<double>(values, kMaxCodes));
    }
    std::vector<std::int32_t> codes(n);
    for (auto& c : codes) c = std::int32_t(dice.below(7)) - 1;
    data.columns.push_back(code_nominal(codes, 6));
    for (std::size_t i = 0; i < n; ++i) data.target.push_back(std::int32_t(dice.below(3)));
    data.n_classes = 3;
    return data;
}

}  // namespace foresift::tests
