"""
How many columns are enough?
============================

Images of handwritten digits have 64 pixels. A model on all of them is accurate, but
how many pixels does it need? And which ones?
"""

# %%
# Score several numbers of columns
# --------------------------------
#
# :class:`foresift.MutualInfoSelector` ranks the pixels: each one is chosen for what
# it adds to those before it. :class:`foresift.SubsetSizeCV` then scores the best 2,
# 4, 8, ... pixels with a forest. In every fold the ranking is made again from the
# training rows alone.

from sklearn.datasets import load_digits

from foresift import MutualInfoSelector, SiftForestClassifier, SubsetSizeCV

X, y = load_digits(return_X_y=True)
forest = SiftForestClassifier(n_estimators=50, random_state=0)
size = SubsetSizeCV(forest, cv=5, sizes=[2, 4, 8, 12, 16, 20, 24, 32, 40, 48, 56, 64])
selector = MutualInfoSelector(size, scheme="jmi").fit(X, y)
curve = selector.size_curve_
print(f"best mean accuracy with {curve.best} pixels; chosen: {curve.chosen}")

# %%
# The curve, and the pixels
# -------------------------
#
# The rule takes the fewest pixels whose mean accuracy is at most one standard error
# below the best. The dotted line marks them, and the picture on the right shows where
# they are; the best have the darkest colour.

import matplotlib.pyplot as plt
import numpy as np

fig, (left, right) = plt.subplots(1, 2, figsize=(6.8, 3.2), width_ratios=[1.7, 1])
low, high = curve.mean - curve.standard_error, curve.mean + curve.standard_error
left.fill_between(curve.sizes, low, high, alpha=0.2, linewidth=0)
left.plot(curve.sizes, curve.mean, marker="o", markersize=4)
left.axvline(curve.chosen, color="0.4", linestyle=":")
left.set(
    xlabel="number of pixels",
    ylabel="accuracy",
    title="Five-fold cross-validation",
    ylim=(0.3, 1.0),
)

rank = np.where(selector.support_, selector.ranking_, np.nan).reshape(8, 8)
mesh = right.pcolormesh(
    rank, cmap="Greens_r", edgecolor="0.85", vmin=-5, vmax=curve.chosen + 10
)
right.set(
    xticks=[], yticks=[], aspect="equal", title=f"The {curve.chosen} chosen pixels"
)
right.invert_yaxis()
right.spines[:].set_visible(False)
bar = fig.colorbar(mesh, ax=right, location="bottom", shrink=0.8, label="rank")
bar.ax.set_xlim(1, curve.chosen)
bar.set_ticks([1, 10, 20, 30, curve.chosen])

# %%
# What do fewer pixels cost?
# --------------------------

for size, mean, error in zip(
    curve.sizes, curve.mean, curve.standard_error, strict=True
):
    print(f"{size:3} pixels: {100 * mean:5.1f} % (standard error {100 * error:.1f})")

# %%
# What to conclude
# ----------------
#
# The first pixels bring most of the accuracy; after about twenty the curve is almost
# flat. The rule is cautious: with small standard errors it asks for more pixels than
# many applications need. The numbers above let you choose for yourself: pass
# ``n_features_to_select=20`` if two points of accuracy matter less to you than half
# of the pixels. The pixels at the left and right edges, which are empty in most
# images, are not chosen.
#
# What to do next
# ---------------
#
# - ``n_features_to_select="cv"`` does the same with defaults, in every ranking
#   selector (:doc:`guide </guide/size>`).
# - :func:`foresift.select` chooses the number itself and draws the curve with
#   ``selection.plot_curve()``.
