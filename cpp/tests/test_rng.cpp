// Random bits: published outputs, independence of streams, ranges.
#include "base/rng.hpp"

#include <set>

#include "tests/tools.hpp"

using namespace foresift;
using namespace foresift::tests;

namespace {

void published_outputs() {
    // SplitMix64 from state 0 returns mix64 of multiples of the golden gamma.
    static_assert(mix64(kGolden) == 0xe220a8397b1dcdafULL);
    static_assert(mix64(2 * kGolden) == 0x6e789e6aa1b965f4ULL);
    static_assert(mix64(3 * kGolden) == 0x06c45d188009454fULL);
}

void a_stream_is_a_function_of_its_three_numbers() {
    std::set<std::uint64_t> firsts;
    for (std::uint64_t seed = 0; seed < 10; ++seed)
        for (std::uint64_t tree = 0; tree < 10; ++tree)
            for (std::uint64_t node = 0; node < 10; ++node) {
                Bits one(seed, tree, node), two(seed, tree, node);
                const auto first = one.next();
                assert(first == two.next() && one.next() == two.next());
                firsts.insert(first);
            }
    assert(firsts.size() == 1000);
    assert(Bits(0, 0, kRowStream).next() != Bits(0, 0, 0).next());
    // Swapping the numbers gives another stream.
    assert(Bits(1, 2, 3).next() != Bits(2, 1, 3).next());
    assert(Bits(1, 2, 3).next() != Bits(1, 3, 2).next());
}

void whole_numbers_are_uniform() {
    Bits bits(7, 0, 0);
    constexpr int kDraws = 100000, kSides = 10;
    int seen[kSides] = {};
    for (int i = 0; i < kDraws; ++i) ++seen[bits.below(kSides)];
    double chi2 = 0;
    for (const int s : seen) chi2 += double(s - kDraws / kSides) * (s - kDraws / kSides) / (kDraws / kSides);
    assert(chi2 < 28);  // 9 degrees of freedom, p = 0.001
    for (int i = 0; i < 100; ++i) assert(bits.below(1) == 0);
    std::uint32_t largest = 0;
    for (int i = 0; i < 1000; ++i) largest = std::max(largest, bits.below(0xffffffffU));
    assert(largest > 0xff000000U);
}

void units_are_uniform() {
    Bits bits(8, 0, 0);
    double sum = 0, squares = 0;
    constexpr int kDraws = 100000;
    for (int i = 0; i < kDraws; ++i) {
        const double u = bits.unit();
        assert(u >= 0 && u < 1);
        sum += u;
        squares += u * u;
    }
    assert(std::abs(sum / kDraws - 0.5) < 0.005);
    assert(std::abs(squares / kDraws - 1.0 / 3) < 0.005);
}

}  // namespace

int main() {
    published_outputs();
    a_stream_is_a_function_of_its_three_numbers();
    whole_numbers_are_uniform();
    units_are_uniform();
    return passed("rng");
}
