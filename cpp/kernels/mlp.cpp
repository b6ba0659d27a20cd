#include "kernels/mlp.hpp"

#include <algorithm>
#include <bit>

#if defined(__SSE__) || defined(_M_X64)
#define FORESIFT_SSE
#include <xmmintrin.h>
#endif

#include "base/rng.hpp"

namespace foresift {
namespace {

constexpr std::size_t kLanes = 4;   // hidden units that one instruction works on; every x86-64 has it
constexpr std::size_t kStrip = 16;  // hidden units whose sums stay in registers
constexpr std::size_t kOften = 256; // rows between two questions whether to stop

#if defined(__GNUC__)
using Lanes [[gnu::vector_size(kLanes * sizeof(float)), gnu::aligned(sizeof(float)), gnu::may_alias]] = float;
#else  // the same for compilers without such types, so with the same results
struct Lanes {
    float at[kLanes];

    float operator[](std::size_t k) const { return at[k]; }
    friend Lanes operator+(Lanes a, const Lanes& b) {
        for (std::size_t k = 0; k < kLanes; ++k) a.at[k] += b.at[k];
        return a;
    }
    friend Lanes operator*(Lanes a, const Lanes& b) {
        for (std::size_t k = 0; k < kLanes; ++k) a.at[k] *= b.at[k];
        return a;
    }
    friend Lanes operator*(float x, Lanes a) {
        for (float& value : a.at) value *= x;
        return a;
    }
    Lanes& operator+=(const Lanes& b) { return *this = *this + b; }
};
#endif

inline Lanes& lanes(float* at) { return *reinterpret_cast<Lanes*>(at); }
inline const Lanes& lanes(const float* at) { return *reinterpret_cast<const Lanes*>(at); }

std::size_t padded(std::size_t n) { return (n + kLanes - 1) / kLanes * kLanes; }

// Velocities of inputs that are 0 for long decay to numbers so small that x86 gets slow: by half on one-hot columns.
class TinyIsZero {
public:
#if defined(FORESIFT_SSE)
    TinyIsZero() : before_(_mm_getcsr()) { _mm_setcsr(before_ | 0x8040U); }
    ~TinyIsZero() { _mm_setcsr(before_); }

private:
    unsigned before_;
#endif
};

// 1 / (1 + exp(-x)) within 2e-7, without a call or a branch: 2^t is a power of two times the series of 2^f, |f| <= 1/2.
inline float sigmoid(float x) {
    constexpr float kMost = 80, kRound = 12582912;  // adding 1.5 * 2^23 rounds to whole numbers
    x = x > kMost ? kMost : x;
    x = x < -kMost ? -kMost : x;
    const float t = x * -1.44269504F, shifted = t + kRound, f = t - (shifted - kRound);
    float power = 1.5403530e-4F;
    power = power * f + 1.3333558e-3F;
    power = power * f + 9.6181291e-3F;
    power = power * f + 5.5504109e-2F;
    power = power * f + 2.4022651e-1F;
    power = power * f + 6.9314718e-1F;
    power = power * f + 1.0F;
    const float scale = std::bit_cast<float>((std::bit_cast<std::uint32_t>(shifted) << 23) + 0x3f800000U);
    return 1.0F / (1.0F + power * scale);
}

// Calls work(first unit, integral constant of how many) for strips of up to kStrip hidden units.
template <class Work>
inline void for_strips(std::size_t n_units, const Work& work) {
    std::size_t at = 0;
    for (; at + kStrip <= n_units; at += kStrip) work(at, std::integral_constant<std::size_t, kStrip>());
    switch (n_units - at) {
        case 4: return work(at, std::integral_constant<std::size_t, 4>());
        case 8: return work(at, std::integral_constant<std::size_t, 8>());
        case 12: return work(at, std::integral_constant<std::size_t, 12>());
        default: return;
    }
}

// The output layer: what a unit answers to its weighted sum, and its step down the squared error. The slope of a sigmoid
// is 1/4 at most; that of a linear output has no bound, so its steps are damped.
struct ClassOutputs {
    static constexpr bool kDamped = false;
    static float answer(float sum) { return sigmoid(sum); }
    static float step(float rate, float out, std::int32_t target, std::size_t unit, std::size_t n_outputs) {
        const bool wanted = n_outputs == 1 ? target == 1 : target == static_cast<std::int32_t>(unit);
        return rate * ((wanted ? 1.0F : 0.0F) - out) * out * (1.0F - out);
    }
};
struct LinearOutput {
    static constexpr bool kDamped = true;
    static float answer(float sum) { return sum; }
    static float step(float rate, float out, float target, std::size_t, std::size_t) { return rate * (target - out); }
};

inline ClassOutputs outputs_for(std::span<const std::int32_t>) { return {}; }
inline LinearOutput outputs_for(std::span<const float>) { return {}; }

// A network at work. Hidden units are padded to whole lanes by units that are always 0. The weights into a strip of
// them lie input after input, the bias last, so that all units of the strip read an input at once.
template <class Output>
class Layers {
public:
    Layers(std::span<const std::uint32_t> inputs, std::size_t n_hidden, std::size_t n_outputs)
        : inputs_(inputs), n_hidden_(n_hidden), n_units_(padded(n_hidden)), n_outputs_(n_outputs),
          hidden_(n_units_ * (inputs.size() + 1)), output_(n_outputs * (n_units_ + 1)), active_(n_units_),
          step_(n_units_), out_(n_outputs) {}

    void write(const Network& network) {
        for_weights(network, [](float& ours, float theirs) { ours = theirs; });
    }
    // Random weights, and no momentum yet; needed before `learn`.
    void begin(Bits& bits, float range) {
        Network network = read();
        for (auto* layer : {&network.hidden, &network.output})
            for (float& weight : *layer) weight = range * static_cast<float>(2 * bits.unit() - 1);
        write(network);
        velocity_hidden_.assign(hidden_.size(), 0.0F);
        velocity_output_.assign(output_.size(), 0.0F);
    }
    Network read() {
        Network network{std::vector<float>(n_hidden_ * (inputs_.size() + 1)),
                        std::vector<float>(n_outputs_ * (n_hidden_ + 1))};
        for_weights(network, [](float ours, float& theirs) { theirs = ours; });
        return network;
    }

    std::span<const float> outputs(const float* row) {
        for_strips(n_units_, [&](std::size_t at, auto width) { sum_inputs<width()>(row, at); });
        for (std::size_t h = 0; h < n_hidden_; ++h) active_[h] = sigmoid(active_[h]);
        std::fill(active_.begin() + static_cast<std::ptrdiff_t>(n_hidden_), active_.end(), 0.0F);
        for (std::size_t o = 0; o < n_outputs_; ++o) {
            const float* weights = &output_[o * (n_units_ + 1)];
            Lanes sum{};
            for (std::size_t h = 0; h < n_units_; h += kLanes) sum += lanes(&active_[h]) * lanes(weights + h);
            out_[o] = ((sum[0] + sum[2]) + (sum[1] + sum[3])) + weights[n_units_];
        }
        for (float& out : out_) out = Output::answer(out);
        return out_;
    }

    // One step down the squared error of the row whose outputs were asked for last. A damped step is that of implicit
    // gradient descent, whose gradient is the one after the step (Toulis & Airoldi 2017), for a unit that is linear in
    // its weights: it takes the output towards the target, never beyond, with all that momentum adds to it later.
    template <class Target>
    void learn(const float* row, Target target, float rate, float momentum) {
        if constexpr (Output::kDamped) rate = 1.0F / (1.0F / rate + squared_slope(row) / (1.0F - momentum));
        std::fill(step_.begin(), step_.end(), 0.0F);
        for (std::size_t o = 0; o < n_outputs_; ++o) {
            const float step = Output::step(rate, out_[o], target, o, n_outputs_);
            float *weights = &output_[o * (n_units_ + 1)], *velocity = &velocity_output_[o * (n_units_ + 1)];
            for (std::size_t h = 0; h < n_units_; h += kLanes) {
                lanes(&step_[h]) += step * lanes(weights + h);
                const Lanes moved = momentum * lanes(velocity + h) + step * lanes(&active_[h]);
                lanes(velocity + h) = moved;
                lanes(weights + h) += moved;
            }
            velocity[n_units_] = momentum * velocity[n_units_] + step;
            weights[n_units_] += velocity[n_units_];
        }
        for (std::size_t h = 0; h < n_units_; ++h) step_[h] *= active_[h] * (1.0F - active_[h]);
        for_strips(n_units_, [&](std::size_t at, auto width) { move_inputs<width()>(row, at, momentum); });
    }

private:
    // Squared length of the gradient of the one linear output by all weights.
    float squared_slope(const float* row) const {
        float inputs = 1.0F, direct = 1.0F, through = 0.0F;
        for (const auto input : inputs_) inputs += row[input] * row[input];
        for (std::size_t h = 0; h < n_units_; ++h) {
            const float slope = output_[h] * active_[h] * (1.0F - active_[h]);
            direct += active_[h] * active_[h];
            through += slope * slope;
        }
        return direct + inputs * through;
    }

    template <std::size_t kWidth>
    void sum_inputs(const float* row, std::size_t at) {
        constexpr std::size_t kParts = kWidth / kLanes;
        const float* weights = &hidden_[at * (inputs_.size() + 1)];
        Lanes sums[kParts];
        for (std::size_t k = 0; k < kParts; ++k) sums[k] = lanes(weights + inputs_.size() * kWidth + k * kLanes);
        for (const auto input : inputs_) {
            const float x = row[input];
            for (std::size_t k = 0; k < kParts; ++k) sums[k] += x * lanes(weights + k * kLanes);
            weights += kWidth;
        }
        for (std::size_t k = 0; k < kParts; ++k) lanes(&active_[at + k * kLanes]) = sums[k];
    }

    template <std::size_t kWidth>
    void move_inputs(const float* row, std::size_t at, float momentum) {
        constexpr std::size_t kParts = kWidth / kLanes;
        float *weights = &hidden_[at * (inputs_.size() + 1)], *velocity = &velocity_hidden_[at * (inputs_.size() + 1)];
        Lanes steps[kParts];
        for (std::size_t k = 0; k < kParts; ++k) steps[k] = lanes(&step_[at + k * kLanes]);
        for (std::size_t i = 0; i <= inputs_.size(); ++i, weights += kWidth, velocity += kWidth) {
            const float x = i < inputs_.size() ? row[inputs_[i]] : 1.0F;
            for (std::size_t k = 0; k < kParts; ++k) {
                const Lanes moved = momentum * lanes(velocity + k * kLanes) + x * steps[k];
                lanes(velocity + k * kLanes) = moved;
                lanes(weights + k * kLanes) += moved;
            }
        }
    }

    float& hidden_weight(std::size_t h, std::size_t input) {
        const std::size_t first = h / kStrip * kStrip, width = std::min(kStrip, n_units_ - first);
        return hidden_[first * (inputs_.size() + 1) + input * width + h - first];
    }
    float& output_weight(std::size_t o, std::size_t h) {
        return output_[o * (n_units_ + 1) + (h < n_hidden_ ? h : n_units_)];
    }

    // Calls work(ours, theirs) for every weight and its place in a `Network`.
    template <class AnyNetwork, class Work>
    void for_weights(AnyNetwork& network, const Work& work) {
        const std::size_t n_inputs = inputs_.size();
        for (std::size_t h = 0; h < n_hidden_; ++h)
            for (std::size_t i = 0; i <= n_inputs; ++i)
                work(hidden_weight(h, i), network.hidden[h * (n_inputs + 1) + i]);
        for (std::size_t o = 0; o < n_outputs_; ++o)
            for (std::size_t h = 0; h <= n_hidden_; ++h)
                work(output_weight(o, h), network.output[o * (n_hidden_ + 1) + h]);
    }

    std::span<const std::uint32_t> inputs_;
    std::size_t n_hidden_, n_units_, n_outputs_;
    std::vector<float> hidden_, output_, velocity_hidden_, velocity_output_;
    std::vector<float> active_, step_, out_;  // of the hidden units; of the outputs
};

template <class Target>
Network train(const Examples& examples, std::span<const Target> target, std::span<const std::uint32_t> inputs,
              std::span<const std::uint32_t> rows, const NetworkOptions& options, std::uint64_t number,
              const Stop& stop) {
    Layers<decltype(outputs_for(target))> layers(inputs, options.n_hidden, options.n_outputs);
    Bits bits(options.seed, number, 0);
    layers.begin(bits, options.init_range);
    std::vector<std::uint32_t> order(rows.begin(), rows.end());
    for (std::uint32_t epoch = 0; epoch < options.epochs; ++epoch) {
        Bits shuffling(options.seed, number, epoch + 1);
        shuffle(order, shuffling);
        for (std::size_t k = 0; k < order.size(); ++k) {
            if (k % kOften == 0) check_stop(stop);
            const std::uint32_t row = order[k];
            const float* values = examples.values.data() + row * examples.n_columns;
            const float weight = examples.weights.empty() ? 1.0F : examples.weights[row];
            layers.outputs(values);
            layers.learn(values, target[row], options.learning_rate * weight, options.momentum);
        }
    }
    return layers.read();
}

template <class Output>
void write_outputs(const Network& network, std::span<const std::uint32_t> inputs, std::span<const float> values,
                   std::size_t n_columns, std::size_t n_hidden, std::span<float> out) {
    const std::size_t n_outputs = network.output.size() / (n_hidden + 1), n_rows = out.size() / n_outputs;
    Layers<Output> layers(inputs, n_hidden, n_outputs);
    layers.write(network);
    for (std::size_t row = 0; row < n_rows; ++row) {
        const auto outputs = layers.outputs(values.data() + row * n_columns);
        std::copy(outputs.begin(), outputs.end(), out.begin() + static_cast<std::ptrdiff_t>(row * n_outputs));
    }
}

}  // namespace

Network train_network(const Examples& examples, std::span<const std::uint32_t> inputs,
                      std::span<const std::uint32_t> rows, const NetworkOptions& options, std::uint64_t number,
                      const Stop& stop) {
    const TinyIsZero while_training;
    return std::visit([&](auto target) { return train(examples, target, inputs, rows, options, number, stop); },
                      examples.target);
}

void network_outputs(const Network& network, bool linear, std::span<const std::uint32_t> inputs,
                     std::span<const float> values, std::size_t n_columns, std::size_t n_hidden, std::span<float> out) {
    const TinyIsZero meanwhile;
    const auto write = linear ? write_outputs<LinearOutput> : write_outputs<ClassOutputs>;
    write(network, inputs, values, n_columns, n_hidden, out);
}

}  // namespace foresift
