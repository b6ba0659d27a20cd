"""From containers to tables: reading X and y, coding columns, weights, folds, numbers for models."""
