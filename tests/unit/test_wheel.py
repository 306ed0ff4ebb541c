"""One wheel: what its build hook adds, on a system with a probe and on one without. Builds nothing."""

import shutil
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from tests.kit import ROOT
from tests.kit.scripts import load_script


def hook(root: Path, told: list[str]) -> Any:
    """The hook of hatch_build.py, on a project in `root`; `told` collects its warnings."""
    pytest.importorskip("hatchling", reason="hatchling builds wheels: make setup")
    app = SimpleNamespace(display_warning=told.append)
    return load_script(ROOT / "hatch_build.py").CustomBuildHook(str(root), {}, None, None, "", "wheel", app)


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.delenv("SCALOGRAPH_BUILT_PROBE", raising=False)
    for file in (
        "studies/a/study.toml",
        "studies/a/example/journal.jsonl.gz",
        "workloads/b/src/main.c",
        "probe/build.sh",
    ):
        (tmp_path / file).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / file).write_text("")
    (tmp_path / "workloads" / "b" / "link").symlink_to("/etc/passwd")
    return tmp_path


def built(project: Path, version: str = "standard") -> tuple[dict[str, Any], list[str]]:
    told: list[str] = []
    data: dict[str, Any] = {"force_include": {}, "shared_scripts": {}, "pure_python": True}
    hook(project, told).initialize(version, data)
    return data, told


@pytest.mark.parametrize(("content", "tag"), [
    (b"\x7fELF static", "manylinux_2_17_{0}.musllinux_1_1_{0}"),
    (b"\x7fELF /lib64/ld-linux-x86-64.so.2", "linux_{0}"),
])  # fmt: skip
def test_the_wheel_has_the_probe(project: Path, monkeypatch: pytest.MonkeyPatch, content: bytes, tag: str) -> None:
    probe = project / "made"
    probe.write_bytes(content)
    monkeypatch.setenv("SCALOGRAPH_BUILT_PROBE", str(probe))
    monkeypatch.setattr("platform.machine", lambda: "x86_64")
    data, told = built(project)
    assert data["shared_scripts"] == {str(probe): "scalograph-probe"} and not told
    assert (data["pure_python"], data["tag"]) == (False, f"py3-none-{tag.format('x86_64')}")


def test_data_ship_without_kept_results_and_links(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shutil, "which", lambda name: None)
    data, told = built(project)
    assert sorted(data["force_include"].values()) == [
        "scalograph/data/protocol/study.md",
        "scalograph/data/studies/a/study.toml",
        "scalograph/data/workloads/b/src/main.c",
    ]
    assert "tag" not in data and ["cargo is missing" in text for text in told] == [True]
    assert built(project, "editable")[0]["force_include"] == {}


def test_elsewhere_the_wheel_reads_results_only(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "platform", "darwin")
    data, told = built(project)
    assert data["pure_python"] and data["shared_scripts"] == {} and "measures nothing" in told[0]


def test_a_probe_that_was_named_and_is_not_there_is_an_error(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SCALOGRAPH_BUILT_PROBE", str(project / "none"))
    with pytest.raises(FileNotFoundError):
        built(project)
