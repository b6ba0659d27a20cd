// Columns with many categories split by what they gain beyond chance.
#include "grow/many_categories.hpp"

#include <algorithm>
#include <numeric>

#include "grow/grower.hpp"
#include "tests/tools.hpp"
#include "tests/trees.hpp"

using namespace foresift;
using namespace foresift::tests;

namespace {

// A number that matters, and a nominal column of random codes below `n_categories`, each of which occurs.
Data make(std::uint32_t n_categories, std::size_t n = 120) {
    Dice dice(n_categories);
    Data data;
    std::vector<double> numbers(n);
    std::vector<std::int32_t> codes(n);
    for (std::size_t i = 0; i < n; ++i) {
        numbers[i] = dice.unit();
        codes[i] = std::int32_t(i < n_categories ? i : dice.below(n_categories));
        data.target.push_back(numbers[i] + 0.4 * dice.unit() > 0.7);
    }
    data.columns.push_back(code_numeric<double>(numbers, kMaxCodes));
    data.columns.push_back(code_nominal(codes, n_categories));
    return data;
}

Tree grow_on(const Data& data, bool correct, Criterion criterion, bool multiway, bool record = false) {
    GrowOptions options;
    options.split.criterion = criterion;
    options.split.multiway = multiway;
    options.max_features = 2;
    options.correct_nominal = correct;
    options.record_tried = record;
    return grow(Grower(data.columns, {data.target, data.n_classes}, {}, options));
}

void unique_values_do_not_split() {
    const Data data = make(120);
    for (const auto criterion : {Criterion::entropy, Criterion::gini, Criterion::gain_ratio})
        for (const bool multiway : {false, true}) {
            assert(grow_on(data, false, Criterion::entropy, multiway).nodes[0].feature == 1);
            for (const auto& node : grow_on(data, true, criterion, multiway).nodes) assert(node.feature != 1);
        }
}

void few_categories_stay_as_they_are() {
    const Data at = make(kManyCategories), above = make(kManyCategories + 1);
    for (const auto criterion : kCriteria) {
        assert(equal(grow_on(at, true, criterion, false), grow_on(at, false, criterion, false)));
        assert(!equal(grow_on(above, true, criterion, false), grow_on(above, false, criterion, false)));
    }
}

// The candidates that cannot win are not held against chance, unless all are recorded.
void recording_changes_nothing() {
    const Data data = make(40);
    for (const auto criterion : kCriteria) {
        const Tree plain = grow_on(data, true, criterion, false), recorded = grow_on(data, true, criterion, false, true);
        assert(equal(plain, recorded));
        for (const auto& trial : recorded.tried) {
            const Node& node = recorded.nodes[std::size_t(trial.node)];
            assert(node.feature != trial.feature || node.gain == trial.gain);
        }
    }
}

}  // namespace

int main() {
    unique_values_do_not_split();
    few_categories_stay_as_they_are();
    recording_changes_nothing();
    return passed("many categories");
}
