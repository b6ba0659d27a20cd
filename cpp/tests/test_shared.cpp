// Trees that share what they find at their upper nodes, against each tree alone.
#include "grow/shared_gains.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <thread>

#include "tests/tools.hpp"
#include "tests/trees.hpp"

using namespace foresift;
using namespace foresift::tests;

namespace {

bool same_permuted(const Tree& a, const Tree& b) {
    const auto same = [](double x, double y) { return x == y || (std::isnan(x) && std::isnan(y)); };
    return std::equal(a.permuted.begin(), a.permuted.end(), b.permuted.begin(), b.permuted.end(), same);
}

// What trees have in common is found once, by whichever thread; each tree is as it is alone.
void trees_share_trials() {
    auto data = make_data(400, 6, 12);
    std::vector<double> weights(400), whole(400);
    for (std::size_t i = 0; i < 400; ++i) weights[i] = 0.5 * double(i % 7), whole[i] = double(i % 4);
    GrowOptions options;
    options.max_features = 3;
    options.n_shadows = 4;
    options.shadows_per_tree = 2;
    options.max_depth = 5;
    options.seed = 5;
    std::vector<std::uint64_t> numbers(20);
    std::iota(numbers.begin(), numbers.end(), 0U);
    for (const std::uint32_t n_classes : {3U, 2U}) {  // two have a search of their own
        if (n_classes == 2)
            for (auto& c : data.target) c = c > 0;
        for (const auto& w : {std::vector<double>{}, weights, whole})
            for (const bool record : {true, false})
                for (const Draw draw : {Draw::all, Draw::subsample}) {
                    options.record_tried = record;
                    options.draw = draw;
                    options.n_draw = 250;
                    const Grower shared(data.columns, {data.target, n_classes}, w, options);
                    std::vector<std::vector<Tree>> grown(4);
                    std::vector<std::thread> threads;
                    for (std::size_t k = 0; k < grown.size(); ++k)
                        threads.emplace_back([&, k] { grown[k] = shared.grow(numbers, {}, kGoOn); });
                    for (auto& thread : threads) thread.join();
                    for (const auto number : numbers) {
                        const Tree alone = grow(Grower(data.columns, {data.target, n_classes}, w, options), number);
                        for (const auto& trees : grown)
                            assert(equal(trees[number], alone) && same_permuted(trees[number], alone));
                    }
                }
    }
}

// Trees that only look up what others have found can be stopped too.
void stops_where_all_is_known() {
    auto data = make_data(3000, 2, 14, 0);
    data.columns.pop_back();
    for (auto& c : data.target) c = c > 0;
    GrowOptions options;
    options.record_tried = true;
    options.max_features = 2;
    options.n_shadows = 1;
    options.max_depth = 2;
    const Grower grower(data.columns, {data.target, 2}, {}, options);
    grow(grower);
    const std::vector<std::uint64_t> numbers(300, 1);
    bool stopped = false;
    try {
        grower.grow(numbers, {}, [] { return true; });
    } catch (const Interrupted&) {
        stopped = true;
    }
    assert(stopped);
}

}  // namespace

int main() {
    trees_share_trials();
    stops_where_all_is_known();
    return passed("shared");
}
