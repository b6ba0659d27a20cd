"""What all tests need: Ctrl-C that is heard."""

import signal

# A shell that starts the tests in the background lets them, and the commands they start, ignore it.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)
