// Networks with one hidden layer of sigmoid units, trained by online back-propagation with momentum: the members of
// Opitz's ensembles. Single precision; a network is a pure function of (data, inputs, rows, options, number).
#pragma once

#include <cstdint>
#include <span>
#include <variant>
#include <vector>

#include "base/interrupt.hpp"

namespace foresift {

struct NetworkOptions {
    std::uint32_t n_hidden = 5, n_outputs = 1, epochs = 40;
    float learning_rate = 0.15F, momentum = 0.9F;
    float init_range = 0.5F;  // weights begin uniform on [-init_range, init_range)
    std::uint64_t seed = 0;
};

/// The class of every row, for sigmoid outputs (one: the share of class 1 of two classes; else one per class), or a
/// quantity of about unit variance, for one linear output.
using Targets = std::variant<std::span<const std::int32_t>, std::span<const float>>;

/// What a network learns from.
struct Examples {
    std::span<const float> values;   // rows of n_columns values, all finite
    std::size_t n_columns;
    Targets target;                  // of every row
    std::span<const float> weights;  // how far a row moves the weights, 1 is a full step; empty: 1 for all
};

/// The weights into one layer: for every unit one per unit below, then the bias; unit after unit.
struct Network {
    std::vector<float> hidden;  // n_hidden x (n_inputs + 1)
    std::vector<float> output;  // n_outputs x (n_hidden + 1)
};

/// Train one network. Input k is column inputs[k], which may repeat; every epoch takes all of `rows`, which may repeat
/// too, in a new random order. `number` tells the networks of one seed apart. `stop`, if any, is asked now and then;
/// throws Interrupted when it says yes. A learning rate that diverges leaves weights that are not finite.
Network train_network(const Examples& examples, std::span<const std::uint32_t> inputs,
                      std::span<const std::uint32_t> rows, const NetworkOptions& options, std::uint64_t number,
                      const Stop& stop);

/// Write the outputs of every row of `values`, n_outputs each, to `out`; values and inputs as for training. `linear`
/// says that the network has learned a quantity.
void network_outputs(const Network& network, bool linear, std::span<const std::uint32_t> inputs,
                     std::span<const float> values, std::size_t n_columns, std::size_t n_hidden, std::span<float> out);

}  // namespace foresift
