// The Python face of the networks.
#include "bindings.hpp"
#include "mlp.hpp"

namespace foresift {
namespace {

NetworkOptions options_of(const nb::kwargs& kwargs) {
    NetworkOptions o;
    for (auto [key, value] : kwargs) {
        const auto name = nb::cast<std::string>(key);
        if (name == "n_hidden") o.n_hidden = nb::cast<std::uint32_t>(value);
        else if (name == "n_outputs") o.n_outputs = nb::cast<std::uint32_t>(value);
        else if (name == "epochs") o.epochs = nb::cast<std::uint32_t>(value);
        else if (name == "learning_rate") o.learning_rate = nb::cast<float>(value);
        else if (name == "momentum") o.momentum = nb::cast<float>(value);
        else if (name == "init_range") o.init_range = nb::cast<float>(value);
        else if (name == "seed") o.seed = nb::cast<std::uint64_t>(value);
        else throw nb::type_error(("unknown option: " + name).c_str());
    }
    return o;
}

void check_below(std::span<const std::uint32_t> indices, std::size_t n, const char* what) {
    for (const auto index : indices)
        if (index >= n) throw nb::index_error(what);
}

nb::tuple train(const Rows<float>& values, const Vector<std::int32_t>& target, const std::optional<Vector<float>>& weights,
                const Vector<std::uint32_t>& inputs, const Vector<std::uint32_t>& rows, std::uint64_t number,
                const StopFlag* stop, const nb::kwargs& kwargs) {
    const NetworkOptions options = options_of(kwargs);
    if (target.size() != values.shape(0) || (weights && weights->size() != target.size()))
        throw nb::value_error("lengths differ");
    if (options.n_hidden == 0 || options.n_outputs == 0) throw nb::value_error("a layer needs units");
    check_below(span_of(inputs), values.shape(1), "no such column");
    check_below(span_of(rows), values.shape(0), "no such row");
    Network network;
    {
        const nb::gil_scoped_release unlocked;
        const Examples examples{{values.data(), values.size()}, values.shape(1), span_of(target),
                                weights ? span_of(*weights) : std::span<const float>()};
        network = train_network(examples, span_of(inputs), span_of(rows), options, number, stop_check(stop));
    }
    return nb::make_tuple(to_numpy(std::move(network.hidden), inputs.size() + 1),
                          to_numpy(std::move(network.output), options.n_hidden + 1));
}

NewArray<float> outputs(const Rows<float>& hidden, const Rows<float>& output, const Vector<std::uint32_t>& inputs,
                        const Rows<float>& values) {
    if (hidden.shape(1) != inputs.size() + 1 || output.shape(1) != hidden.shape(0) + 1)
        throw nb::value_error("not the layers of a network with these inputs");
    check_below(span_of(inputs), values.shape(1), "no such column");
    std::vector<float> result(values.shape(0) * output.shape(0));
    {
        const nb::gil_scoped_release unlocked;
        const Network network{{hidden.data(), hidden.data() + hidden.size()},
                              {output.data(), output.data() + output.size()}};
        network_outputs(network, span_of(inputs), {values.data(), values.size()}, values.shape(1), hidden.shape(0), result);
    }
    return to_numpy(std::move(result), output.shape(0));
}

}  // namespace

void bind_networks(nb::module_& m) {
    m.def("train_network", &train, "values"_a, "target"_a, "weights"_a.none(), "inputs"_a, "rows"_a, "number"_a,
          "stop"_a.none(), "options"_a,
          nb::sig("def train_network(values: NDArray[numpy.float32], target: NDArray[numpy.int32], "
                  "weights: NDArray[numpy.float32] | None, inputs: NDArray[numpy.uint32], rows: NDArray[numpy.uint32], "
                  "number: int, stop: StopFlag | None, **options: object) "
                  "-> tuple[NDArray[numpy.float32], NDArray[numpy.float32]]"),
          "Train one network: the weights of its hidden and of its output units, a row each, bias last.");
    m.def("network_outputs", &outputs, "hidden"_a, "output"_a, "inputs"_a, "values"_a);
}

}  // namespace foresift
