"""Read files into columns and detect their types; the entry points are `files` and `splitting`."""
