// What a column explains of a quantity by chance: shuffles against every order of the rows.
#include "kernels/null_reduction.hpp"

#include <algorithm>

#include "tests/tools.hpp"

using namespace foresift;
using namespace foresift::tests;

namespace {

using Sizes = std::vector<std::uint32_t>;

double squares_around_mean(const Counts& y) {
    double squares = 0;
    for (const double v : y) squares += (v - sum(y) / double(y.size())) * (v - sum(y) / double(y.size()));
    return squares;
}

/// Share of the variance that these groups of neighbouring rows explain.
double explained(const Counts& y, const Sizes& sizes) {
    double within = 0;
    auto row = y.begin();
    for (const auto size : sizes) {
        within += squares_around_mean(Counts(row, row + size));
        row += size;
    }
    return 1 - within / squares_around_mean(y);
}

double best_share(const Counts& y, const Sizes& sizes, bool multiway) {
    if (multiway) return explained(y, sizes);
    double best = 0;
    std::uint32_t left = 0;
    for (std::size_t k = 0; k + 1 < sizes.size(); ++k) {
        left += sizes[k];
        best = std::max(best, explained(y, {left, std::uint32_t(y.size()) - left}));
    }
    return best;
}

std::vector<double> every_order(Counts y, const Sizes& sizes, bool multiway) {
    std::vector<double> shares;
    std::sort(y.begin(), y.end());
    do shares.push_back(best_share(y, sizes, multiway));
    while (std::next_permutation(y.begin(), y.end()));
    return shares;
}

double mean(const std::vector<double>& values) { return sum(values) / double(values.size()); }

void shuffles_are_orders() {
    for (const double offset : {0.0, 1e9})
        for (const bool multiway : {false, true})
            for (const Sizes& sizes : {Sizes{1, 1, 1, 1, 1, 1}, Sizes{2, 1, 3}, Sizes{3, 3}}) {
                const Counts y{offset, offset + 1, offset + 2, offset + 2, offset + 7, offset + 11};
                const auto expected = every_order(y, sizes, multiway);
                const auto shares = permuted_reductions(y, sizes, multiway, 20000, 4, nullptr);
                assert(shares.size() == 20000);
                for (const double share : shares) {
                    const auto same = [&](double other) { return near(share, other, 1e-9); };
                    assert(std::any_of(expected.begin(), expected.end(), same));
                }
                assert(std::abs(mean(shares) - mean(expected)) < 0.01);
            }
}

void shuffles_depend_on_their_seed_alone() {
    const Counts y{1, 5, 2, 8, 3, 9, 4};
    const Sizes sizes{2, 2, 3};
    const auto one = permuted_reductions(y, sizes, false, 50, 7, nullptr);
    assert(one == permuted_reductions(y, sizes, false, 50, 7, nullptr));
    assert(one != permuted_reductions(y, sizes, false, 50, 8, nullptr));
    const auto fewer = permuted_reductions(y, sizes, false, 20, 7, nullptr);
    assert(std::equal(fewer.begin(), fewer.end(), one.begin()));
}

void nothing_to_split_or_to_explain() {
    for (const double share : permuted_reductions(Counts{1, 2, 3}, Sizes{3}, false, 5, 0, nullptr)) assert(share == 0);
    for (const double share : permuted_reductions(Counts{4, 4, 4}, Sizes{1, 2}, true, 5, 0, nullptr)) assert(share == 0);
    assert(permuted_reductions({}, {}, false, 2, 0, nullptr) == std::vector<double>(2, 0.0));
}

void shuffling_can_be_stopped() {
    int asked = 0;
    bool interrupted = false;
    try {
        permuted_reductions(Counts{1, 2, 3}, Sizes{1, 2}, false, 1000, 0, [&] { return ++asked > 5; });
    } catch (const Interrupted&) {
        interrupted = true;
    }
    assert(interrupted && asked == 6);
}

}  // namespace

int main() {
    shuffles_are_orders();
    shuffles_depend_on_their_seed_alone();
    nothing_to_split_or_to_explain();
    shuffling_can_be_stopped();
    return passed("null_reduction");
}
