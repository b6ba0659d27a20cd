"""
Redundant columns: keep all, or as few as possible?
===================================================

Radius, perimeter and area of a cell nucleus say nearly the same. Should a selection
keep all three? It depends on why you select: to understand what is related to the
target, or to measure less.
"""

# %%
# The table
# ---------
#
# 569 tumours, described by ten properties of cell nuclei: the mean, the standard
# error and the worst value of each, which makes thirty columns.

from sklearn.datasets import load_breast_cancer

from foresift import select

X, y = load_breast_cancer(return_X_y=True, as_frame=True)

# %%
# Two goals
# ---------
#
# With ``goal="all"``, :func:`foresift.select` keeps every relevant column. With
# ``goal="compact"``, the default, it keeps the fewest relevant columns that predict
# about as well.

everything = select(X, y, goal="all", random_state=0)
compact = select(X, y, goal="compact", random_state=0)
for name, selection in [("all", everything), ("compact", compact)]:
    print(f"{name + ':':9}", selection.verdict)
print("kept:    ", ", ".join(compact.features))

# %%
# Who is redundant with whom
# --------------------------
#
# Each group stands below its best column, the large dot. The grey ones predict the
# tumour too, but add little beside it.

display = compact.plot_redundancy()

# %%
# Does the smaller set predict as well?
# -------------------------------------
#
# Each bar is the 95 % interval of the accuracy of a forest in nested
# cross-validation.

import matplotlib.pyplot as plt

checks = {
    f"all {X.shape[1]} columns": compact.check["full"],
    f"compact: {len(compact.features)} columns": compact.check["kept"],
}
fig, ax = plt.subplots(figsize=(6.4, 1.9))
for at, score in enumerate(checks.values()):
    ax.plot(
        [100 * score["low"], 100 * score["high"]], [at, at], linewidth=3, color=f"C{at}"
    )
    ax.plot(100 * score["score"], at, "o", markersize=9, color=f"C{at}")
ax.set_yticks(range(len(checks)), checks)
ax.set(xlabel="accuracy in percent", ylim=(1.6, -0.6))

difference = compact.check["difference"]
low, value, high = (100 * difference[key] for key in ("low", "value", "high"))
print(f"compact - all: {value:+.1f} points (95 % interval {low:+.1f} to {high:+.1f})")

# %%
# What to conclude
# ----------------
#
# All thirty columns are relevant, and most of them are redundant with a better one.
# The largest group is about the size and the outline of the nucleus. The compact
# selection keeps less than a third of the columns, and the check shows no loss of
# accuracy.
#
# Use ``goal="all"`` to explain: a column that was left out as redundant is not
# irrelevant. Use ``goal="compact"`` to predict with fewer measurements.
#
# What to do next
# ---------------
#
# - Is the column you would rather measure the redundant one? Name it in ``keep``:
#   :ref:`sphx_glr_gallery_plot_keep.py`.
# - :doc:`Every step explained </select>`.
