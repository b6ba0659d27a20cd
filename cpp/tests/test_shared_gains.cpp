// Gains that trees share: one place per node, column and shadow, whoever asks.
#include "grow/shared_gains.hpp"

#include <thread>

#include "tests/tools.hpp"

using namespace foresift;
using namespace foresift::tests;

namespace {

void one_place_each() {
    SharedTrials shared(3, 2);
    auto* const root = shared.at({});
    auto* const below = shared.at({1, 0});
    assert(root != below && shared.at({}) == root && shared.at({1, 0}) == below && shared.at({1, 1}) != below);
    for (std::size_t j = 0; j < 3; ++j) {
        assert(shared.of(root, j).size() == 3);
        for (std::size_t t = 0; t < 3; ++t) {
            assert(std::isnan(shared.of(root, j)[t]));
            shared.of(root, j)[t] = double(10 * j + t);
        }
    }
    for (std::size_t j = 0; j < 3; ++j)
        for (std::size_t t = 0; t < 3; ++t)
            assert(shared.of(shared.at({}), j)[t] == double(10 * j + t) && std::isnan(shared.of(below, j)[t]));
}

void room_is_limited_but_for_the_first() {
    SharedTrials large(SharedTrials::kMostGains, 1);
    assert(large.at({}) && !large.at({0, 0}) && large.at({}));
    SharedTrials half(SharedTrials::kMostGains / 2, 0);
    assert(half.at({}) && half.at({0, 0}) && !half.at({0, 1}) && half.at({0, 0}));
}

void threads_meet_in_the_same_place() {
    SharedTrials shared(5, 1);
    std::vector<SharedTrials::Gain*> seen(4);
    std::vector<std::thread> threads;
    for (std::size_t k = 0; k < seen.size(); ++k)
        threads.emplace_back([&, k] {
            seen[k] = shared.at({2, 1});
            for (std::size_t j = 0; j < 5; ++j) shared.of(seen[k], j)[1].store(double(j), std::memory_order_relaxed);
        });
    for (auto& thread : threads) thread.join();
    for (auto* const gains : seen) assert(gains == seen[0] && shared.of(gains, 4)[1] == 4);
}

}  // namespace

int main() {
    one_place_each();
    room_is_limited_but_for_the_first();
    threads_meet_in_the_same_place();
    return passed("shared_trials");
}
