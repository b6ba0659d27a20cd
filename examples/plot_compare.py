"""
Which method is best on my table?
=================================

There are many selectors, and papers praise most of them. On your table, with your
model, which one should you take, and with how many columns?
"""

# %%
# A comparison
# ------------
#
# :func:`foresift.compare` scores methods and numbers of columns in the same folds.
# Everything is learned from the training rows. ``random`` is the yardstick: a method
# should beat columns drawn by lot.

from sklearn.datasets import load_breast_cancer

from foresift import compare

X, y = load_breast_cancer(return_X_y=True, as_frame=True)
comparison = compare(
    X,
    y,
    methods=["relevance", "mrmr", "relieff", "info-gain", "random"],
    estimators=["knn"],
    sizes=[2, 3, 5, 8, 12],
    cv=5,
    repeats=2,
    random_state=0,
)
print(comparison.verdict)
print(comparison.recommendation)

# %%
# Scores over the number of columns
# ---------------------------------
#
# The lines are 95 % intervals of the mean. The dotted line is the model on all thirty
# columns.

from foresift.plots import MethodCurvesDisplay, ParetoDisplay

results = comparison.to_dict()
display = MethodCurvesDisplay.from_comparison(results)

# %%
# The trade-off
# -------------
#
# A point of the green line beats every result that has as few columns.

display = ParetoDisplay.from_comparison(results)

# %%
# In numbers, the mean accuracy over the number of columns:

table = comparison.to_frame().query("method != 'none'").astype({"n_features": int})
table.pivot(index="method", columns="n_features", values="mean").round(3)

# %%
# What to conclude
# ----------------
#
# What matters here is that columns complement each other. mRMR, which avoids
# redundant columns, reaches with three columns what no other ranking reaches with
# twelve. Rankings by information gain and by the relevance test put several versions
# of one measurement first: from five columns on, columns drawn by lot are as good.
# That is typical of tables in which most columns are relevant and many are redundant.
#
# The intervals overlap, and the recommendation names the fewest columns that are not
# *significantly* worse. With ten splits the test has little power, so look at the
# score that a recommendation gives up before you follow it.
#
# What to do next
# ---------------
#
# - Use more repeats to tell close methods apart: ``repeats=10``, ``n_jobs=-1``, and
#   ``store="results.sqlite"`` to stop and resume (:doc:`all options </comparing>`).
# - ``comparison.to_html("comparison.html")`` writes a report.
# - ``RelevanceSelector(minimal=True)`` keeps one column of every group of redundant
#   ones; :ref:`sphx_glr_gallery_plot_redundancy.py` shows such groups.
