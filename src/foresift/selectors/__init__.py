"""Every feature selector, one file per family."""
