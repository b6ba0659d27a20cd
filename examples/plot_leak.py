"""
Select inside the folds
=======================

A wide table: 100 rows, 2,000 columns. Somebody picks the ten best columns,
cross-validates a model on them and reports an accuracy of 80 %. Is it true?
"""

# %%
# A table of noise
# ----------------
#
# Nothing predicts the class here, so a correct estimate is 50 %. We make twelve such
# tables and estimate in two ways: select on all rows and cross-validate after that,
# or cross-validate a pipeline that selects in every fold anew.

import numpy as np
from sklearn.model_selection import StratifiedKFold, cross_val_score
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline

from foresift import FScoreSelector

y = np.arange(100) % 2
folds = StratifiedKFold(5, shuffle=True, random_state=0)
pipeline = make_pipeline(FScoreSelector(10), GaussianNB())
outside, inside = [], []
for seed in range(12):
    X = np.random.default_rng(seed).normal(size=(100, 2000))
    best = FScoreSelector(10).fit_transform(X, y)  # has seen all rows: the leak
    outside.append(cross_val_score(GaussianNB(), best, y, cv=folds).mean())
    inside.append(cross_val_score(pipeline, X, y, cv=folds).mean())
print(f"selected outside the folds: {100 * np.mean(outside):.0f} % on average")
print(f"selected inside the folds:  {100 * np.mean(inside):.0f} %")

# %%

import matplotlib.pyplot as plt

fig, ax = plt.subplots(figsize=(6.4, 2.6))
ax.axvline(50, color="0.4", linestyle=":")
for before, after in zip(outside, inside, strict=True):
    ax.plot([100 * before, 100 * after], [0, 1], color="0.85", linewidth=1, zorder=1)
ax.scatter(
    100 * np.array(outside), np.zeros(12), color="C1", marker="s", s=36, zorder=2
)
ax.scatter(100 * np.array(inside), np.ones(12), color="C0", s=36, zorder=2)
ax.set_yticks(
    [0, 1],
    [
        "selected on all rows,\nthen cross-validated",
        "selected in each fold\n(pipeline)",
    ],
)
ax.set(
    xlabel="estimated accuracy in percent; the truth is 50 (dotted)",
    ylim=(1.5, -0.5),
    xlim=(35, 100),
)

# %%
# With signal: a grid search over the pipeline
# --------------------------------------------
#
# A pipeline is an estimator like any other, so a grid search can choose the number of
# columns. This table has eight informative columns and 1,992 of noise. The search
# reports the score of its best setting, which is the largest of several estimates and
# therefore a little too good. Cross-validating the search itself gives the honest
# number.

from sklearn.datasets import make_classification
from sklearn.model_selection import GridSearchCV

X, y = make_classification(
    200,
    2000,
    n_informative=8,
    n_redundant=0,
    n_clusters_per_class=1,
    shuffle=False,
    random_state=0,
)
sizes = [1, 2, 4, 8, 16, 32, 64, 128, 512, 2000]
search = GridSearchCV(
    pipeline, {"fscoreselector__n_features_to_select": sizes}, cv=folds
).fit(X, y)
nested = cross_val_score(search, X, y, cv=folds)
print(
    "chosen number of columns:",
    search.best_params_["fscoreselector__n_features_to_select"],
)
print(f"score of the best setting: {100 * search.best_score_:.1f} %")
print(f"score of the search in nested cross-validation: {100 * nested.mean():.1f} %")

# %%

mean, spread = (
    100 * search.cv_results_[key] for key in ("mean_test_score", "std_test_score")
)
fig, ax = plt.subplots(figsize=(6.4, 3.0))
ax.fill_between(sizes, mean - spread, mean + spread, alpha=0.15, linewidth=0)
ax.plot(sizes, mean, marker="o", markersize=5)
ax.axhline(100 * nested.mean(), color="C1", linestyle="--", linewidth=1.2)
ax.text(2000, 100 * nested.mean() + 1, "nested", color="C1", ha="right")
ax.set_xscale("log", base=2)
ax.set_xticks(sizes, sizes)
ax.set(
    xlabel="number of columns",
    ylabel="accuracy in percent",
    title="Grid search; the band is the spread of the folds",
)

# %%
# What to conclude
# ----------------
#
# On tables of noise, selecting outside the folds promises an accuracy of about 80 %.
# The pipeline stays near 50 %. With signal, a few columns beat all 2,000 by far:
# selection is worth it on a wide table, and honest scores show it.
#
# What to do next
# ---------------
#
# - Put every selector into a pipeline with its model (:doc:`pipelines and grid
#   searches </howto/pipelines>`).
# - :func:`foresift.select` and :func:`foresift.compare` select in every fold by
#   themselves.
