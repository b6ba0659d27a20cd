"""A network with one hidden layer and its training, written down literally, in double precision.

The random bits are those of `cpp/base/rng.hpp`, so that the kernel begins with the same weights and takes the
rows in the same order.
"""

import numpy as np

MASK = 2**64 - 1
GOLDEN = 0x9E3779B97F4A7C15


def mix64(z):
    z = ((z ^ (z >> 30)) * 0xBF58476D1CE4E5B9) & MASK
    z = ((z ^ (z >> 27)) * 0x94D049BB133111EB) & MASK
    return z ^ (z >> 31)


class Bits:
    def __init__(self, seed, tree, node):
        key = mix64((seed + GOLDEN) & MASK)
        key = mix64(key ^ ((tree + GOLDEN) & MASK))
        self.key, self.drawn = mix64(key ^ ((node + GOLDEN) & MASK)), 0

    def next(self):
        self.drawn += 1
        return mix64((self.key + self.drawn * GOLDEN) & MASK)

    def below(self, n):
        return ((self.next() >> 32) * n) >> 32

    def unit(self):
        return (self.next() >> 11) * 2.0**-53


def shuffle(items, bits):
    for left in range(len(items), 1, -1):
        other = bits.below(left)
        items[left - 1], items[other] = items[other], items[left - 1]


def sigmoid(x):
    return 1 / (1 + np.exp(-x))


def forward(hidden, output, x, linear=False):
    """Return the activities of the hidden units and of the outputs; the last weight of a unit is its bias."""
    active = sigmoid(hidden[:, :-1] @ x + hidden[:, -1])
    sums = output[:, :-1] @ active + output[:, -1]
    return active, sums if linear else sigmoid(sums)


def wanted(target, n_outputs, linear=False):
    if linear:
        return np.array([target])
    if n_outputs == 1:
        return np.array([float(target == 1)])
    return (np.arange(n_outputs) == target).astype(float)


def error(hidden, output, x, target, linear=False):
    """Half the squared error of one row."""
    return 0.5 * np.sum((wanted(target, len(output), linear) - forward(hidden, output, x, linear)[1]) ** 2)


def gradients(hidden, output, x, target, linear=False):
    """Return the derivatives of `error` by every weight, as back-propagation finds them."""
    active, out = forward(hidden, output, x, linear)
    delta_out = (out - wanted(target, len(output), linear)) * (1 if linear else out * (1 - out))
    delta_hidden = (delta_out @ output[:, :-1]) * active * (1 - active)
    return np.outer(delta_hidden, np.append(x, 1)), np.outer(delta_out, np.append(active, 1))


def damped(rate, momentum, hidden, output, x):
    """Return the rate of the implicit step of a linear output, which adds up to rate / (1 - momentum)."""
    out = forward(hidden, output, x, linear=True)[1][0]
    # An error of 1: the derivatives of the error are those of the output.
    slopes = gradients(hidden, output, x, out - 1, linear=True)
    whole = rate / (1 - momentum)
    return (1 - momentum) * whole / (1 + whole * sum((slope**2).sum() for slope in slopes))


def initial(n_inputs, n_hidden, n_outputs, *, seed, number, init_range=0.5):
    bits = Bits(seed, number, 0)
    shapes = (n_hidden, n_inputs + 1), (n_outputs, n_hidden + 1)
    return [
        init_range * np.array([[2 * bits.unit() - 1 for _ in range(b)] for _ in range(a)]) for a, b in shapes
    ]


def train(values, target, inputs, rows, *, weights=None, number=0, linear=False, **options):
    """Train one network; options as those of `_core.train_network`."""
    o = {"epochs": 40, "learning_rate": 0.15, "momentum": 0.9, "init_range": 0.5, "seed": 0, **options}
    layers = initial(
        len(inputs), o["n_hidden"], o["n_outputs"], seed=o["seed"], number=number, init_range=o["init_range"]
    )
    velocities = [np.zeros_like(layer) for layer in layers]
    order = list(rows)
    for epoch in range(o["epochs"]):
        shuffle(order, Bits(o["seed"], number, epoch + 1))
        for row in order:
            rate = o["learning_rate"] * (1.0 if weights is None else weights[row])
            if linear:
                rate = damped(rate, o["momentum"], *layers, values[row, inputs])
            slopes = gradients(*layers, values[row, inputs], target[row], linear)
            for layer, velocity, slope in zip(layers, velocities, slopes, strict=True):
                velocity *= o["momentum"]
                velocity -= rate * slope
                layer += velocity
    return layers
