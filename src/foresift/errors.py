"""The error that a person can mend."""

__all__ = ["InputError"]


class InputError(Exception):
    """What is wrong with the user's input, in one sentence."""
