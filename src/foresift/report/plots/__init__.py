"""Matplotlib displays in the style of scikit-learn: `from_...` reads a result, `plot` draws it.

Displays are made from the dictionary of a result or from plain arrays, so they depend on no method.
matplotlib is imported only when something is drawn, because that takes longer than many a selection.
"""
