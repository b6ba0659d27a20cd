"""Every classifier: trees, forests, networks, ensembles; and what a set of columns is worth to one."""
