"""The published claim of thread affinity: decided on runs of which it is known how the busy thread was spread."""

import pytest

from scalograph.protocol.published_claim import Decision
from tests.published.claims import decisions


@pytest.mark.parametrize(("share", "n_cpus", "decision"), [
    (0.51, 2, "holds"), (0.55, 2, "holds"), (0.6, 2, "not resolved"), (0.999, 2, "does not hold"),
    (None, 2, "not measured"), (1.0, 1, "cannot be seen here"),
])  # fmt: skip
def test_one_busy_thread_on_two_cpus(share: float | None, n_cpus: int, decision: Decision) -> None:
    shown = {2: share and {"wall": 1.0, "busiest": share}}
    found = decisions("thread-affinity", lambda t: shown.get(t["cpus"], {"wall": 1.0, "busiest": 1.0}), n_cpus=n_cpus)
    assert found == {"S0-14": decision}
