// Codes of numbers by cut points, against counting the cut points that lie below.
#include "hist/code_values.hpp"

#include <algorithm>

#include "tests/tools.hpp"

using namespace foresift;
using namespace foresift::tests;

namespace {

struct AllCuts {
    std::vector<double> cuts;
    std::vector<std::uint32_t> begins{0};

    void add(std::vector<double> own) {
        std::sort(own.begin(), own.end());
        cuts.insert(cuts.end(), own.begin(), own.end());
        begins.push_back(static_cast<std::uint32_t>(cuts.size()));
    }
    std::size_t n_columns() const { return begins.size() - 1; }
    Cuts spans() const { return {cuts, begins}; }
    template <class Real> std::uint8_t literal(std::size_t column, Real value) const {
        std::uint8_t below = 0;
        for (auto k = begins[column]; k < begins[column + 1]; ++k) below += cuts[k] < double(value);
        return std::isnan(value) ? static_cast<std::uint8_t>(begins[column + 1] - begins[column] + 1) : below;
    }
};

enum class Layout { rows, columns, turned };

// Codes values of which value(row, column) is one, laid out in memory one way or another.
template <class Real, class Value>
void equals_counting(const AllCuts& cuts, std::size_t n_rows, Layout layout, Value value) {
    const std::size_t n_columns = cuts.n_columns();
    std::vector<Real> memory(n_rows * n_columns);
    std::ptrdiff_t row_step = std::ptrdiff_t(n_columns), column_step = 1;
    Real* first = memory.data();
    if (layout == Layout::columns) row_step = 1, column_step = std::ptrdiff_t(n_rows);
    if (layout == Layout::turned && !memory.empty()) {
        first = memory.data() + memory.size() - 1;
        row_step = -row_step, column_step = -column_step;
    }
    std::vector<std::uint8_t> expected(memory.size()), found(memory.size(), 99);
    for (std::size_t i = 0; i < n_rows; ++i)
        for (std::size_t j = 0; j < n_columns; ++j) {
            const Real one = value(i, j);
            first[std::ptrdiff_t(i) * row_step + std::ptrdiff_t(j) * column_step] = one;
            expected[j * n_rows + i] = cuts.literal(j, one);
        }
    code_values<Real>({first, n_rows, n_columns, row_step, column_step}, cuts.spans(), found);
    assert(found == expected);
}

template <class Real>
void random_numbers(std::uint64_t seed) {
    Dice dice(seed);
    AllCuts cuts;
    for (const std::size_t n : {0, 1, 2, 3, 126, 127, 128, 129, 253, 254}) {
        std::vector<double> own;
        for (std::size_t k = 0; k < n; ++k) own.push_back(dice.unit() < 0.5 ? dice.below(300) : 300 * dice.unit());
        cuts.add(own);
    }
    for (const std::size_t n_rows : {0, 1, 2, 255, 256, 257, 1000})
        for (const auto layout : {Layout::rows, Layout::columns, Layout::turned})
            equals_counting<Real>(cuts, n_rows, layout, [&](std::size_t, std::size_t j) {
                const auto begin = cuts.begins[j], n = cuts.begins[j + 1] - begin;
                const double any = dice.unit();
                if (any < 0.1) return std::numeric_limits<Real>::quiet_NaN();
                if (any < 0.2) return std::numeric_limits<Real>::infinity() * (dice.below(2) ? Real(1) : Real(-1));
                if (any < 0.6 && n > 0) {  // at a cut point, or beside it
                    const auto at = static_cast<Real>(cuts.cuts[begin + dice.below(n)]);
                    const Real to = dice.below(2) ? Real(1000) : Real(-1000);
                    return dice.below(2) ? at : std::nextafter(at, to);
                }
                return static_cast<Real>(310 * dice.unit() - 5);
            });
}

// Cut points that are no floats: a float lies below them or not as the same double does.
void cuts_between_floats() {
    AllCuts cuts;
    cuts.add({-1e300, -1e-300, 0.1, 0.3, 1e-46, 16777217, 1e39, 1e300});
    cuts.add({-double(std::numeric_limits<float>::max()), double(std::numeric_limits<float>::max())});
    cuts.add({-kInfinity, -0.0, kInfinity});
    std::vector<float> values{0.0F, -0.0F, 0.1F, std::nextafter(0.1F, 0.0F), 0.3F, 1e-45F, -1e-45F, 16777216.0F,
                              16777218.0F, 3e38F, std::numeric_limits<float>::max(), -std::numeric_limits<float>::max(),
                              std::numeric_limits<float>::infinity(), -std::numeric_limits<float>::infinity(),
                              std::numeric_limits<float>::quiet_NaN()};
    equals_counting<float>(cuts, values.size(), Layout::rows, [&](std::size_t i, std::size_t) { return values[i]; });
    equals_counting<double>(cuts, values.size(), Layout::columns,
                            [&](std::size_t i, std::size_t) { return double(values[i]); });
}

// The same row for all rows, as a broadcast array has it.
void a_step_of_none() {
    AllCuts cuts;
    cuts.add({1, 2});
    const double value = 1.5;
    std::vector<std::uint8_t> found(300);
    code_values<double>({&value, found.size(), 1, 0, 0}, cuts.spans(), found);
    assert(std::count(found.begin(), found.end(), 1) == 300);
}

}  // namespace

int main() {
    for (std::uint64_t seed = 0; seed < 5; ++seed) {
        random_numbers<float>(seed);
        random_numbers<double>(seed);
    }
    cuts_between_floats();
    a_step_of_none();
    return passed("code_values");
}
