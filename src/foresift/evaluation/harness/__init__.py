"""Experiments: tasks, splits, the store of results, clusters."""
