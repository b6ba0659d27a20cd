// Rows in the order of their codes by bits, against sorting them.
#include "split/code_bits.hpp"

#include <algorithm>

#include "tests/tools.hpp"

using namespace foresift;
using namespace foresift::tests;

namespace {

struct Row {
    std::uint16_t code;
    std::uint32_t cls;
};

// Hands out the rows in rising order, whatever was set before; shared codes are seen by their number.
void in_order() {
    Dice dice(8);
    CodeBits bits;
    for (int round = 0; round < 400; ++round) {
        const bool distinct = round % 2;
        std::vector<Row> rows;
        std::uint32_t code = dice.below(200);
        for (std::uint32_t n = 2 + dice.below(300); n > 0; --n, code += distinct + dice.below(round % 7 ? 3 : 200))
            rows.push_back({static_cast<std::uint16_t>(code), dice.below(2)});
        auto mixed = rows;
        shuffle(mixed, dice.bits);
        std::vector<std::uint16_t> codes;
        std::vector<Member<CountCase>> members;
        for (const auto& row : mixed) {
            codes.push_back(row.code);
            members.push_back({0, CountCase::make(row.cls, 1)});
        }
        const std::uint32_t low = rows.front().code;
        bits.set<CountCase>(codes, members, low, rows.back().code);
        std::uint32_t so_far = 0, second = 0;
        const auto n_codes = bits.take([&](std::uint32_t place, std::uint32_t n, std::uint32_t n_second) {
            assert(n == ++so_far);
            if (!distinct) return;
            second += rows[n - 1].cls;
            assert(low + place == rows[n - 1].code && n_second == second);
        });
        const auto same = [](const Row& a, const Row& b) { return a.code == b.code; };
        rows.erase(std::unique(rows.begin(), rows.end(), same), rows.end());
        assert(n_codes == rows.size() && so_far == n_codes);
    }
}

}  // namespace

int main() {
    in_order();
    return passed("code bits");
}
