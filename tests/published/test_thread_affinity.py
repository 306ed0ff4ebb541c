"""The published claim of thread affinity: decided on runs of which it is known how the busy thread was spread."""

import pytest

from scalograph.protocol.published_claim import Decision
from tests.published.claims import decisions


@pytest.mark.parametrize(
    ("share", "decision"), [(0.51, "holds"), (0.55, "holds"), (0.6, "not resolved"), (0.999, "does not hold")]
)
def test_one_busy_thread_on_two_cpus(share: float, decision: Decision) -> None:
    shown = decisions("thread-affinity", lambda t: {"wall": 1.0, "busiest": share if t["cpus"] == 2 else 1.0})
    assert shown == {"S0-14": decision}


def test_one_cpu_cannot_show_it() -> None:
    shown = decisions("thread-affinity", lambda t: {"wall": 1.0, "busiest": 1.0}, n_cpus=1)
    assert shown == {"S0-14": "cannot be seen here"}


def test_what_was_not_run_decides_nothing() -> None:
    shown = decisions("thread-affinity", lambda t: None if t["cpus"] == 2 else {"wall": 1.0, "busiest": 1.0})
    assert shown == {"S0-14": "not measured"}
