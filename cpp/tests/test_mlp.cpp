#include "kernels/mlp.hpp"

#include <numeric>

#include "base/interrupt.hpp"
#include "tests/tools.hpp"

using namespace foresift;
using namespace foresift::tests;

namespace {

std::vector<std::uint32_t> upto(std::size_t n) {
    std::vector<std::uint32_t> indices(n);
    std::iota(indices.begin(), indices.end(), 0U);
    return indices;
}

// The outputs by the definition, in double precision.
std::vector<double> textbook(const Network& network, const std::vector<std::uint32_t>& inputs, const float* row,
                             std::size_t n_hidden, bool linear) {
    const auto unit = [](const float* weights, const std::vector<double>& below, bool is_linear) {
        double sum = weights[below.size()];
        for (std::size_t k = 0; k < below.size(); ++k) sum += weights[k] * below[k];
        return is_linear ? sum : 1 / (1 + std::exp(-sum));
    };
    std::vector<double> values, hidden, outputs;
    for (const auto input : inputs) values.push_back(row[input]);
    for (std::size_t h = 0; h < n_hidden; ++h)
        hidden.push_back(unit(&network.hidden[h * (inputs.size() + 1)], values, false));
    for (std::size_t o = 0; o < network.output.size() / (n_hidden + 1); ++o)
        outputs.push_back(unit(&network.output[o * (n_hidden + 1)], hidden, linear));
    return outputs;
}

// Any number of hidden units: whole strips, whole lanes, and parts of them.
void outputs_as_defined() {
    Dice dice(1);
    const std::size_t n_rows = 7, n_columns = 5;
    std::vector<float> values(n_rows * n_columns);
    for (float& v : values) v = static_cast<float>(6 * dice.unit() - 3);
    const std::vector<std::int32_t> target(n_rows, 1);
    const std::vector<std::uint32_t> inputs{3, 0, 3, 4};  // one twice, two never
    const auto rows = upto(n_rows);
    for (const std::uint32_t n_hidden : {1U, 3U, 4U, 5U, 8U, 10U, 15U, 16U, 17U, 25U, 40U})
        for (const std::uint32_t n_outputs : {1U, 3U, 26U}) {
            NetworkOptions options;
            options.n_hidden = n_hidden;
            options.n_outputs = n_outputs;
            options.epochs = 3;
            options.init_range = 3;
            const Network network = train_network({values, n_columns, target, {}}, inputs, rows, options, 5, {});
            assert(network.hidden.size() == n_hidden * (inputs.size() + 1));
            assert(network.output.size() == n_outputs * (n_hidden + 1));
            for (const bool linear : {false, true}) {
                std::vector<float> out(n_rows * n_outputs);
                network_outputs(network, linear, inputs, values, n_columns, n_hidden, out);
                for (std::size_t row = 0; row < n_rows; ++row) {
                    const auto wanted = textbook(network, inputs, &values[row * n_columns], n_hidden, linear);
                    for (std::size_t o = 0; o < n_outputs; ++o)
                        assert(near(out[row * n_outputs + o], wanted[o], linear ? 2e-5 : 2e-6));
                }
            }
        }
}

const std::vector<float> kCorners{-1, -1, -1, 1, 1, -1, 1, 1};
const std::vector<std::int32_t> kXor{0, 1, 1, 0};

void learns_xor() {
    NetworkOptions options;
    options.epochs = 2000;
    int learned = 0;
    for (std::uint64_t number = 0; number < 10; ++number) {
        const Network network = train_network({kCorners, 2, kXor, {}}, upto(2), upto(4), options, number, {});
        std::vector<float> out(4);
        network_outputs(network, false, upto(2), kCorners, 2, options.n_hidden, out);
        learned += out[0] < 0.2 && out[1] > 0.8 && out[2] > 0.8 && out[3] < 0.2;
    }
    assert(learned >= 9);  // back-propagation may end in a local minimum
}

void a_row_of_weight_zero_moves_nothing_but_momentum() {
    NetworkOptions options;
    options.momentum = 0;
    const std::vector<float> weights{1, 0, 1, 1};
    const Network with = train_network({kCorners, 2, kXor, weights}, upto(2), upto(4), options, 0, {});
    options.epochs = 0;
    const std::vector<float> none(4, 0.0F);
    const Network before = train_network({kCorners, 2, kXor, {}}, upto(2), upto(4), options, 0, {});
    options.epochs = 5;
    const Network still = train_network({kCorners, 2, kXor, none}, upto(2), upto(4), options, 0, {});
    assert(before.hidden == still.hidden && before.output == still.output);
    assert(with.hidden != still.hidden);
}

void seeds_and_numbers() {
    NetworkOptions options;
    const auto train = [&](std::uint64_t number) {
        return train_network({kCorners, 2, kXor, {}}, upto(2), upto(4), options, number, {}).hidden;
    };
    const auto first = train(0);
    assert(first == train(0) && first != train(1));
    options.seed = 1;
    assert(first != train(0));
    options.epochs = 0;
    for (const float weight : train(3)) assert(-0.5F <= weight && weight < 0.5F);
}

void divergence_shows() {
    NetworkOptions options;
    options.learning_rate = 1e38F;
    options.epochs = 100;
    const std::vector<float> values{-3, -1, -1, 5, 1, -1, 1, 1};
    const Network network = train_network({values, 2, kXor, {}}, upto(2), upto(4), options, 0, {});
    bool finite = true;
    for (const float weight : network.hidden) finite &= std::isfinite(weight);
    for (const float weight : network.output) finite &= std::isfinite(weight);
    assert(!finite);
}

// The product of two inputs. Far too large a rate learns less, but does not diverge.
void learns_a_quantity() {
    Dice dice(2);
    const std::size_t n_rows = 200;
    std::vector<float> values(n_rows * 2), target(n_rows);
    for (float& v : values) v = static_cast<float>(2 * dice.unit() - 1);
    for (std::size_t row = 0; row < n_rows; ++row) target[row] = 3 * values[2 * row] * values[2 * row + 1];
    NetworkOptions options;
    options.epochs = 200;
    for (const float rate : {0.01F, 1e30F}) {
        options.learning_rate = rate;
        const Network network = train_network({values, 2, target, {}}, upto(2), upto(n_rows), options, 0, {});
        std::vector<float> out(n_rows);
        network_outputs(network, true, upto(2), values, 2, options.n_hidden, out);
        double error = 0, all = 0;
        for (std::size_t row = 0; row < n_rows; ++row) {
            error += (out[row] - target[row]) * (out[row] - target[row]);
            all += target[row] * target[row];
        }
        assert(error < (rate < 1 ? 0.05 : 2.0) * all);
    }
}

// A step takes the output of a row nearer to its target, whatever its weight and however many inputs there are.
void damped_steps_never_overshoot() {
    Dice dice(3);
    std::vector<float> values(300);
    for (float& v : values) v = static_cast<float>(6 * dice.unit() - 3);
    const std::vector<float> target{5};
    NetworkOptions options;
    options.n_hidden = 30;
    options.momentum = 0;
    for (const float weight : {1e-6F, 1.0F, 1e6F}) {
        const std::vector<float> weights{weight};
        float out[2];
        for (options.epochs = 0; options.epochs < 2; ++options.epochs) {
            const Network network = train_network({values, 300, target, weights}, upto(300), upto(1), options, 0, {});
            network_outputs(network, true, upto(300), values, 300, options.n_hidden, {&out[options.epochs], 1});
        }
        assert(std::abs(5 - out[1]) < std::abs(5 - out[0]));
    }
}

void stops_when_asked() {
    bool stopped = false;
    try {
        train_network({kCorners, 2, kXor, {}}, upto(2), upto(4), {}, 0, [] { return true; });
    } catch (const Interrupted&) {
        stopped = true;
    }
    assert(stopped);
}

}  // namespace

int main() {
    outputs_as_defined();
    learns_xor();
    a_row_of_weight_zero_moves_nothing_but_momentum();
    seeds_and_numbers();
    divergence_shows();
    learns_a_quantity();
    damped_steps_never_overshoot();
    stops_when_asked();
    return passed("mlp");
}
