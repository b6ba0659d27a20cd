"""
Several rows per patient
========================

Each patient was examined six times. Rows of one patient are alike, so there is less
information in the table than its number of rows suggests. What happens if nobody
tells the selection?
"""

# %%
# The table
# ---------
#
# Eighty patients with six visits each; half of the patients are ill. Two columns are
# related to the illness: ``marker``, which is measured once per patient, and
# ``temperature``, which is measured at every visit. Four columns describe the
# patient, and three the visit, and have nothing to do with the illness.

import numpy as np
import pandas as pd

rng = np.random.default_rng(1)
n_patients, n_visits = 80, 6
patient = pd.Series(np.repeat(np.arange(n_patients), n_visits), name="patient")
ill = np.arange(n_patients) % 2
y = ill[patient]

X = pd.DataFrame({"marker": (rng.normal(size=n_patients) + 1.2 * ill)[patient]})
for name in ["height", "birth_weight", "arm_length", "eye_pressure"]:
    X[name] = rng.normal(size=n_patients)[patient]
X["temperature"] = rng.normal(size=len(y)) + 0.6 * y
for name in ["pulse", "mood", "sleep"]:
    X[name] = rng.normal(size=len(y))

# %%
# With and without groups
# -----------------------
#
# ``groups`` says which rows belong together. The test then permutes patients instead
# of visits, and folds keep the visits of a patient together.

from foresift import select

ignored = select(X, y, goal="all", random_state=0)
grouped = select(X, y, goal="all", groups=patient, random_state=0)
for name, selection in [
    ("visits as independent rows", ignored),
    ("visits of patients", grouped),
]:
    score = 100 * selection.check["kept"]["score"]
    print(f"{name}: {score:.0f} % accuracy, kept {', '.join(selection.features)}")

# %%
# The notes of the first call warn of it:

print(*ignored.notes, sep="\n")

# %%
# Scores of all columns
# ---------------------
#
# Filled dots passed the test.

import matplotlib.pyplot as plt

related = ["marker", "temperature"]
names = related + [name for name in X if name not in related]
fig, ax = plt.subplots(figsize=(6.4, 3.8))
for selection, colour, marker, label in [
    (ignored, "C1", "s", "visits as independent rows"),
    (grouped, "C0", "o", "visits of patients"),
]:
    rows = {row["name"]: row for row in selection.ranking}
    for at, name in enumerate(names):
        fill = colour if rows[name]["relevant"] else "white"
        ax.plot(rows[name]["score"], at, marker, color=colour, mfc=fill, ms=8)
    ax.plot([], [], marker, color=colour, ms=8, label=label)
ax.axvline(0, color="0.6", linewidth=1, zorder=0)
ax.axhline(1.5, color="0.8", linewidth=1, zorder=0)
ax.text(
    ax.get_xlim()[1],
    1.62,
    "not related to the illness",
    ha="right",
    va="top",
    color="0.4",
)
ax.set_yticks(range(len(names)), names)
ax.set(xlabel="score: standard deviations above chance", ylim=(len(names) - 0.5, -0.5))
ax.legend(loc="lower right")

# %%
# What to conclude
# ----------------
#
# As independent rows, every column that describes the patient passes, because six
# copies of the same eighty numbers look like strong evidence. The accuracy is just as
# wrong: a forest recognises the patients of the training rows. With the groups, the
# two columns that matter remain, and the accuracy is the one to expect for new
# patients.
#
# What to do next
# ---------------
#
# - Pass ``groups`` to :func:`foresift.select`, :func:`foresift.compare` and every
#   selector's ``fit`` (:doc:`how to </howto/groups>`).
# - How large is the effect, and how far does the test hold? See the
#   :doc:`measurements </dependence>`.
