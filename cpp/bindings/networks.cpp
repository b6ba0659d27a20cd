// The Python face of the networks.
#include <algorithm>
#include <limits>

#include "bindings/arrays.hpp"
#include "kernels/mlp.hpp"

namespace foresift {
namespace {

constexpr std::size_t kMostUnits = std::size_t{1} << 20, kMostWeights = std::size_t{1} << 28;

void check_options(const NetworkOptions& o, std::size_t n_inputs) {
    check_range<std::size_t>("n_hidden", o.n_hidden, 1, kMostUnits);
    check_range<std::size_t>("n_outputs", o.n_outputs, 1, kMostUnits);
    check_memory("n_hidden", o.n_hidden, n_inputs + 1, kMostWeights);
    check_memory("n_outputs", o.n_outputs, o.n_hidden + std::size_t{1}, kMostWeights);
    constexpr float kMost = std::numeric_limits<float>::max();
    check_range("learning_rate", o.learning_rate, 0.0F, kMost);
    check_range("momentum", o.momentum, 0.0F, kMost);
    check_range("init_range", o.init_range, 0.0F, kMost);
}

void check_target(std::span<const std::int32_t> classes, const NetworkOptions& options) {
    check_classes(classes, std::max(options.n_outputs, 2U));  // one output tells two classes apart
}
void check_target(std::span<const float> quantity, const NetworkOptions& options) {
    check_range<std::size_t>("n_outputs", options.n_outputs, 1, 1);
    for (const float value : quantity)
        if (!std::isfinite(value)) refuse("target must be finite.");
}

template <class Target>
nb::tuple train(const Rows<float>& values, const Vector<Target>& target, const std::optional<Vector<float>>& weights,
                const Vector<std::uint32_t>& inputs, const Vector<std::uint32_t>& rows, std::uint64_t number,
                const StopFlag* stop, const NetworkOptions options) {  // its own: what was checked must not change
    check_options(options, inputs.size());
    check_length("target", target.size(), values.shape(0));
    check_target(span_of(target), options);
    if (weights) check_weights("weights", span_of(*weights), target.size());
    check_below("inputs", span_of(inputs), values.shape(1));
    check_below("rows", span_of(rows), values.shape(0));
    if (rows.size() == 0) refuse("A network needs rows to learn from.");
    const auto all = values_of(values);
    Network network;
    {
        const nb::gil_scoped_release unlocked;
        const Examples examples{all, values.shape(1), span_of(target), span_of(weights)};
        network = train_network(examples, span_of(inputs), span_of(rows), options, number, stop_check(stop));
    }
    return nb::make_tuple(to_numpy(std::move(network.hidden), inputs.size() + 1),
                          to_numpy(std::move(network.output), options.n_hidden + 1));
}

NewArray<float> outputs(const Rows<float>& hidden, const Rows<float>& output, const Vector<std::uint32_t>& inputs,
                        const Rows<float>& values, bool linear) {
    check_range<std::size_t>("The number of hidden units", hidden.shape(0), 1, kMostUnits);
    check_range<std::size_t>("The number of outputs", output.shape(0), 1, kMostUnits);
    check_length("A row of hidden", hidden.shape(1), inputs.size() + 1);
    check_length("A row of output", output.shape(1), hidden.shape(0) + 1);
    check_below("inputs", span_of(inputs), values.shape(1));
    check_range<std::size_t>("The number of rows", values.shape(0), 0, kMostRows);  // of no columns there may be many
    check_memory("The number of outputs", values.shape(0), output.shape(0));
    const auto first = values_of(hidden), second = values_of(output), all = values_of(values);
    std::vector<float> result(values.shape(0) * output.shape(0));
    {
        const nb::gil_scoped_release unlocked;
        const Network network{{first.begin(), first.end()}, {second.begin(), second.end()}};
        network_outputs(network, linear, span_of(inputs), all, values.shape(1), hidden.shape(0), result);
    }
    return to_numpy(std::move(result), output.shape(0));
}

}  // namespace

void bind_networks(nb::module_& m) {
    nb::class_<NetworkOptions>(m, "NetworkOptions", "How networks are trained; see cpp/kernels/mlp.hpp.")
        .def("__init__", &make_options<NetworkOptions>)
        .def_rw("n_hidden", &NetworkOptions::n_hidden)
        .def_rw("n_outputs", &NetworkOptions::n_outputs)
        .def_rw("epochs", &NetworkOptions::epochs)
        .def_rw("learning_rate", &NetworkOptions::learning_rate)
        .def_rw("momentum", &NetworkOptions::momentum)
        .def_rw("init_range", &NetworkOptions::init_range)
        .def_rw("seed", &NetworkOptions::seed);
    const auto define_training = [&m](auto* train) {
        m.def("train_network", train, "values"_a.noconvert(), "target"_a.noconvert(), "weights"_a.none().noconvert(),
              "inputs"_a.noconvert(), "rows"_a.noconvert(), "number"_a, "stop"_a.none(), "options"_a,
              "Train one network: the weights of its hidden and of its output units, a row each, bias last.");
    };
    define_training(&train<std::int32_t>);  // classes
    define_training(&train<float>);         // a quantity
    m.def("network_outputs", &outputs, "hidden"_a.noconvert(), "output"_a.noconvert(), "inputs"_a.noconvert(),
          "values"_a.noconvert(), "linear"_a = false);
}

}  // namespace foresift
