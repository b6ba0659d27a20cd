"""The command line: one module per command; slow imports happen when a command runs."""
