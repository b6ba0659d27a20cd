// The column store: codes keep the order, bins keep equal values together, thresholds part neighbours.
#include "base/columns.hpp"

#include <algorithm>
#include <map>

#include "tests/tools.hpp"

using namespace foresift;
using namespace foresift::tests;

namespace {

std::uint32_t code_at(const Column& column, std::size_t row) {
    return column.narrow.empty() ? column.wide[row] : column.narrow[row];
}

template <class Real>
void check_exact(const std::vector<Real>& values, std::uint32_t max_bins = kMaxCodes) {
    const Column column = code_numeric<Real>(values, max_bins);
    std::vector<Real> distinct;
    bool missing = false;
    for (const Real v : values)
        if (std::isnan(v))
            missing = true;
        else
            distinct.push_back(v);
    std::sort(distinct.begin(), distinct.end());
    distinct.erase(std::unique(distinct.begin(), distinct.end()), distinct.end());
    assert(!column.nominal && !column.binned && column.has_missing == missing);
    assert(column.n_values == distinct.size() && column.floats.size() + column.doubles.size() == distinct.size());
    assert(column.narrow.empty() != column.wide.empty() || values.empty());
    assert(column.wide.empty() == (distinct.size() + 1 <= 256));
    for (std::size_t i = 0; i < values.size(); ++i) {
        const auto code = code_at(column, i);
        if (std::isnan(values[i]))
            assert(code == column.n_values);
        else
            assert(column.value(code) == double(values[i]) && distinct[code] == values[i]);
    }
}

template <class Real>
void codes_are_ranks() {
    Dice dice(1);
    for (const std::size_t n : {1, 2, 3, 50, 255, 256, 257, 300, 5000})
        for (const std::uint32_t kinds : {1, 2, 5, 200, 100000}) {
            std::vector<Real> values(n);
            for (auto& v : values) v = Real(int(dice.below(kinds)) - int(kinds / 2)) / Real(7);
            check_exact(values);
            for (auto& v : values)
                if (dice.below(4) == 0) v = std::numeric_limits<Real>::quiet_NaN();
            check_exact(values);
        }
}

void hard_numbers() {
    using Limits = std::numeric_limits<double>;
    std::vector<double> values{-0.0, 0.0, Limits::denorm_min(), -Limits::denorm_min(), Limits::max(), Limits::lowest(),
                               Limits::min(), 1.0, 1.0 + Limits::epsilon(), kNaN, -1.0, -1.0 - Limits::epsilon()};
    check_exact(values);
    const Column column = code_numeric<double>(values, kMaxCodes);
    assert(code_at(column, 0) == code_at(column, 1));  // both zeros
    assert(!std::signbit(column.value(code_at(column, 0))));
    // Doubles that agree in their upper half, enough of them for the radix sort.
    Dice dice(2);
    values.clear();
    for (int i = 0; i < 3000; ++i) values.push_back(1.0 + dice.below(1000) * Limits::epsilon());
    for (int i = 0; i < 3000; ++i) values.push_back(-1.0 - dice.below(1000) * Limits::epsilon());
    check_exact(values);
    check_exact(std::vector<float>{-0.0F, 0.0F, 1e-45F, -1e-45F, 3e38F, -3e38F, NAN});
}

void width_of_codes() {
    for (const std::uint32_t distinct : {254, 255, 256, 257, 65534, 65535, 65536}) {
        std::vector<float> values(distinct);
        for (std::uint32_t i = 0; i < distinct; ++i) values[i] = float(distinct - i);
        check_exact(values);
    }
    std::vector<double> values(65536);
    for (std::uint32_t i = 0; i < 65535; ++i) values[i] = i;
    values[65535] = kNaN;
    check_exact(values);  // 65,535 values and missing: every code is taken
}

void nothing_known() {
    for (const std::size_t n : {1, 300}) {
        const Column column = code_numeric<double>(std::vector<double>(n, kNaN), kMaxCodes);
        assert(column.n_values == 0 && column.has_missing && column.doubles.empty());
        for (std::size_t i = 0; i < n; ++i) assert(code_at(column, i) == 0);
    }
}

void check_binned(const std::vector<double>& values, std::uint32_t max_bins) {
    const Column column = code_numeric<double>(values, max_bins);
    assert(column.binned && column.n_values <= max_bins && column.n_values > 0);
    assert(column.doubles.size() == column.n_values);
    assert(std::is_sorted(column.doubles.begin(), column.doubles.end()));
    std::map<std::uint32_t, std::size_t> sizes;
    for (std::size_t i = 0; i < values.size(); ++i) {
        const auto code = code_at(column, i);
        if (std::isnan(values[i])) {
            assert(code == column.n_values);
            continue;
        }
        assert(values[i] <= column.value(code) && (code == 0 || column.value(code - 1) < values[i]));
        ++sizes[code];
    }
    assert(sizes.size() == column.n_values);  // no empty bin
}

void bins() {
    Dice dice(3);
    for (const std::uint32_t max_bins : {2, 3, 10, 255, 256})
        for (const int ties : {0, 1, 2}) {
            std::vector<double> values(4000);
            for (auto& v : values) {
                v = dice.unit();
                if (ties == 1 && dice.below(2)) v = 0.5;           // one heavy value
                if (ties == 2) v = std::floor(v * v * 600);        // skewed, with ties
                if (dice.below(20) == 0) v = kNaN;
            }
            check_binned(values, max_bins);
        }
    // Distinct values fill the bins about equally.
    std::vector<double> values(1000);
    for (std::size_t i = 0; i < values.size(); ++i) values[i] = double((i * 7919) % 1000);
    const Column column = code_numeric<double>(values, 8);
    std::vector<int> sizes(8);
    for (std::size_t i = 0; i < values.size(); ++i) ++sizes[code_at(column, i)];
    for (const int s : sizes) assert(s == 125);
    // As many bins as values: exact. One less: not.
    check_exact(std::vector<double>{3, 1, 2}, 3);
    check_binned({3, 1, 2}, 2);
    // 65,536 values and missing do not fit.
    std::vector<double> full(65537);
    for (std::size_t i = 0; i < 65536; ++i) full[i] = double(i);
    full[65536] = kNaN;
    check_binned(full, kMaxCodes);
}

void thresholds() {
    using Limits = std::numeric_limits<double>;
    const auto between = [](double low, double high) {
        const Column column = code_numeric<double>(std::vector<double>{low, high}, kMaxCodes);
        const double t = column.threshold_between(0, 1);
        assert(low <= t && t < high);
        return t;
    };
    assert(between(1, 2) == 1.5);
    assert(between(-3, 4) == 0.5);
    assert(between(1, 1 + Limits::epsilon()) == 1);
    assert(between(Limits::lowest(), Limits::max()) == 0);
    assert(std::isfinite(between(Limits::max() / 2, Limits::max())));
    between(0, Limits::denorm_min());
    between(-Limits::denorm_min(), 0);
    between(Limits::denorm_min(), 3 * Limits::denorm_min());
    // Of bins only the largest value is known: the threshold lies at or above that of the left one, below the right.
    const Column column = code_numeric<double>(std::vector<double>{0, 1, 2, 10, 11, 12, 20, 21, 22}, 3);
    assert(column.n_values == 3 && column.threshold_between(0, 1) == 2 && column.threshold_between(0, 2) == 7);
}

void nominal_codes() {
    const Column column = code_nominal(std::vector<std::int32_t>{2, -1, 0, 2}, 3);
    assert(column.nominal && column.has_missing && column.n_values == 3 && !column.binned);
    assert((column.narrow == std::vector<std::uint8_t>{2, 3, 0, 2}));
    const Column wide = code_nominal(std::vector<std::int32_t>{65533, -1, 0}, 65534);
    assert((wide.wide == std::vector<std::uint16_t>{65533, 65534, 0}) && wide.narrow.empty());
    assert(!code_nominal(std::vector<std::int32_t>{0, 0}, 1).has_missing);
    assert(code_nominal(std::vector<std::int32_t>{-1, -1}, 0).has_missing);
    assert(!code_nominal(std::vector<std::int32_t>{0}, 255).narrow.empty());
    assert(code_nominal(std::vector<std::int32_t>{0}, 256).narrow.empty());
}

}  // namespace

int main() {
    codes_are_ranks<float>();
    codes_are_ranks<double>();
    hard_numbers();
    width_of_codes();
    nothing_known();
    bins();
    thresholds();
    nominal_codes();
    return passed("columns");
}
