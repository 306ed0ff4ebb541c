"""What tests of controls share."""

import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from scalograph.control import kernel_files
from scalograph.control.store import Store, lock_machine
from tests.unit.control import paper_kernel
from tests.unit.control.paper import child_environment

NOBODY = ("setpriv", "--reuid=65534", "--regid=65534", "--clear-groups")


@pytest.fixture
def nobody() -> Callable[..., str]:
    """Runs Python code as a user without privileges, and returns what it prints.

    `rtprio` and `nice` are limits (RLIMIT_RTPRIO, RLIMIT_NICE) that are set before the privileges are dropped.
    """
    if os.geteuid() == 0 and not (shutil.which("setpriv") and shutil.which("prlimit")):
        pytest.skip("setpriv and prlimit (util-linux) are not installed")

    def run(code: str, rtprio: int = 0, nice: int = 0) -> str:
        limits = ("prlimit", f"--rtprio={rtprio}:{rtprio}", f"--nice={nice}:{nice}")
        become = (*limits, *NOBODY) if os.geteuid() == 0 else ()
        argv = [*become, sys.executable, "-B", "-c", code]
        done = subprocess.run(argv, env=child_environment(), capture_output=True, text=True, cwd="/", check=False)
        if "ModuleNotFoundError" in done.stderr or done.returncode == 126:
            pytest.skip("nobody may not read this checkout or its interpreter")
        if "prlimit: failed to set" in done.stderr:
            pytest.skip("this root may not raise limits (CAP_SYS_RESOURCE)")
        assert done.returncode == 0, done.stderr
        return done.stdout

    return run


@pytest.fixture
def kernel_store(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Store:
    """The machine's store, with a kernel of paper."""
    monkeypatch.setattr(kernel_files, "_write", paper_kernel.kernel_writes)
    store = paper_kernel.store(tmp_path / "state", paper_kernel.planted(tmp_path / "kernel"))
    monkeypatch.setattr(Store, "locate", lambda: store)
    return store


@pytest.fixture
def kernel(kernel_store: Store) -> Iterator[Path]:
    """Its kernel, while the machine is locked."""
    with lock_machine(store=kernel_store):
        yield kernel_store.kernel
