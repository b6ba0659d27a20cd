// The rows of a node: packing of class and weight, and the sort by code.
#include "split/node_rows.hpp"

#include <map>

#include "tests/tools.hpp"

using namespace foresift;
using namespace foresift::tests;

namespace {

void class_and_weight_are_packed() {
    for (const std::uint32_t cls : {0U, 1U, 65535U})
        for (const std::uint32_t weight : {1U, 2U, 1024U, 65535U}) {
            const auto c = CountCase::make(cls, weight);
            assert(c.cls() == cls && c.weight() == weight);
        }
    const auto c = RealCase::make(3, 0.25);
    assert(c.cls() == 3 && c.weight() == 0.25);
}

void tallies_add_up() {
    Tally<double> tally(3);
    tally.add(RealCase::make(2, 0.5));
    tally.add(RealCase::make(0, 2));
    assert(tally.by_class[0] == 2 && tally.by_class[1] == 0 && tally.by_class[2] == 0.5 && tally.total == 2.5);
    tally.clear();
    assert(tally.total == 0 && tally.by_class[2] == 0 && tally.n_classes() == 3);
}

template <class Case>
void sorts_by_code(std::size_t n, std::uint32_t low, std::uint32_t high, ItemBuffers<Case>& buffers) {
    Dice dice(n + high);
    std::map<std::uint32_t, double> weight_of_code;
    auto* items = buffers.reserve(n);
    for (std::size_t i = 0; i < n; ++i) {
        // Squared: the low codes are crowded.
        const double u = dice.unit();
        const auto code = low + static_cast<std::uint32_t>(u * u * (high - low + 1));
        const double weight = 1 + dice.below(9);
        items[i] = {code, Case::make(dice.below(5), weight)};
        weight_of_code[code] += weight;
    }
    const auto sorted = buffers.sort(n, low, high);
    assert(sorted.size() == n);
    for (std::size_t i = 0; i < n; ++i) {
        assert(i == 0 || sorted[i - 1].code <= sorted[i].code);
        weight_of_code[sorted[i].code] -= double(sorted[i].row.weight());
    }
    for (const auto& [code, weight] : weight_of_code) assert(weight == 0);
}

template <class Case>
void sorts() {
    ItemBuffers<Case> buffers;  // shared, as the searches do
    std::vector<std::size_t> sizes{100, 5000};
    for (std::size_t n = 0; n < 70; ++n) sizes.push_back(n);
    for (const std::size_t n : sizes)
        for (const std::uint32_t span : {1, 2, 16, 300, 65036}) {
            sorts_by_code(n, 0, span - 1, buffers);
            sorts_by_code(n, 500, 500 + span - 1, buffers);
        }
}

}  // namespace

int main() {
    class_and_weight_are_packed();
    tallies_add_up();
    sorts<CountCase>();
    sorts<RealCase>();
    return passed("cases");
}
