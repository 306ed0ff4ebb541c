"""What takes long and is only looked at: made once for all tests that do."""

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from scalograph.control.store import Store
from scalograph.machine.proofs import proving
from scalograph.machine.proofs.bench import Bench

from .shell import LONG_S, in_process


@dataclass(frozen=True)
class Sanity:
    """`scalograph doctor --sanity --json`: how it ended, what it told and left behind, and what its proofs rest on."""

    code: int
    told: dict[str, Any]
    left: list[Path]
    bench: Bench


@pytest.fixture(scope="session")
def sanity(tmp_path_factory: pytest.TempPathFactory) -> Sanity:
    """Every proof on this machine."""
    folder, benches = tmp_path_factory.mktemp("sanity"), list[Bench]()

    class Kept(Bench):
        def __enter__(self) -> Bench:
            benches.append(self)
            return super().__enter__()

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("tempfile.tempdir", str(folder))
        patch.setattr("scalograph.cli.machine_lock.WAIT_S", LONG_S)
        patch.setattr(proving, "Bench", Kept)
        done = in_process("doctor", "--sanity", "--json", cwd=folder, store=Store.of_machine())
    return Sanity(done.returncode, json.loads(done.stdout), list(folder.iterdir()), *benches)
