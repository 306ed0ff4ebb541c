"""What tests of controls share."""

import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

import scalograph

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
        home = str(Path(scalograph.__file__).parents[1])
        environment = {"PATH": os.environ["PATH"], "PYTHONPATH": os.pathsep.join([home, *filter(None, sys.path)])}
        argv = [*become, sys.executable, "-B", "-c", code]
        done = subprocess.run(argv, env=environment, capture_output=True, text=True, cwd="/", check=False)
        if "ModuleNotFoundError" in done.stderr or done.returncode == 126:
            pytest.skip("nobody may not read this checkout or its interpreter")
        if "prlimit: failed to set" in done.stderr:
            pytest.skip("this root may not raise limits (CAP_SYS_RESOURCE)")
        assert done.returncode == 0, done.stderr
        return done.stdout

    return run
