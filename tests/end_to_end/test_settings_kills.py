"""Settings of the machine are as before after every kill: the short form of the campaign, on plain files."""

import json
import os
import subprocess
import sys

import pytest

from tests.kit import ROOT

pytestmark = pytest.mark.guarantee

CAMPAIGN = ROOT / "benchmarks" / "settings_kills.py"


def test_every_setting_is_restored_and_no_run_is_lost() -> None:
    environ = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    argv = [sys.executable, str(CAMPAIGN), "--quick", "--json"]
    done = subprocess.run(argv, env=environ, capture_output=True, text=True, timeout=300, check=False)
    assert (done.returncode, done.stderr) == (0, "")
    figures = {figure["name"]: figure for figure in map(json.loads, done.stdout.splitlines())}
    # A study that comes to its end before four kills have met it is followed by another.
    assert figures["kills"]["value"] == 4 and figures["studies"]["value"] >= 1
    faults = {name: figure["value"] for name, figure in figures.items() if figure["limit"] == 0}
    assert len(faults) == 7 and set(faults.values()) == {0}
