"""Columns of rows of cells, by one plain loop: what `foresift.reading.text_columns` must find."""

import math
import re

MISSING = ("", "?", "NA", "N/A", "n/a", "#N/A", "<NA>", "NaN", "nan", "NULL", "null")


def number(text):
    if "_" in text:
        raise ValueError(text)
    return float(text)


def read_column(cells, *, text=False, missing=MISSING, padded=True):
    """What a column is: ("text", its cells), or ("numbers", values, values with thousands dots, pointed)."""
    cells = [cell.strip() for cell in cells]
    present = [cell for cell in cells if cell not in missing]
    codes = padded and any(re.fullmatch(r"0\d{2,}", cell) for cell in present)
    try:
        values = [math.nan if cell in missing else number(cell) for cell in cells]
    except ValueError:
        text = True
    if text or codes:
        return "text", [None if cell in missing else cell for cell in cells]
    dotted = [cell for cell in present if "." in cell]
    other = [cell for cell in present if "." not in cell]
    thousands = [re.fullmatch(r"[+-]?[1-9]\d{0,2}\.\d{3}", cell) for cell in dotted]
    small = [re.fullmatch(r"[+-]?(0|[1-9]\d{0,2})", cell) for cell in other]
    grouped = None
    if dotted and all(thousands) and all(small):
        grouped = [math.nan if cell in missing else float(cell.replace(".", "")) for cell in cells]
    fractions = any(math.isfinite(value) and value != math.floor(value) for value in values)
    return "numbers", values, grouped, grouped is None and (fractions or not all(thousands))
