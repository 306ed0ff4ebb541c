"""`make audit`: every lock is asked about; what is missing is named with the command that installs it."""

import shutil
import subprocess
import tomllib
from pathlib import Path

import pytest

from tests.kit import ROOT

LOCKS = [file.name for file in ROOT.glob("requirements/*.lock")]
CRATES = [file.parent.name for file in (ROOT / "probe" / "Cargo.lock", *ROOT.glob("workloads/*/Cargo.lock"))]


@pytest.fixture
def tools(tmp_path: Path) -> Path:
    """A folder that is all of PATH, with what the script itself needs."""
    for name in ("bash", "dirname"):
        (tmp_path / name).symlink_to(shutil.which(name) or name)
    return tmp_path


def tool(folder: Path, name: str, code: int = 0) -> None:
    """A program that says how it was called."""
    (folder / name).write_text(f'#!/bin/bash\necho "called $*"\nexit {code}\n')
    (folder / name).chmod(0o755)


def audited(tools: Path) -> subprocess.CompletedProcess[str]:
    script = [ROOT / "scripts" / "audit.sh"]
    return subprocess.run(script, env={"PATH": str(tools)}, capture_output=True, text=True, check=False, timeout=20)


def test_what_is_missing_is_named_with_what_installs_it(tools: Path) -> None:
    done = audited(tools)
    assert done.returncode == 3
    assert "missing: cargo-deny\n  install it with: cargo install --locked cargo-deny\n" in done.stderr
    assert "missing: pip-audit\n  install it with: pipx install pip-audit\n" in done.stderr


@pytest.mark.parametrize(("cargo", "pip", "code"), [(0, 0, 0), (1, 0, 1), (0, 1, 1)])
def test_every_lock_is_asked_about_and_a_fault_fails_at_the_end(tools: Path, cargo: int, pip: int, code: int) -> None:
    tool(tools, "cargo-deny")
    tool(tools, "cargo", cargo)
    tool(tools, "pip-audit", pip)
    done = audited(tools)
    assert done.returncode == code and done.stdout.count("called") == len(LOCKS) + len(CRATES) >= 6
    assert all(f"/{lock}" in done.stdout for lock in LOCKS)
    assert all(f"{crate}/Cargo.toml --locked check --config" in done.stdout for crate in CRATES)


def test_no_registry_is_named() -> None:
    rules = tomllib.loads((ROOT / "deny.toml").read_text(encoding="utf-8"))
    assert rules["sources"] == {"unknown-registry": "deny", "unknown-git": "deny"}
    assert "MIT" in rules["licenses"]["allow"]
