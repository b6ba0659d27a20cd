"""P-values of the best variance reduction: approximations against many permutations.

python benchmarks/null_reduction.py [--rows 20 50 200 1000] [--permutations 200000]

For every kind of quantity, and sizes of the groups of equal values of the column (one size for all, or the
sizes in order): approximate p-value over that of the permutations, where those say about 0.01, 0.001 and
0.0002. First foresift's approximation, then the formula of Lausen and Schumacher (1992) for all cuts of the
column. At 0.0002 the permutations themselves are uncertain by 15 %.
"""

import argparse

import numpy as np
from scipy.stats import norm

from foresift import _core
from foresift.engine.reduction_tail import reduction_tail

LEVELS = (0.01, 0.001, 0.0002)
QUANTITIES = {
    "gaussian": lambda rng, n: rng.normal(size=n),
    "exponential": lambda rng, n: rng.exponential(size=n),
    "t with 3 df": lambda rng, n: rng.standard_t(3, size=n),
    "lognormal": lambda rng, n: np.exp(1.5 * rng.normal(size=n)),
    "an outlier": lambda rng, n: np.append(rng.normal(size=n - 1), 50.0),
    "whole": lambda rng, n: rng.poisson(2, size=n).astype(float),
    "two values": lambda rng, n: (rng.random(n) < 0.3).astype(float),
    "90 % zeros": lambda rng, n: np.where(rng.random(n) < 0.9, 0.0, np.exp(1.5 * rng.normal(size=n))),
    "half zeros": lambda rng, n: np.where(rng.random(n) < 0.5, 0.0, np.exp(1.5 * rng.normal(size=n))),
}


def lausen_schumacher(n, share, first, last):
    """Tail of the largest standardised sum, for cuts with `first` to `last` rows on the left."""
    b = np.sqrt(share * (n - 1))
    range_ = np.log(last * (n - first) / ((n - last) * first))
    return min(1.0, norm.pdf(b) * (4 / b + (b - 1 / b) * range_))


def ratios(y, sizes, n_permutations):
    """Both approximations over the p-value of permutations, at every level."""
    shares = np.sort(_core.permuted_reductions(y, sizes, False, n_permutations, 0))
    scaled = (y - y.mean()) / np.sqrt(((y - y.mean()) ** 2).sum())
    for level in LEVELS:
        share = shares[int(n_permutations * (1 - level))] - 1e-11
        permuted = np.mean(shares >= share)
        other = lausen_schumacher(len(y), share, sizes[0], len(y) - sizes[-1])
        yield reduction_tail(scaled, sizes, share) / permuted, other / permuted


def groups(n):
    """Names and sizes of the groups of equal values of a column."""
    for size in (1, 5, n // 2):
        yield str(size), np.full(n // size, size, dtype=np.uint32)
    for size in (3, n // 10):
        yield f"{size}|{n - size}", np.array([size, n - size], dtype=np.uint32)
    yield f"3|{n - 6}|3", np.array([3, n - 6, 3], dtype=np.uint32)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rows", type=int, nargs="+", default=[20, 50, 200, 1000])
    parser.add_argument("--permutations", type=int, default=200_000)
    options = parser.parse_args()
    found = []
    print(f"{'rows':>5} {'quantity':<12} {'sizes':>7}" + "".join(f"{level:>17}" for level in LEVELS))
    for n in options.rows:
        for name, make in QUANTITIES.items():
            y = make(np.random.default_rng(n), n)
            for sizes_name, sizes in groups(n):
                row = list(ratios(y, sizes, options.permutations))
                found.extend(row)
                cells = "".join(f"{ours:>8.2f} {other:>8.2g}" for ours, other in row)
                print(f"{n:>5} {name:<12} {sizes_name:>7}{cells}", flush=True)
    logs = np.log(np.maximum(np.array(found), 1e-300))
    for title, column in zip(("foresift", "Lausen & Schumacher"), logs.T, strict=True):
        low, middle, high = np.exp(np.quantile(column, [0.025, 0.5, 0.975]))
        within = np.mean(np.abs(column) <= np.log(2))
        print(f"{title}: median {middle:.2f}, 95 % from {low:.2g} to {high:.2g}", end="")
        print(f", within a factor of 2: {within:.0%}")


if __name__ == "__main__":
    main()
