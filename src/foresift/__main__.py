"""The program `foresift`, also as `python -m foresift`."""

__all__ = ["main"]


def main() -> None:
    """Run the command line."""
    try:
        import signal

        # Until a command is at work, which then listens itself, Ctrl-C ends the program without a word.
        signal.signal(signal.SIGINT, signal.SIG_DFL)
    except KeyboardInterrupt:
        raise SystemExit(130) from None
    import contextlib
    import os
    import sys
    import threading
    import warnings

    from foresift.cli.app import app

    warnings.simplefilter("ignore")  # commands say in their own words what there is to say
    os.environ.setdefault("PYTHONWARNINGS", "ignore")  # and so do the processes they start
    try:
        app(prog_name="foresift")
    except SystemExit as end:
        # After Ctrl-C threads may still be growing trees. The interpreter does not wait for them, and native
        # code that comes back to an interpreter which is being taken down aborts: so it is not taken down.
        if not isinstance(end.code, int) or threading.active_count() == 1:
            raise
        with contextlib.suppress(OSError):  # a closed pipe, of which the exit code tells already
            sys.stdout.flush()
            sys.stderr.flush()
        os._exit(end.code)


if __name__ == "__main__":
    main()
