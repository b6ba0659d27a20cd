"""
A tree that people can read
===========================

A forest predicts better, but a single tree can be printed and discussed. Which
columns does it ask for, and are they the right ones?
"""

# %%
# C4.5 on all columns
# -------------------
#
# The customers of a bike-sharing company again. :class:`foresift.C45Classifier` takes
# categories and missing values as they are. Leaves of at least 10 customers and
# strong pruning keep the tree short.

from importlib.resources import files

import pandas as pd

from foresift import C45Classifier

X = pd.read_csv(files("foresift.datasets") / "_data" / "bikeshare.csv").drop(
    columns="customer_number"
)
y = X.pop("cancelled")
tree = C45Classifier(min_samples_leaf=10, confidence_factor=0.1)
print(tree.fit(X, y).export_text())

# %%
# C4.5 on the relevant columns
# ----------------------------
#
# A tree always finds something to split by. First remove what is not relevant.

from foresift import RelevanceSelector

selector = RelevanceSelector(alpha=0.1, random_state=0).set_output(transform="pandas")
small = selector.fit_transform(X, y)
print(tree.fit(small, y).export_text())

# %%
# Which columns do trees ask for?
# -------------------------------
#
# One tree depends on the rows that it has seen. Let us grow fifty, in five repeats of
# ten folds, with and without the selection, which is repeated in every fold.

import numpy as np
from sklearn.model_selection import RepeatedStratifiedKFold, cross_validate
from sklearn.pipeline import make_pipeline


def columns_of(tree):
    """Return the columns that a tree asks for."""
    return {condition.name for rule in tree.rules() for condition in rule.conditions}


folds = RepeatedStratifiedKFold(n_splits=10, n_repeats=5, random_state=0)
models = {
    "all columns": make_pipeline(tree),
    "relevant columns": make_pipeline(selector, tree),
}
asked = {}
for name, model in models.items():
    result = cross_validate(model, X, y, cv=folds, return_estimator=True)
    trees = [fitted[-1] for fitted in result["estimator"]]
    used = [[column in columns_of(tree) for column in X] for tree in trees]
    asked[name] = 100 * np.mean(used, axis=0)
    leaves = np.mean([len(tree.rules()) for tree in trees])
    accuracy = 100 * result["test_score"].mean()
    print(f"{name}: {accuracy:.1f} % accuracy, {leaves:.1f} leaves")

# %%

import matplotlib.pyplot as plt

asked = pd.DataFrame({**asked, "noise": ~selector.relevant_}, index=X.columns)
asked = asked.sort_values(["noise", "all columns"], ascending=[True, False])
n_relevant = selector.relevant_.sum()
at = np.arange(len(asked))

fig, ax = plt.subplots(figsize=(6.4, 4.0))
for name, shift, style in [
    ("all columns", -0.12, "C1s"),
    ("relevant columns", 0.12, "C0o"),
]:
    ax.hlines(at + shift, 0, asked[name], color=style[:2], linewidth=1.5)
    ax.plot(asked[name], at + shift, style, ms=6, label=f"trees on {name}")
ax.axhline(n_relevant - 0.5, color="0.8", linewidth=1)
ax.text(100, n_relevant - 0.4, "not related to leaving", ha="right", va="top", c="0.4")
ax.set_yticks(at, asked.index)
ax.set(xlabel="percent of the trees that ask for the column")
ax.set(xlim=(-1, 103), ylim=(len(asked) - 0.5, -0.5))
ax.legend(loc="lower right")

# %%
# What to conclude
# ----------------
#
# Trees on all columns ask for things such as the colour of the helmet, which has
# nothing to do with leaving. It looks plausible on paper, and somebody may act on it.
# Trees on the relevant columns do not ask for it, and their accuracy is about the
# same.
#
# What to do next
# ---------------
#
# - ``tree.rules()`` returns the tree as rules, ready for a table (:doc:`guide to the
#   models </guide/classifiers>`).
# - Is one tree accurate enough? ``select(X, y, estimator=C45Classifier())`` checks
#   the selection with it.
