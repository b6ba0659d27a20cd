"""The command line: `app` has the commands; each has a module, which imports slow things as it runs."""
