"""A study killed at any moment resumes without losing a finished run: the short form of the campaign of kills."""

import json
import os
import subprocess
import sys
from typing import Any

import pytest

from tests.kit import ROOT
from tests.kit.command import machine

pytestmark = pytest.mark.guarantee

CAMPAIGN = ROOT / "benchmarks" / "kills_campaign.py"


@pytest.fixture(scope="module")
def figures() -> dict[str, Any]:
    environ = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    argv = [sys.executable, str(CAMPAIGN), "--quick", "--json"]
    done = subprocess.run(argv, env=environ, capture_output=True, text=True, timeout=300, check=False)
    assert (done.returncode, done.stderr) == (0, "")
    return {figure["name"]: figure for figure in map(json.loads, done.stdout.splitlines())}


@machine
def test_nothing_is_lost_and_nothing_is_left(figures: dict[str, Any]) -> None:
    # Of ten, those that come after the end of their study hit nothing: how many is the machine's affair.
    assert 0 < figures["kills"]["value"] <= 10
    faults = {name: figure["value"] for name, figure in figures.items() if figure["limit"] == 0}
    assert len(faults) == 10 and set(faults.values()) == {0}
