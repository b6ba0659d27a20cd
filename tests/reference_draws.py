"""A tree whose nodes draw their candidate columns, written out slowly: what is drawn, tried and chosen.

Nominal columns of X hold category codes, NaN is missing and takes the side that scores best.
"""

import numpy as np
import reference


class DrawnTree:
    """Grows one tree; `nodes` lists its nodes as the engine numbers them.

    A node is a dict of its `counts`, its `tried` columns with their gains (0 for one that is constant), and
    if it is split, of its `feature` and `gain`.
    """

    def __init__(self, X, y, weights=None, nominal=(), **options):
        self.X, self.y, self.nominal = np.asarray(X, dtype=float), np.asarray(y), set(nominal)
        self.weights = np.ones(len(self.y)) if weights is None else np.asarray(weights, dtype=float)
        defaults = {"criterion": "entropy", "max_features": 1, "constant_leaf": False, "min_leaf": 1.0}
        self.options = {**defaults, "seed": 0, "tree": 0, "feature_weights": None, **options}
        self.n_classes = int(self.y.max()) + 1
        self.order = list(range(self.X.shape[1]))  # of uniform draws: every node shuffles it further
        self.nodes = []
        rows = np.flatnonzero(self.weights > 0)
        self.add_nodes([rows])
        self.visit(0, rows)

    def add_nodes(self, parts):
        """Append a node for each set of rows, and return the number of the first."""
        criterion, first = self.options["criterion"], len(self.nodes)
        for rows in parts:
            counts = reference.node_counts(self.y[rows], self.weights[rows], self.n_classes, criterion)
            self.nodes.append({"counts": counts, "tried": []})
        return first

    def visit(self, number, rows):
        """Split a node if it can be, and its children, the first before the second."""
        if len(np.unique(self.y[rows])) < 2 or self.weights[rows].sum() < 2:
            return
        split = self.choose(number, rows)
        if split is None:
            return
        left = reference.goes_left(split, self.X[rows, split["feature"]])
        parts = [rows[left], rows[~left]]
        first = self.add_nodes(parts)
        for child, part in enumerate(parts):
            self.visit(first + child, part)

    def choose(self, number, rows):
        """The best split of the columns that the node draws; None if none of them has one."""
        y, weights, criterion = self.y[rows], self.weights[rows], self.options["criterion"]
        node, split, best = self.nodes[number], None, -np.inf
        tie = reference.TIE * reference.unit(y, weights, criterion)
        draws, most, redraws = (
            self.draws(number),
            self.options["max_features"],
            not self.options["constant_leaf"],
        )
        seen_one = False
        while len(node["tried"]) < most or (redraws and not seen_one):
            column = next(draws, None)
            if column is None:
                break
            x = self.X[rows, column]
            if len(np.unique(x)) < 2:  # NaN is a value
                node["tried"].append((column, 0.0))
                continue
            seen_one = True
            nominal = column in self.nominal
            gain, found = reference.best_split(x, y, criterion, weights, nominal, self.fits(rows))
            node["tried"].append((column, gain if found else 0.0))
            if found and gain > best + tie:
                best, split = gain, {**found, "feature": column}
        if split is not None:
            node.update(feature=split["feature"], gain=best)
        return split

    def fits(self, rows):
        def both_large(left):
            weights, least = self.weights[rows], self.options["min_leaf"]
            return min(weights[left].sum(), weights[~left].sum()) >= least

        return both_large

    def draws(self, number):
        """The columns in the order that a node draws them, without replacement."""
        bits = reference.Bits(self.options["seed"], self.options["tree"], number)
        n_columns = self.X.shape[1]
        if self.options["feature_weights"] is not None:
            left = np.array(self.options["feature_weights"], dtype=float)
            while left.any():
                column = int(np.searchsorted(np.cumsum(left), bits.unit() * left.sum(), side="right"))
                left[column] = 0.0
                yield column
        elif self.options["max_features"] >= n_columns:
            yield from range(n_columns)
        else:
            for place in range(n_columns):
                other = place + bits.below(n_columns - place)
                self.order[place], self.order[other] = self.order[other], self.order[place]
                yield self.order[place]
