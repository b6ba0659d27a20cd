"""
Which columns predict a quantity?
=================================

What sets the rent of a flat? The target is now a number, and the question is the
same: which columns matter, and how well do they predict?
"""

# %%
# The table
# ---------
#
# 600 synthetic flats, with twelve columns beside the rent. Two columns measure nearly
# the same: the area of the flat, and its living space.

from importlib.resources import files

import pandas as pd

table = files("foresift.datasets") / "_data" / "rents.csv"
X = pd.read_csv(table).drop(columns="flat_id")
y = X.pop("rent")
X.assign(rent=y).head()

# %%
# One call
# --------
#
# The call does not change: :func:`foresift.select` sees that the rent is a quantity,
# and says so.

from foresift import select

selection = select(X, y, random_state=0)
print(selection.sentence)

# %%
# The ranking
# -----------
#
# Green columns are kept. ``living_m2`` scores nearly as high as ``area_m2``, but is
# redundant with it, so it is left out and ranked after the columns that add
# something.

display = selection.plot_ranking()

# %%
# How does the rent depend on them?
# ---------------------------------
#
# The dot is the mean rent of the flats with these values, the bar spans the middle
# half of them, and the dashed line is the mean of all flats.

displays = selection.plot_columns(["area_m2", "district", "centre_min", "heating"])

# %%
# How good are the predictions?
# -----------------------------
#
# In the check every flat was predicted once by a model that had not seen it, from
# columns that were selected without it. Points on the line are exact.

# sphinx_gallery_thumbnail_number = 3
import matplotlib.pyplot as plt

held_out = selection.check["held_out"]
error = selection.check["error"]
fig, ax = plt.subplots(figsize=(5.2, 4.4))
ax.axline((0, 0), slope=1, color="0.6", linewidth=1)
ax.scatter(held_out["actual"], held_out["predicted"], s=14, alpha=0.5, linewidth=0)
ax.set(
    xlabel="actual rent",
    ylabel="predicted rent",
    title="Forest on the kept columns, held-out flats",
)
ax.text(0.04, 0.92, f"average error {error['kept']:.0f}", transform=ax.transAxes)
names = {"kept": "the kept columns", "full": "all columns", "baseline": "no column"}
for key, name in names.items():
    print(f"average error with {name}: {error[key]:.0f}")

# %%
# What to conclude
# ----------------
#
# Six columns are enough. The weekday, the number of photos and the agent do not
# matter, and of two measures of the size one is enough. The cloud is narrow, but it
# bends below the line at the right: the forest underestimates the few very expensive
# flats.
#
# What to do next
# ---------------
#
# - Errors that grow with the target suggest a logarithm: try ``select(X, y,
#   log_target=True)``.
# - Check another model: ``select(X, y, estimator=Ridge(),
#   scoring="neg_median_absolute_error")`` takes any regressor and scorer of
#   scikit-learn.
# - The :doc:`tutorial on a quantity </tutorial-quantity>` explains every line of the
#   output.
