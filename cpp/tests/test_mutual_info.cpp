#include "kernels/mutual_info.hpp"

#include <map>
#include <tuple>

#include "tests/tools.hpp"

using namespace foresift;
using namespace foresift::tests;

namespace {

using Codes32 = std::vector<std::int32_t>;

// The definitions, over counts in maps; -1 is a value, or leaves the row out.
Information by_definition(const Codes32& x, const Codes32& w, const Codes32& y, const std::vector<double>& weights,
                          bool known_only) {
    std::map<std::tuple<int, int, int>, double> xwy, xw, wy, only_w, only_y;
    double n = 0;
    for (std::size_t i = 0; i < x.size(); ++i) {
        const int given = w.empty() ? 0 : w[i];
        if (known_only && (x[i] < 0 || given < 0 || y[i] < 0)) continue;
        const double by = weights.empty() ? 1 : weights[i];
        n += by;
        xwy[{x[i], given, y[i]}] += by;
        xw[{x[i], given, 0}] += by;
        wy[{0, given, y[i]}] += by;
        only_w[{0, given, 0}] += by;
        only_y[{0, 0, y[i]}] += by;
    }
    if (n == 0) return {};
    const auto h = [n](const auto& counts) {
        double nats = 0;
        for (const auto& [key, c] : counts) nats -= c / n * std::log(c / n);
        return nats;
    };
    return {h(xw) + h(wy) - h(only_w) - h(xwy), h(xw) + h(only_y) - h(xwy), h(xwy)};
}

Codes32 random_codes(std::size_t n, std::uint32_t n_codes, bool missing, Bits& bits) {
    Codes32 codes(n);
    for (auto& code : codes)
        code = missing && bits.below(4) == 0 ? -1 : static_cast<std::int32_t>(bits.below(n_codes));
    return codes;
}

// Few codes are counted in a table, many by sorting; both must be what the definitions say.
void equals_the_definitions() {
    for (std::uint32_t seed = 0; seed < 200; ++seed) {
        Bits bits(seed, 0, 0);
        const std::size_t n = 1 + bits.below(300);
        const auto size = [&] { return 1 + bits.below(seed % 3 == 0 ? 2000 : 5); };
        const std::uint32_t n_x = size(), n_w = size(), n_y = size();
        const auto x = random_codes(n, n_x, seed % 2, bits), y = random_codes(n, n_y, seed % 5 == 0, bits);
        const auto w = seed % 7 == 0 ? Codes32{} : random_codes(n, n_w, seed % 2, bits);
        std::vector<double> weights(seed % 4 == 0 ? n : 0);
        for (auto& weight : weights) weight = 0.5 + bits.unit();
        const CountLogs logs(n);
        for (const bool known_only : {false, true}) {
            const Cells cells({w, w.empty() ? 1 : n_w}, {y, n_y}, known_only);
            const auto found = information(code_nominal(x, n_x), cells, weights, logs);
            const auto wanted = by_definition(x, w, y, weights, known_only);
            assert(near(found.conditional, wanted.conditional, 1e-12));
            assert(near(found.joint, wanted.joint, 1e-12));
            assert(near(found.entropy, wanted.entropy, 1e-12));
        }
    }
}

void a_case_by_hand() {
    // y is x or w: x alone says 0.2158 nats of it, given w half of what is left.
    const Codes32 x{0, 0, 1, 1}, w{0, 1, 0, 1}, y{0, 1, 1, 1};
    const CountLogs logs(4);
    const auto alone = information(code_nominal(x, 2), Cells({}, {y, 2}, false), {}, logs);
    assert(near(alone.conditional, 0.21576155433883565) && near(alone.joint, alone.conditional));
    const auto given = information(code_nominal(x, 2), Cells({w, 2}, {y, 2}, false), {}, logs);
    assert(near(given.conditional, std::log(2.0) / 2) && near(given.entropy, std::log(4.0)));
}

void nothing_known_is_no_information() {
    const Codes32 none{-1, -1}, y{0, 1};
    const auto found = information(code_nominal(none, 1), Cells({}, {y, 2}, true), {}, CountLogs(2));
    assert(found.conditional == 0 && found.joint == 0 && found.entropy == 0);
}

}  // namespace

int main() {
    equals_the_definitions();
    a_case_by_hand();
    nothing_known_is_no_information();
}
