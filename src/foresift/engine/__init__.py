"""The Python side of the native core: growing trees, node tables, criteria, null gains, importances."""
