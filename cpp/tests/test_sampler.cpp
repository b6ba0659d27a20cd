// Which columns a node sees: all in order, a uniform draw, a weighted draw; and the memory for constants.
#include "grow/sampler.hpp"

#include <set>

#include "tests/tools.hpp"

using namespace foresift;
using namespace foresift::tests;

namespace {

std::vector<std::uint32_t> draw_all(FeatureSampler& sampler, Bits& bits) {
    std::vector<std::uint32_t> drawn;
    while (const auto feature = sampler.draw(bits)) drawn.push_back(*feature);
    return drawn;
}

void in_order() {
    FeatureSampler sampler(4, {}, true);
    Bits bits(0, 0, 0);
    for (int node = 0; node < 3; ++node) {
        sampler.start(0);
        assert((draw_all(sampler, bits) == std::vector<std::uint32_t>{0, 1, 2, 3}));
    }
}

// Some columns are drawn as all columns of a smaller table would be.
void only_the_allowed() {
    const std::vector<std::uint32_t> allowed{1, 4, 5};
    FeatureSampler some(7, {}, false, allowed), all(3, {}, false), ordered(7, {}, true, allowed);
    for (std::uint64_t node = 0; node < 50; ++node) {
        Bits one(3, 0, node), two(3, 0, node);
        some.start(0), all.start(0), ordered.start(0);
        auto expected = draw_all(all, two);
        for (auto& feature : expected) feature = allowed[feature];
        assert(draw_all(some, one) == expected);
        assert(draw_all(ordered, one) == allowed);
    }
}

void every_feature_once() {
    const std::vector<double> weights{5, 0, 1, 1e-9, 0, 2}, even(6, 1.0);
    for (const auto& w : {std::vector<double>{}, weights, even}) {
        FeatureSampler sampler(6, w, false);
        for (std::uint64_t node = 0; node < 200; ++node) {
            Bits bits(1, 0, node);
            sampler.start(0);
            const auto drawn = draw_all(sampler, bits);
            const std::set<std::uint32_t> distinct(drawn.begin(), drawn.end());
            assert(distinct.size() == drawn.size());
            assert(drawn.size() == (w == weights ? 4U : 6U));
            if (w == weights) assert(!distinct.count(1) && !distinct.count(4));  // weight 0
        }
    }
}

double chi2(const std::vector<double>& seen, const std::vector<double>& expected) {
    double value = 0;
    for (std::size_t i = 0; i < seen.size(); ++i)
        if (expected[i] > 0) value += (seen[i] - expected[i]) * (seen[i] - expected[i]) / expected[i];
    return value;
}

void follows_the_weights() {
    const std::vector<double> weights{6, 3, 0, 1};
    constexpr int kNodes = 20000;
    for (const bool uniform : {true, false}) {
        FeatureSampler sampler(4, uniform ? std::vector<double>{} : weights, false);
        std::vector<double> share{.6, .3, 0, .1};
        if (uniform) share.assign(4, .25);
        std::vector<double> pairs(16), expected(16);
        for (int node = 0; node < kNodes; ++node) {
            Bits bits(2, 0, std::uint64_t(node));
            sampler.start(0);
            const auto first = *sampler.draw(bits), second = *sampler.draw(bits);
            ++pairs[first * 4 + second];
        }
        for (std::size_t i = 0; i < 4; ++i)
            for (std::size_t j = 0; j < 4; ++j)
                if (i != j) expected[i * 4 + j] = kNodes * share[i] * share[j] / (1 - share[i]);
        for (std::size_t i = 0; i < 16; ++i) assert(expected[i] > 0 || pairs[i] == 0);
        assert(chi2(pairs, expected) < 32);  // 11 or 5 degrees of freedom, p < 0.001
    }
}

void what_little_weight_is_left_is_drawn_too() {
    const std::vector<double> weights{1, 1e-15, 3e-15};
    FeatureSampler sampler(3, weights, false);
    int heavier = 0;
    for (std::uint64_t node = 0; node < 1000; ++node) {
        Bits bits(3, 0, node);
        sampler.start(0);
        const auto drawn = draw_all(sampler, bits);
        assert(drawn.size() == 3 && drawn[0] == 0);
        heavier += drawn[1] == 2;
    }
    assert(heavier > 690 && heavier < 810);
}

void constants_hold_below_the_node_that_found_them() {
    FeatureSampler sampler(5, {}, false);
    sampler.start(0);
    sampler.mark_constant(3);
    const auto at_root = sampler.n_constant();
    assert(at_root == 1);
    sampler.start(at_root);  // first child
    assert(sampler.is_constant(3) && !sampler.is_constant(1));
    sampler.mark_constant(1);
    const auto at_child = sampler.n_constant();
    sampler.start(at_child);  // grandchild
    assert(sampler.is_constant(3) && sampler.is_constant(1));
    sampler.mark_constant(0);
    sampler.start(at_root);  // second child: forgets what only the first one's rows showed
    assert(sampler.is_constant(3) && !sampler.is_constant(1) && !sampler.is_constant(0));
    assert(sampler.n_constant() == 1);
    sampler.start(0);
    assert(!sampler.is_constant(3) && sampler.n_constant() == 0);
}

}  // namespace

int main() {
    in_order();
    only_the_allowed();
    every_feature_once();
    follows_the_weights();
    what_little_weight_is_left_is_drawn_too();
    constants_hold_below_the_node_that_found_them();
    return passed("sampler");
}
