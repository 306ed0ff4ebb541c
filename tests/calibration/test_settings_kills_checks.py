"""What the campaign of settings must notice of a start that goes wrong, and that it ends nevertheless."""

import importlib
import os
import random
import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

import pytest

from tests.kit import ROOT

FOLDER = ROOT / "benchmarks"


@pytest.fixture
def kills(monkeypatch: pytest.MonkeyPatch) -> Iterator[ModuleType]:
    """The campaign, which kills no start before it has hung, and takes no children of this process."""
    monkeypatch.syspath_prepend(str(FOLDER))
    found = importlib.import_module("settings_kills")
    monkeypatch.setattr(found, "reap", lambda: None)
    monkeypatch.setattr(found, "LATEST_S", 1e6)
    yield found
    for name in ("command_common", "settings_kills"):
        sys.modules.pop(name, None)


def faults(kills: ModuleType, folder: Path, start: str) -> dict[str, float]:
    """What a campaign finds whose starts are this line of shell."""

    class Failing(kills.Campaign):  # type: ignore[misc, name-defined]
        def _forked(self, argv: list[str]) -> int:
            (folder / "said").write_text("said")
            return os.posix_spawn("/bin/sh", ["sh", "-c", start], os.environ)

    campaign = Failing(kills.planted(folder / "kernel"), folder, random.Random(1))
    shown = {figure.name: figure.value for figure in kills.figures(campaign, 1)}
    assert shown["kills"] == 0
    return {name: shown[name] for name in kills.FAULTS if shown[name]}


@pytest.mark.parametrize("start", ["exit 2", "exit 130", "kill -SEGV $$"])
def test_a_start_that_ends_by_itself_is_a_fault_and_no_endless_campaign(
    kills: ModuleType, tmp_path: Path, start: str
) -> None:
    assert faults(kills, tmp_path, start) == {"exit code": kills.MOST_FAULTS}


def test_a_start_that_hangs_is_a_fault(kills: ModuleType, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(kills, "HANG_S", 0.05)
    monkeypatch.setattr(kills, "MOST_FAULTS", 2)
    assert faults(kills, tmp_path, "exec sleep 60") == {"hang": 2}
