"""Tables for tests: reading one in a single call, characters of cells, and CSV text."""

import csv
import io

from hypothesis import strategies as st

from foresift.reading.files import open_table

# What a text file may hold: NUL is refused, a lone surrogate has no encoding, and a mark of an encoding at
# the very start is one.
CHARS = st.characters(exclude_categories=["Cs", "Cc"], exclude_characters="\ufeff") | st.sampled_from(
    "\n\r\t\"',;| "
)


def read_table(path, *, text=(), drop=(), **options):
    return open_table(path, **options).read(text=text, drop=drop)


def written(header, rows, delimiter=",", quoting=csv.QUOTE_MINIMAL, end="\r\n"):
    if any(mark in cell for mark in "\r\n" for row in rows for cell in row):
        quoting = csv.QUOTE_ALL  # before Python 3.13 the writer does not see that such a cell needs quotes
    file = io.StringIO(newline="")
    csv.writer(file, delimiter=delimiter, quoting=quoting, lineterminator=end).writerows([header, *rows])
    return file.getvalue()
