"""The program `foresift`, also as `python -m foresift`."""

import signal

__all__ = ["main"]


def main() -> None:
    """Run the command line."""
    # Until a command is at work, which then listens itself, Ctrl-C ends the program without a word.
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    from foresift.cli import app

    app(prog_name="foresift")


if __name__ == "__main__":
    main()
