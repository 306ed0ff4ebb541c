"""What a load balancer is told: its own port on loopback, the servers as they were given, and nothing that they add."""

import importlib
import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

import pytest

from tests.kit import ROOT

HERE = ROOT / "workloads" / "front"
MODULES = ("programs", "haproxy", "nginx")


@pytest.fixture
def programs(monkeypatch: pytest.MonkeyPatch) -> Iterator[ModuleType]:
    monkeypatch.syspath_prepend(str(HERE))
    for name in MODULES:
        monkeypatch.delitem(sys.modules, name, raising=False)
    yield importlib.import_module("programs")
    for name in MODULES:
        sys.modules.pop(name, None)


@pytest.mark.parametrize("front", ["haproxy", "nginx"])
def test_it_listens_on_loopback_and_asks_each_server(programs: ModuleType, tmp_path: Path, front: str) -> None:
    servers = programs.targets_of("127.0.0.1:8081,localhost:8082")
    text = programs.FRONTS[front].configuration(8080, servers, tmp_path)
    listening = [line.split() for line in text.splitlines() if line.split()[:1] in (["bind"], ["listen"])]
    assert [words[1].rstrip(";") for words in listening] == ["127.0.0.1:8080"]
    asked = [line.split()[-1].rstrip(";") for line in text.splitlines() if line.strip().startswith("server ")]
    assert [one for one in asked if one != "{"] == servers


@pytest.mark.parametrize(
    "target", ["", "127.0.0.1", "127.0.0.1:0", "a:80;", "a b:80", "a\n:80", "a:80,", "a:99999", "{x}:80", "a:80 check"]
)
def test_what_is_no_address_is_refused(programs: ModuleType, capsys: pytest.CaptureFixture[str], target: str) -> None:
    with pytest.raises(SystemExit) as ended:
        programs.targets_of(target)
    assert ended.value.code == programs.USAGE and capsys.readouterr().err.startswith("targets: found")


def test_a_front_that_is_missing_or_unknown_is_named(
    programs: ModuleType, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setattr(programs, "APART", ())
    with pytest.raises(SystemExit) as ended:
        programs.find("haproxy")
    assert ended.value.code == programs.UNAVAILABLE
    assert capsys.readouterr().err == "haproxy: not found; install it with: apt-get install haproxy\n"
    with pytest.raises(SystemExit):
        programs.parse(["front=apache"], front="haproxy")
    assert capsys.readouterr().err == "front: found apache, expected one of haproxy, nginx\n"
