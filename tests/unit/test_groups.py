"""Whether tests that share something run in one worker: without it they would still pass, most of the time."""

import os

import pytest


@pytest.mark.skipif("PYTEST_XDIST_WORKER" not in os.environ, reason="one process runs all tests")
def test_a_worker_is_told_the_group_of_a_test(request: pytest.FixtureRequest) -> None:
    assert request.node.nodeid.endswith(f"@{request.path.name}")
