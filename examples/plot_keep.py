"""
What adds to the columns I have anyway?
=======================================

Age, sex, body mass index and blood pressure are known for every patient. Blood tests
cost money. Which of them improve predictions *beside* what is known?
"""

# %%
# The table
# ---------
#
# 442 patients with diabetes; the target is how far the disease has progressed after a
# year. scikit-learn's description of the table names the six blood tests. Suppose
# that the laboratory takes two orders: the lipid panel with five values, and the
# blood sugar.

from sklearn.datasets import load_diabetes

X, y = load_diabetes(return_X_y=True, as_frame=True)
lipids = {
    "s1": "cholesterol",
    "s2": "ldl",
    "s3": "hdl",
    "s4": "cholesterol_per_hdl",
    "s5": "log_triglycerides",
}
X = X.rename(columns={**lipids, "s6": "glucose"})
known = ["age", "sex", "bmi", "bp"]

# %%
# Three questions
# ---------------
#
# Is a blood test related to the disease? Does it add to what is known (``keep``)?
# And, because a panel is ordered as a whole, does the panel add (``feature_groups``)?

from foresift import select

alone = select(X, y, goal="all", random_state=0)
beside = select(X, y, goal="all", keep=known, random_state=0)
groups = {"lipid panel": list(lipids.values())}
panel = select(X, y, goal="all", keep=known, feature_groups=groups, random_state=0)
for name, selection in [("alone", alone), ("beside", beside), ("panel", panel)]:
    print(f"{name}: {selection.verdict}")

# %%
# Alone and beside
# ----------------
#
# Filled dots passed the test.

import matplotlib.pyplot as plt

tests = [name for name in X if name not in known]
fig, ax = plt.subplots(figsize=(6.4, 3.4))
for selection, colour, marker, label in [
    (alone, "C1", "s", "related to the disease"),
    (beside, "C0", "o", "adds to age, sex, bmi and bp"),
]:
    rows = {row["name"]: row for row in selection.ranking}
    for at, name in enumerate(tests):
        fill = colour if rows[name]["relevant"] else "white"
        ax.plot(rows[name]["score"], at, marker, color=colour, mfc=fill, ms=8)
    ax.plot([], [], marker, color=colour, ms=8, label=label)
ax.axvline(0, color="0.6", linewidth=1, zorder=0)
ax.set_yticks(range(len(tests)), tests)
ax.set(xlabel="score: standard deviations above chance", ylim=(len(tests) - 0.5, -0.5))
ax.legend(loc="lower center", bbox_to_anchor=(0.4, 1.0), ncols=2)

# %%
# What do the tests bring?
# ------------------------
#
# The size curve begins with the known columns alone, at 0. The panel counts as one.

display = panel.plot_curve()
display.ax_.set_xticks([0, 1, 2])

# %%

orders = {row["group"] or row["name"]: row for row in panel.ranking}
for name in ["lipid panel", "glucose"]:
    print(f"{name}: score {orders[name]['score']:.1f}, p {orders[name]['pvalue']:.2g}")
for point in panel.curve["points"]:
    print(f"R2 with {point['n']} of the two orders: {point['score']:.3f}")

# %%
# What to conclude
# ----------------
#
# All blood tests are related to the disease. Beside the known columns their scores
# are lower, because part of what they say is known already from the body mass index
# and the blood pressure; ``ldl`` no longer passes. As a whole the lipid panel adds a
# lot: it comes first, and the curve rises with it. The blood sugar passes the test as
# well, but hardly raises the curve.
#
# What to do next
# ---------------
#
# - Use ``keep`` for columns that must stay: known confounders, or what a regulation
#   asks for.
# - ``feature_groups`` also takes patterns of names, such as ``"sensor3_*"``, or
#   ``"one-hot"`` (:doc:`how to </howto/groups-of-columns>`).
