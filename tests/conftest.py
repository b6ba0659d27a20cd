"""What all tests need: Ctrl-C that is heard; and what several files ask for."""

import signal

import pytest
from selection_cases import N_TREES

# A shell that starts the tests in the background lets them, and the commands they start, ignore it.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.fixture(scope="module")
def small_forests():
    """Let `select` check with a few trees."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("foresift.evaluation.select.models.N_TREES", N_TREES)
        yield
