"""
Rows in the order of time
=========================

Daily sales drift, and so do prices, staff and stock. Any two things that drift look
related for a while. Which columns predict sales beyond that?
"""

# %%
# The table
# ---------
#
# 400 days. Sales depend on the temperature and on rain, and on a slow drift that no
# column explains. Five other columns drift on their own.

import numpy as np
import pandas as pd

rng = np.random.default_rng(1)
n_days = 400
day = pd.Series(pd.date_range("2025-01-01", periods=n_days), name="day")


def drifting(persistence):
    """Make a series of variance 1 that is correlated with its own past."""
    shocks = np.sqrt(1 - persistence**2) * rng.normal(size=n_days)
    values = [rng.normal()]
    for shock in shocks[1:]:
        values.append(persistence * values[-1] + shock)
    return np.array(values)


X = pd.DataFrame({"temperature": drifting(0.9), "rain": rng.normal(size=n_days)})
for name in ["price", "staff", "web_visits", "exchange_rate", "stock"]:
    X[name] = drifting(0.97)
sales = 0.9 * X["temperature"] + 0.4 * X["rain"] + drifting(0.95)

# %%
# With and without time
# ---------------------
#
# ``time`` says when each row was observed. The test then keeps neighbours together in
# its permutations, and folds are blocks of time.

from foresift import select

ignored = select(X, sales, goal="all", random_state=0)
in_time = select(X, sales, goal="all", time=day, random_state=0)
print("days as independent rows:", ", ".join(ignored.features))
print("days in the order of time:", ", ".join(in_time.features))

# %%
# Series that have nothing to do with each other
# ----------------------------------------------
#
# Left: sales and the unrelated column that looks most related if time is ignored.
# Right: the scores of all columns; filled dots passed the test.

import matplotlib.pyplot as plt

related = ["temperature", "rain"]
names = related + [name for name in X if name not in related]
worst = next(name for name in ignored.features if name not in related)

fig, (left, right) = plt.subplots(1, 2, figsize=(7.4, 3.4), width_ratios=[1, 1.2])
for series, colour, name, shift in [
    (sales, "C2", "sales", 0),
    (X[worst], "C4", worst, 5),
]:
    left.plot(
        day, (series - series.mean()) / series.std() - shift, color=colour, linewidth=1
    )
    left.text(day.iloc[0], 2.6 - shift, name, color=colour, weight="bold")
left.set(yticks=[], ylim=(-8.5, 3.4), title="Two series")
left.xaxis.set_major_locator(plt.matplotlib.dates.MonthLocator([1, 7]))
left.xaxis.set_major_formatter(plt.matplotlib.dates.DateFormatter("%b %Y"))
left.spines["left"].set_visible(False)

for selection, colour, marker, label in [
    (ignored, "C1", "s", "time ignored"),
    (in_time, "C0", "o", "time given"),
]:
    rows = {row["name"]: row for row in selection.ranking}
    for at, name in enumerate(names):
        fill = colour if rows[name]["relevant"] else "white"
        right.plot(rows[name]["score"], at, marker, color=colour, mfc=fill, ms=8)
    right.plot([], [], marker, color=colour, ms=8, label=label)
right.axvline(0, color="0.6", linewidth=1, zorder=0)
right.axhline(1.5, color="0.8", linewidth=1, zorder=0)
right.set_yticks(range(len(names)), names)
right.set(xlabel="score", ylim=(len(names) - 0.5, -0.5), title="Scores")
right.legend(loc="lower right")

# %%
# And the check?
# --------------
#
# R2 of a forest on held-out days: 1 is perfect, 0 is as good as the mean of the
# training days.

for name, selection in [("random folds", ignored), ("blocks of time", in_time)]:
    print(f"{name}: R2 {selection.check['kept']['score']:.2f}")

# %%
# What to conclude
# ----------------
#
# If time is ignored, the columns that only drift pass as well, and random folds
# promise good predictions: the model fills gaps between neighbouring days. With time,
# the temperature and rain remain. The R2 in blocks of time is far lower: most of what
# sales do over months is a drift that no column explains. That is bad news, but true.
#
# What to do next
# ---------------
#
# - To predict the future from the past alone, pass ``cv=TimeSeriesSplit(5)`` as well
#   (:doc:`how to </howto/time>`).
# - Several series in one table, such as shops? Pass ``groups`` and ``time``.
