"""Error rates and power of comparisons with the best row of a table, whose best row the same scores choose.

python benchmarks/compare_best.py [--seeds tune|report] [--tables 20000] [--real 1000] [--only made|real]

For K rows and five ways to adjust the p-values of their differences from the best row:

- lost: rate of tables in which a row that is truly best is marked worse (p <= 0.05); where several are truly
  best, the rate of each of them, on average.
- any: rate of tables in which some truly best row is marked worse. It exceeds `lost` where several are best.
- found: mean fraction of the rows that are truly worse which are marked worse.

Ways: `pairs` is Holm's adjustment for all pairs of rows; `bonferroni` and `holm` are for the K - 1
comparisons with the best. Two ways control `any` too: `closed`, a closed test with Bonferroni's bound, and
`range`, which takes the critical values of independent equal rows from 20,000 simulated tables, one row less
at every step.

Scores: `made` draws scores that depend on each other as the corrected resampled t-test assumes. `real`
repeats cross-validations of nearest centroids on Gaussian tables. Their columns are chosen in advance, so
that rows are truly equal by symmetry, or by the t statistics of the training rows, where the truth is the
mean over all tables. Choices were made on the seeds `tune`; the numbers in docs/comparing.md are of the seeds
`report`.
"""

import argparse
from functools import cache

import numpy as np
from common import CONSOLE, Results
from scipy import stats

from foresift.stats import corrected_resampled_ttest, holm

ALPHA = 0.05
SEEDS = {"tune": 1, "report": 2}
ROWS = (2, 5, 10, 20)
FORMS = ("independent", "alike", "noisy")
WAYS = ("pairs", "bonferroni", "holm", "closed", "range")


def raw_pvalues(scores, share):
    """P-values of all pairs of rows, from scores of shape (tables, rows, splits)."""
    n = scores.shape[2]
    centred = scores - scores.mean(axis=2, keepdims=True)
    products = centred @ centred.transpose(0, 2, 1) / (n - 1)
    own = np.diagonal(products, axis1=1, axis2=2)
    spread = np.maximum(own[:, :, None] + own[:, None, :] - 2 * products, 0.0)
    error = np.sqrt(spread * (1 / n + share / (1 - share)))
    means = scores.mean(axis=2)
    difference = np.abs(means[:, :, None] - means[:, None, :])
    with np.errstate(invalid="ignore", divide="ignore"):
        t = difference / error
    p = 2 * stats.t.sf(t, n - 1)
    return np.where(error <= 1e-7, 1.0, p)  # `compare` gives no p-value where differences never vary


def step_down(p, factors):
    """P-values times factors, the smallest first; none is below one before it."""
    order = np.argsort(p, axis=1)
    times = np.take_along_axis(p, order, axis=1) * factors
    adjusted = np.minimum(np.maximum.accumulate(times, axis=1), 1.0)
    found = np.empty_like(adjusted)
    np.put_along_axis(found, order, adjusted, axis=1)
    return found


@cache
def critical(n, share):
    """Raw p-values that the smallest one of 2, 3, ... equal rows is below in 5 % of tables."""
    rng, smallest = np.random.default_rng(0), []
    for _ in range(10):
        scores = made_scores(rng, 2000, max(ROWS), n, share, np.zeros(max(ROWS)), "independent")
        p, means = raw_pvalues(scores, share), scores.mean(axis=2)
        best = [means[:, :k].argmax(axis=1) for k in range(2, max(ROWS) + 1)]
        smallest.append([p[np.arange(len(p)), :k, b].min(axis=1) for k, b in enumerate(best, 2)])
    return np.quantile(np.concatenate(smallest, axis=1), ALPHA, axis=1)


def marked(scores, share):
    """Which rows each way marks as worse than the best: name -> (tables, rows)."""
    p = raw_pvalues(scores, share)
    tables, k = p.shape[:2]
    best = scores.mean(axis=2).argmax(axis=1)
    against = p[np.arange(tables), :, best]
    is_best = np.arange(k) == best[:, None]
    others = against[~is_best].reshape(tables, k - 1)
    upper = np.triu_indices(k, 1)
    pairs = np.ones((tables, k, k))
    number = len(upper[0])
    pairs[:, *upper] = step_down(p[:, *upper], np.arange(number, 0, -1))
    pairs = np.minimum(pairs, pairs.transpose(0, 2, 1))
    adjusted = {
        "pairs": pairs[np.arange(tables), :, best][~is_best].reshape(tables, k - 1),
        "bonferroni": np.minimum(others * (k - 1), 1.0),
        "holm": step_down(others, np.arange(k - 1, 0, -1)),
        "closed": step_down(others, (k - 1) * np.arange(k, 1, -1) / 2),
        # A p-value is at most its critical value: both are scaled so that ALPHA is the limit.
        "range": step_down(others, ALPHA / critical(scores.shape[2], share)[k - 2 :: -1]),
    }
    found = {}
    for way, values in adjusted.items():
        found[way] = np.zeros((tables, k), dtype=bool)
        found[way][~is_best] = (values <= ALPHA).ravel()
    return found


def rates(found, truth):
    """`lost`, `any` and `found` with standard errors; `truth` are the true means, higher is better."""
    best = np.isclose(truth, truth.max(), rtol=0, atol=1e-12)
    tables = len(found)
    lost, some = found[:, best].mean(axis=1), found[:, best].any(axis=1)
    cells = [f"{100 * x.mean():.2f} ({100 * x.std() / np.sqrt(tables):.2f})" for x in (lost, some)]
    if best.all():
        return [*cells, ""]
    power = found[:, ~best].mean(axis=1)
    return [*cells, f"{100 * power.mean():.1f} ({100 * power.std() / np.sqrt(tables):.1f})"]


def truths(k):
    """True means in standard errors of a difference."""
    yield "all equal", np.zeros(k)
    if k > 2:
        half = np.zeros(k)
        half[k // 2 :] = -5.0
        yield "half equal, half worse by 5", half
        near = np.full(k, -0.5)
        near[0] = 0.0
        yield "one best by 0.5", near
    one = np.full(k, -4.0)
    one[0] = 0.0
    yield "one best by 4", one
    yield "spread from 0 to 8", -np.linspace(0, 8, k)


def made_scores(rng, tables, k, n, share, truth, form):
    """Normal scores; those of one row have a correlation of `share`, as the corrected test assumes.

    Form "alike": rows 0 and 1, 2 and 3, ... have a correlation of 0.9, as neighbouring sizes of a method do.
    Form "noisy": scores of every second row vary three times as much.
    """

    def draw(*shape):
        own = rng.normal(size=(tables, k, *shape))
        if form != "alike":
            return own
        common = np.repeat(rng.normal(size=(tables, (k + 1) // 2, *shape)), 2, axis=1)[:, :k]
        return np.sqrt(0.9) * common + np.sqrt(0.1) * own

    scores = np.sqrt(share) * draw(1) + np.sqrt(1 - share) * draw(n)
    if form == "noisy":
        scores[:, 1::2] *= 3
    error = np.sqrt(2 * (share + (1 - share) / n))
    return scores + error * truth[:, None]


def run_made(results, seed, n_tables):
    """Report scores that are drawn, for one, three and ten repeats of ten folds."""
    share = 0.1
    for n in (10, 30, 100):
        for k in ROWS:
            for number, form in enumerate(FORMS if k > 2 else FORMS[:1]):
                for name, truth in truths(k):
                    rng = np.random.default_rng([seed, n, k, number, len(name)])
                    parts = [
                        marked(made_scores(rng, min(2000, n_tables - done), k, n, share, truth, form), share)
                        for done in range(0, n_tables, 2000)
                    ]
                    report(results, f"made, {form}", n, k, name, parts, truth)


def report(results, source, n, k, name, parts, truth):
    for way in WAYS:
        found = np.concatenate([part[way] for part in parts])
        results.add_row(source, str(n), str(k), name, way, *rates(found, truth))


def splits(rng, n_rows, folds, repeats):
    """Test masks of a repeated cross-validation."""
    for _ in range(repeats):
        fold = rng.permutation(n_rows) % folds
        for j in range(folds):
            yield fold == j


def centroid_scores(X, y, test, chosen):
    """Accuracy of nearest centroids, trained on the other rows with the chosen columns of each row."""
    one, two = X[~test & y], X[~test & ~y]
    centre, slope = (one.mean(axis=0) + two.mean(axis=0)) / 2, one.mean(axis=0) - two.mean(axis=0)
    votes = (X[test] - centre) * slope
    return [np.mean((votes[:, columns].sum(axis=1) > 0) == y[test]) for columns in chosen]


def by_tests(X, y, sizes):
    """The columns with the largest t statistics on these rows, for each size."""
    one, two = X[y], X[~y]
    t = np.abs(one.mean(axis=0) - two.mean(axis=0)) / np.sqrt(one.var(axis=0) + two.var(axis=0))
    order = np.argsort(-t)
    return [order[:size] for size in sizes]


def chosen_columns(name, k, p):
    """The columns of each row of a table, chosen in advance, or how many the training rows choose."""
    if name == "all equal":
        return [np.arange(3 * j, 3 * j + 3) for j in range(k)]
    if name == "one best by symmetry":
        return [np.arange(p - 8, p), *(np.arange(3 * j, 3 * j + 3) for j in range(k - 1))]
    sizes = np.unique(np.geomspace(1, p, k).round().astype(int))
    while len(sizes) < k:  # whole numbers that rounding made equal
        sizes = np.append(sizes, np.setdiff1d(np.arange(1, p), sizes)[0])
    return sizes


def cross_validated(rng, name, k, folds, repeats, n_rows=200, p=60):
    """Scores of K rows on a new Gaussian table with two classes."""
    columns, ranked = chosen_columns(name, k, p), name == "sizes of a ranking"
    effect = np.geomspace(0.5, 0.01, p) if ranked else np.full(p, 0.25)
    y = rng.permutation(n_rows) % 2 == 0
    X = rng.normal(size=(n_rows, p)) + np.where(y, 1, -1)[:, None] * effect
    scores = [
        centroid_scores(X, y, test, by_tests(X[~test], y[~test], columns) if ranked else columns)
        for test in splits(rng, n_rows, folds, repeats)
    ]
    return np.transpose(scores)


def run_real(results, seed, n_tables):
    """Report cross-validations of tables of 200 rows and 60 columns."""
    folds = 10
    for repeats in (1, 3):
        for k in ROWS:
            for name in ("all equal", "one best by symmetry", "sizes of a ranking"):
                rng = np.random.default_rng([seed, repeats, k, len(name)])
                scores = np.array([cross_validated(rng, name, k, folds, repeats) for _ in range(n_tables)])
                truth = np.zeros(k) if name == "all equal" else (np.arange(k) == 0) * 1.0
                if name == "sizes of a ranking":
                    truth = scores.mean(axis=(0, 2))
                report(results, "real", folds * repeats, k, name, [marked(scores, 1 / folds)], truth)


def check():
    """The vectorised p-values are those of the library."""
    rng = np.random.default_rng(0)
    scores = rng.normal(size=(3, 4, 10))
    p = raw_pvalues(scores, 0.1)
    for i in range(3):
        one = [corrected_resampled_ttest(scores[i, 0], scores[i, j], 0.1).pvalue for j in (1, 2, 3)]
        np.testing.assert_allclose(p[i, 0, 1:], one, rtol=1e-9)
        np.testing.assert_allclose(step_down(p[i : i + 1, 0, 1:], np.arange(3, 0, -1))[0], holm(one))


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seeds", choices=SEEDS, default="report")
    parser.add_argument("--tables", type=int, default=20_000, help="of made scores")
    parser.add_argument("--real", type=int, default=1000, help="tables that are cross-validated")
    parser.add_argument("--only", choices=("made", "real"))
    options = parser.parse_args()
    check()
    columns = ("scores", "splits", "K", "truth", "way", "lost, %", "any, %", "found, %")
    results = Results(f"Rows marked worse than the best, p <= {ALPHA}", columns)
    if options.only != "real":
        run_made(results, SEEDS[options.seeds], options.tables)
    if options.only != "made":
        run_real(results, SEEDS[options.seeds], options.real)
    CONSOLE.print(f"Seeds {options.seeds}; in brackets: standard errors.")
    results.show()


if __name__ == "__main__":
    main()
