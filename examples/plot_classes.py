"""
Which columns predict a class?
==============================

A bike-sharing company wants to know who will cancel. It has a table of 600 customers
with numbers, categories and missing values. Which of the twelve columns predict
leaving, and is a model on these columns as good as one on all?
"""

# %%
# The table
# ---------
#
# The table ships with foresift. It is synthetic, so the right answer is known: seven
# of its columns are related to leaving. The customer number is an identifier, so we
# drop it.

from importlib.resources import files

import pandas as pd

table = files("foresift.datasets") / "_data" / "bikeshare.csv"
X = pd.read_csv(table).drop(columns="customer_number")
y = X.pop("cancelled")
X.head()

# %%
# One call
# --------
#
# :func:`foresift.select` tests every column, chooses how many to keep, and checks the
# choice by nested cross-validation. Text columns and missing values need no
# preparation.

from foresift import select

selection = select(X, y, random_state=0)
print(selection.verdict)
for line in selection.details:
    print("-", line)

# %%
# How strong is each column?
# --------------------------
#
# A score says how far a column lies above chance, in standard deviations. Irrelevant
# columns score around 0. The lines are intervals from subsamples of the rows.

display = selection.plot_ranking()

# %%
# How does each column relate to leaving?
# ---------------------------------------
#
# Each bar is the share of customers who left among those with these values; the
# dashed line is their share in the whole table. The report has the same pictures for
# every column, with the direction in words.

displays = selection.plot_columns(max_columns=4)
for display in displays:
    print(f"{display.name}: {display.words}")

# %%
# Would other rows give the same answer?
# --------------------------------------
#
# The test was repeated on subsamples of the rows, one in each line of this picture.
# Dark: the column passed.

display = selection.plot_stability()
display.ax_.set_ylabel("subsample")

# %%
# What to conclude
# ----------------
#
# The seven green columns of the ranking are the seven that the table was made with.
# The five others score around 0, and hardly ever pass in a subsample. The verdict is
# provisional, although the selection is right: 600 rows cannot exclude that the
# smaller model loses a few points of accuracy.
#
# The kept columns are ready for your model:

small = selection.transform(X)
print(small.columns.tolist())

# %%
# What to do next
# ---------------
#
# - Write the report and send it to others: ``selection.to_html("report.html")``
#   (:doc:`what it shows </report>`).
# - Is the verdict "too few rows", or does a column surprise you? :doc:`Every step
#   explained </select>`.
# - Run the same on a file, without Python: ``foresift select mytable.csv --target
#   mycolumn --out report/``.
