"""
Columns that matter only together
=================================

A filter looks at one column at a time. What if two columns predict the class
together, and neither does so alone?
"""

# %%
# The table
# ---------
#
# 400 rows and twenty columns of noise, with one rule: the class is 1 if exactly one
# of the first two columns is positive. A tenth of the classes is then flipped.

import numpy as np

rng = np.random.default_rng(0)
X = rng.uniform(-1, 1, size=(400, 20))
y = (X[:, 0] > 0) ^ (X[:, 1] > 0)
y = np.where(rng.random(400) < 0.1, ~y, y).astype(int)

# %%
# Six methods
# -----------
#
# Where does each method rank the two columns? Rank 1 is best.

from foresift import (
    ForestGainSelector,
    FScoreSelector,
    InfoGainSelector,
    MutualInfoSelector,
    RelevanceSelector,
    ReliefFSelector,
)

methods = {
    "F score": FScoreSelector(2),
    "information gain": InfoGainSelector(2),
    "mutual information (mRMR)": MutualInfoSelector(2, scheme="mrmr"),
    "gain in a forest": ForestGainSelector(2, random_state=0),
    "ReliefF": ReliefFSelector(2),
    "RelevanceSelector": RelevanceSelector(random_state=0),
}
ranks = {name: selector.fit(X, y).ranking_[:2] for name, selector in methods.items()}

# %%
# The rule, and what the methods see
# ----------------------------------

import matplotlib.pyplot as plt

fig, (left, right) = plt.subplots(1, 2, figsize=(7.2, 3.4), width_ratios=[1, 1.15])
for value, colour, marker in [(0, "C0", "o"), (1, "C1", "^")]:
    left.scatter(
        *X[y == value, :2].T,
        s=14,
        color=colour,
        marker=marker,
        alpha=0.7,
        label=f"class {value}",
        lw=0,
    )
left.set(
    xlabel="x0",
    ylabel="x1",
    title="The two columns",
    aspect="equal",
    xticks=[-1, 0, 1],
    yticks=[-1, 0, 1],
)
left.legend(
    loc="upper center",
    bbox_to_anchor=(0.5, -0.18),
    ncols=2,
    handletextpad=0.1,
    columnspacing=1,
)

for at, pair in enumerate(ranks.values()):
    right.plot(pair, [at, at], color="0.75", zorder=1)
    for rank, colour, marker, shift in zip(
        pair, ["C2", "C4"], ["s", "D"], [-0.08, 0.08], strict=True
    ):
        right.plot(rank, at + shift, marker, color=colour, markersize=7)
right.plot([], [], "s", color="C2", label="x0")
right.plot([], [], "D", color="C4", label="x1")
right.set_yticks(range(len(ranks)), ranks)
right.set(
    xlabel="rank among 20 columns",
    title="Where they are ranked",
    xlim=(0, 21),
    ylim=(5.5, -0.5),
)
right.set_xticks([1, 5, 10, 15, 20])
right.legend(loc="upper center", bbox_to_anchor=(0.5, -0.2), ncols=2)

# %%
# Is it more than a rank?
# -----------------------
#
# A ranking always has a first column. :class:`foresift.RelevanceSelector` also tests
# whether the first ones are better than chance. Its p-values combine several tests,
# and one of them looks at pairs of columns. ``interactions=False`` leaves that one
# out.

relevance = methods["RelevanceSelector"]
print("relevant columns:", np.flatnonzero(relevance.relevant_).tolist())
without = RelevanceSelector(2, interactions=False, random_state=0).fit(X, y)
for name, selector in [("with", relevance), ("without", without)]:
    x0, x1 = selector.pvalues_[:2]
    print(f"p-values {name} pairs: x0 {x0:.2g}, x1 {x1:.2g}")

# %%
# What to conclude
# ----------------
#
# Seen alone, both columns look like noise, and the filters of single columns rank
# them among the noise. The trees of a forest meet such a pair by chance, so they
# notice it in part. ReliefF compares rows that are near in all columns, and
# RelevanceSelector tests pairs: both put the two columns first. Without the test of
# pairs, none of the two would pass.
#
# What to do next
# ---------------
#
# - Do you expect such effects? Use :class:`foresift.RelevanceSelector`,
#   :class:`foresift.ReliefFSelector` or :class:`foresift.MultiSURFSelector`
#   (:doc:`which method to choose </guide/index>`).
# - The test looks at pairs. Three columns that matter only together are harder, and
#   need many rows (:doc:`how far the test can be trusted </relevance>`).
