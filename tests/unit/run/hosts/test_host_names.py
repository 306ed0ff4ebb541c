"""A host is one file and one row: here one that replays the runs of a journal, and a whole study on it."""

import json
import sys
from pathlib import Path

import pytest

from scalograph.cli.main import _code
from scalograph.errors import StudyError
from scalograph.protocol import journal
from scalograph.run.hosts import host_names
from scalograph.run.hosts.base import Host
from scalograph.system.quiet import LoadSample
from tests.kit import ROOT
from tests.kit.refusals import refuses

KEPT = ROOT / "tests" / "golden" / "journals" / "descriptor-cliff" / "journal.jsonl.gz"
REPLAY = f'''
"""A machine that answers from a journal."""

from contextlib import nullcontext
from dataclasses import replace
from pathlib import Path

from scalograph.system.quiet import LoadSample
from scalograph.protocol import journal
from scalograph.protocol.events import Record
from scalograph.protocol.facts import HostFacts
from scalograph.run.hosts.base import ProbeProgram

ASKED, HELD, CLOSED = [], [], []


class ReplayHost:
    probe = ProbeProgram(("replay",))

    def __init__(self):
        events = list(journal.read(Path({str(KEPT)!r})))
        self._records = {{event["run"]: event["record"] for event in events if event["event"] == "run"}}
        machine = dict(events[0]["machine"])
        kept = {{name: machine[name] for name in HostFacts.model_fields if name in machine and name != "jvms"}}
        self._facts = HostFacts(cpus=machine["topology"], **kept)

    def facts(self):
        return self._facts

    def ready(self, planned, tell):
        values = {{**planned.program.values, "build": "/built"}}
        return replace(planned, program=replace(planned.program, values=values))

    def apply_settings(self, planned, configuration):
        HELD.append(dict(configuration))
        return nullcontext()

    def sample_load(self):
        return LoadSample({{0: 0.0}})

    def measure(self, spec):
        ASKED.append(spec)
        return self._records[spec.run.run]

    def keep_in(self, folder):
        pass

    def close(self):
        CLOSED.append(self)


def connect():
    return ReplayHost()
'''


@pytest.fixture
def replay(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "replaying_host.py").write_text(REPLAY)
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setitem(host_names.HOSTS, "replay", "replaying_host")
    monkeypatch.delitem(sys.modules, "replaying_host", raising=False)
    monkeypatch.setattr("scalograph.cli.pipeline.WAIT_S", 300.0)


def test_a_whole_study_runs_on_it(replay: None, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """All five stops. A search asks for what it needs to know: only the same runs lead to the same end."""
    output = tmp_path / "results"
    assert _code(["study", "descriptor-cliff", "--host", "replay", "-o", str(output), "--json"]) == 0
    document = json.loads(capsys.readouterr().out)
    made, kept = ([*journal.read(file)] for file in (output / "journal.jsonl", KEPT))
    runs = [[event["run"] for event in events if event["event"] == "run"] for events in (made, kept)]
    assert runs[0] == runs[1] and document["runs"]["n_done"] == len(runs[1])
    assert made[0]["machine"]["probe"] == "replay"
    assert {file.name for file in output.iterdir()} >= {"study.toml", "design.jsonl", "findings.json", "report.html"}
    host = sys.modules["replaying_host"]
    assert [spec.run.run for spec in host.ASKED] == runs[1]
    assert [dict(spec.run.configuration) for spec in host.ASKED] == host.HELD and len(host.CLOSED) == 1


def test_a_plan_is_made_for_it(replay: None, capsys: pytest.CaptureFixture[str]) -> None:
    study = str(ROOT / "studies" / "descriptor-cliff")
    assert _code(["plan", study, "--host", "replay"]) == 0
    assert "  host: replay, 2 CPUs" in capsys.readouterr().out.splitlines()
    assert len(sys.modules["replaying_host"].CLOSED) == 1
    assert _code(["plan", study, "--host", "replay", "--no-host"]) == 2


def test_a_host_is_closed_whatever_happens(monkeypatch: pytest.MonkeyPatch, replay: None) -> None:
    def busy(host: Host) -> LoadSample:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt), host_names.open_host("replay") as host:
        busy(host)
    assert len(sys.modules["replaying_host"].CLOSED) == 1
    refuses(StudyError, r'--host: no host "moon", expected one of local', host_names.connect, "moon")
