"""What tests of servers need: the load driver, what they are skipped without, and the one run of a study."""

import shutil
from pathlib import Path

import pytest

from scalograph.run.hosts.local.local_host import LocalHost
from scalograph.run.hosts.local.probe import find_probe
from scalograph.run.plan import plan
from scalograph.run.runner import Runner
from scalograph.run.session import FinishedRun, run_in_memory
from scalograph.study.declare import declare
from tests.kit import ROOT

# The one that cargo's tests built; a user's is built when it is first used.
LOAD = ROOT / "build/rust/debug/scalograph-load"
needs_driver = pytest.mark.skipif(not LOAD.is_file(), reason="not built: cd workloads/load && cargo test")
needs_probe = pytest.mark.skipif(find_probe().warning is not None, reason="services need the native probe")
needs_java = pytest.mark.skipif(
    not all(map(shutil.which, ("mvn", "javac"))), reason="needs Maven and a JDK: apt-get install maven"
)


def one_run(file: Path) -> FinishedRun:
    """The only run of a study."""
    host = LocalHost(find_probe())
    planned = host.ready(plan(declare(file), host.facts()), str)
    (finished,) = run_in_memory(planned, Runner(planned, host))
    return finished
