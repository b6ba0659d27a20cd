"""The published tables and figures, made again: one specification per paper (`*.toml`), and what runs it."""
