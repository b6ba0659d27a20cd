// Node complexity of a quantity, against counting every arrangement.
#include "grow/complexity.hpp"

#include <algorithm>
#include <map>

#include "tests/tools.hpp"

using namespace foresift;
using namespace foresift::tests;

namespace {

template <class Case>
std::vector<Member<Case>> members_of(const std::vector<double>& values, const std::vector<double>& weights) {
    std::vector<Member<Case>> members;
    for (std::uint32_t i = 0; i < values.size(); ++i) members.push_back({i, Case::make(values[i], weights[i])});
    std::stable_sort(members.begin(), members.end(), [](const auto& a, const auto& b) { return a.of.y() < b.of.y(); });
    return members;
}

// Rows that are known up to reflection: an arrangement and its mirror image are one; the entropy of what is seen.
double counted(std::vector<double> values) {
    std::sort(values.begin(), values.end());
    std::map<std::vector<double>, double> seen;
    double all = 0;
    do {
        const std::vector<double> mirrored(values.rbegin(), values.rend());
        seen[std::min(values, mirrored)] += 1;
        ++all;
    } while (std::next_permutation(values.begin(), values.end()));
    double bits = 0;
    for (const auto& [rows, times] : seen) bits -= times / all * std::log2(times / all);
    return bits;
}

void equals_counting() {
    Dice dice(1);
    Complexity complexity;  // its table is used again and again
    for (int round = 0; round < 200; ++round) {
        const std::size_t n = 1 + dice.below(7);
        std::vector<double> values, copies;
        std::vector<double> weights;
        const std::uint32_t n_values = 1 + dice.below(9);
        for (std::size_t i = 0; i < n; ++i) {
            values.push_back(double(dice.below(n_values)) - 3.5);
            weights.push_back(1 + dice.below(round % 2 ? 1 : 2));
            for (int k = 0; k < int(weights[i]) && copies.size() < 9; ++k) copies.push_back(values[i]);
        }
        double total = 0;
        for (const double w : weights) total += w;
        if (total > 9) continue;
        const auto whole = members_of<ValueCase<std::uint32_t>>(values, weights);
        const auto real = members_of<ValueCase<double>>(values, weights);
        assert(near(complexity.of<ValueCase<std::uint32_t>>(whole), counted(copies)));
        assert(near(complexity.of<ValueCase<double>>(real), counted(copies)));
    }
}

void distinct_values() {
    Dice dice(2);
    Complexity complexity;
    for (const std::size_t n : {1, 2, 3, 50, 1500, 5000}) {
        std::vector<double> values, weights;
        double bits = -1;  // log2 n! less one for the mirror image
        for (std::size_t i = 0; i < n; ++i) {
            values.push_back(dice.unit());
            weights.push_back(1);
            bits += std::log2(double(i + 1));
        }
        const auto members = members_of<ValueCase<std::uint32_t>>(values, weights);
        const double found = complexity.of<ValueCase<std::uint32_t>>(members);
        assert(near(found, std::max(0.0, bits)));
    }
}

void parts_of_rows() {
    Dice dice(3);
    Complexity complexity;
    for (int round = 0; round < 100; ++round) {
        std::vector<double> values, weights;
        std::map<double, double> ties;
        double n = 0;
        for (std::size_t i = 0; i <= dice.below(40); ++i) {
            values.push_back(dice.below(5));
            weights.push_back(0.01 + 3 * dice.unit() * (dice.below(50) ? 1 : 1000));
            ties[values[i]] += weights[i];
            n += weights[i];
        }
        double ways = std::lgamma(n + 1);
        for (const auto& [value, weight] : ties) ways -= std::lgamma(weight + 1);
        const auto members = members_of<ValueCase<double>>(values, weights);
        const double found = complexity.of<ValueCase<double>>(members);
        assert(near(found, std::max(0.0, ways / std::log(2.0) - 1)));
    }
    const auto one = members_of<ValueCase<double>>({2, 2, 2}, {0.5, 1.25, 3});
    assert(near(complexity.of<ValueCase<double>>(one), 0));
}

}  // namespace

int main() {
    equals_counting();
    distinct_values();
    parts_of_rows();
    return passed("complexity");
}
