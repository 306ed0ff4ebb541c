"""Both probes, for tests of what each of them does: the fixture `probe` is one or the other."""

import pytest

from scalograph.run.hosts.local.probe import DEGRADED, PROGRAM, find_probe
from tests.kit import ROOT

BOTH = pytest.mark.parametrize("probe", ["native", "python"], indirect=True)


def probe_argv(name: str) -> tuple[str, ...]:
    """Return what starts a probe; skip where it was not built."""
    if name == "python":
        return tuple(DEGRADED)
    if (installed := find_probe()).warning is None:
        return installed.argv
    built = [*(ROOT / "probe" / "target").glob(f"**/release/{PROGRAM}")]
    if not built:
        pytest.skip(f"{PROGRAM} is not built")
    return (str(built[0]),)
