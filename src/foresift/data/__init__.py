"""Read X and y from any container into coded tables, with weights, folds and numeric coding."""
