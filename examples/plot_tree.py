"""
A tree that people can read
===========================

A forest predicts better, but a single tree can be printed and discussed. Which columns does it ask for, and
are they the right ones?
"""

# %%
# C4.5 on all columns
# -------------------
#
# The customers of a bike-sharing company again. :class:`foresift.C45Classifier` takes categories and
# missing values as they are. Leaves of at least 10 customers and strong pruning keep the tree short.

from importlib.resources import files

import pandas as pd

from foresift import C45Classifier

X = pd.read_csv(files("foresift.datasets") / "_data" / "bikeshare.csv").drop(columns="customer_number")
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
# One tree depends on the rows that it has seen. Let us grow fifty, in five repeats of ten folds, with and
# without the selection, which is repeated in every fold.

from sklearn.model_selection import RepeatedStratifiedKFold, cross_validate
from sklearn.pipeline import make_pipeline

folds = RepeatedStratifiedKFold(n_splits=10, n_repeats=5, random_state=0)
models = {"all columns": tree, "relevant columns": make_pipeline(selector, tree)}
asked = {}
for name, model in models.items():
    result = cross_validate(model, X, y, cv=folds, return_estimator=True)
    fitted = [getattr(model, "steps", [("", model)])[-1][1] for model in result["estimator"]]
    rules = [one.rules() for one in fitted]
    used = [{condition.name for rule in some for condition in rule.conditions} for some in rules]
    asked[name] = pd.Series(
        {column: 100 * sum(column in names for names in used) / len(used) for column in X}
    )
    leaves = sum(map(len, rules)) / len(rules)
    print(f"{name}: {100 * result['test_score'].mean():.1f} % accuracy, {leaves:.1f} leaves")
asked = pd.DataFrame(asked)

# %%

import matplotlib.pyplot as plt
import numpy as np

relevant = X.columns[selector.relevant_]
asked = asked.loc[sorted(asked.index, key=lambda name: (name not in relevant, -asked.loc[name].iloc[0]))]
fig, ax = plt.subplots(figsize=(6.4, 4.0))
at = np.arange(len(asked))
for shift, name, colour, marker in [(-0.12, "all columns", "C1", "s"), (0.12, "relevant columns", "C0", "o")]:
    ax.hlines(at + shift, 0, asked[name], color=colour, linewidth=1.5)
    ax.plot(asked[name], at + shift, marker, color=colour, markersize=6, label=f"trees on {name}")
ax.axhline(len(relevant) - 0.5, color="0.8", linewidth=1)
ax.text(100, len(relevant) - 0.4, "not related to leaving", ha="right", va="top", color="0.4")
ax.set_yticks(at, asked.index)
ax.set(xlabel="percent of the trees that ask for the column", xlim=(-1, 103), ylim=(len(asked) - 0.5, -0.5))
ax.legend(loc="lower right")

# %%
# What to conclude
# ----------------
#
# Trees on all columns ask for things such as the colour of the helmet, which has nothing to do with
# leaving. It looks plausible on paper, and somebody may act on it. Trees on the relevant columns do not ask
# for it, and their accuracy is about the same.
#
# What to do next
# ---------------
#
# - ``tree.rules()`` returns the tree as rules, ready for a table (:doc:`guide to the models
#   </guide/classifiers>`).
# - Is one tree accurate enough? ``select(X, y, estimator=C45Classifier())`` checks the selection with it.
