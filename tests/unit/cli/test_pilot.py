"""`--pilot` and `plan --earlier` from a study to the lines that go into it, on a host that measures nothing."""

import json
import tomllib
from collections.abc import Callable
from contextlib import nullcontext
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from scalograph.cli import pipeline, plan_command
from scalograph.cli.options import StartOptions
from scalograph.cli.pipeline import StudyStart
from scalograph.cli.start import start
from scalograph.errors import Exit
from scalograph.protocol.record import Record
from scalograph.run.hosts.local.local_host import LocalHost
from scalograph.run.plan import plan
from scalograph.run.session import Session, begin, run_session
from scalograph.study.declare import Declared, declare
from scalograph.study.levels import Run
from tests.kit.records import record
from tests.kit.results import records_in
from tests.kit.simulated import Simulated
from tests.kit.studies import a_study, facts_of, write_study

STUDY = a_study(
    {"n": "1,2,4"}, command="true {n} {iterations}", name="small", workload={"events": True}, baseline={"n": 1},
    protocol={"runs": 7, "iterations": 2, "timeout": "10s"},
)  # fmt: skip
HOST = facts_of()


Piloted = Callable[..., tuple[int, Any]]


@dataclass(kw_only=True)
class Measuring(Simulated):
    """A host whose runs differ by 3% and their iterations by 2%; also who is told of them."""

    iterations: int
    status: str
    rng: np.random.Generator = field(default_factory=lambda: np.random.default_rng(2))

    def measure(self, run: Run) -> Record:
        walls = 1e-3 * np.exp(0.03 * self.rng.standard_normal() + 0.02 * self.rng.standard_normal(self.iterations))
        found = [(float(wall), float(wall), 7) for wall in walls]
        return record(float(walls.sum()), float(walls.sum()), status=self.status, reason="x", iterations=found)


@pytest.fixture
def study(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(LocalHost, "facts", lambda self: HOST)
    monkeypatch.setattr(pipeline, "run_declared", run_declared())
    return write_study(tmp_path, STUDY)


def run_declared(status: str = "ok", reason: str | None = None) -> Callable[..., Session]:
    """`pipeline.run_declared` without a machine."""

    def run(declared: Declared, start: StudyStart) -> Session:
        planned = plan(declared, HOST)
        session = begin(planned, start.folder)
        machine = Measuring(iterations=declared.study.protocol.iterations, status=status)
        done = run_session(planned, session, machine, "probe", lambda *_: nullcontext(machine), None)
        return replace(done, reason=reason or done.reason)

    return run


def command(file: Path, **options: Any) -> int:
    """`run --pilot`, in this process."""
    return start(declare(file), StartOptions(pilot=True, **options), ["scalograph", "run", str(file)], report=False)


@pytest.fixture
def piloted(study: Path, capsys: pytest.CaptureFixture[str]) -> Piloted:
    """`run --pilot --json` of a study: its exit code and the document."""

    def run(**options: Any) -> tuple[int, Any]:
        code = command(study, json=True, **options)
        return code, json.loads(capsys.readouterr().out)

    return run


def test_it_runs_a_few_apart_and_proposes(piloted: Piloted, study: Path, capsys: pytest.CaptureFixture[str]) -> None:
    code, document = piloted()
    assert code == Exit.DONE
    folder = Path(document["results"])
    assert folder.parent == Path("scalograph-results/small-pilot")
    records = records_in(folder)
    assert len(records) == 10 == document["n_runs"]
    assert {len(record["iterations"][0]["index"]) for record in records} == {5}
    assert [offer["precision"] for offer in document["offers"]] == [0.01, 0.02, 0.05]
    narrowest = document["offers"][0]
    assert tomllib.loads(document["toml"]) == {"protocol": {key: narrowest[key] for key in ("runs", "iterations")}}
    assert command(study) == Exit.DONE
    out = capsys.readouterr().out
    assert "small: 10 runs of 2 configurations" in out
    assert all(f"+-{percent}%" in out for percent in (1, 2, 5)) and "[protocol]\nruns = " in out


def test_plan_proposes_the_same_in_budget(study: Path, piloted: Piloted, capsys: pytest.CaptureFixture[str]) -> None:
    plan_command.command(study, json=True)
    assert "proposal" not in json.loads(capsys.readouterr().out)
    _, document = piloted()
    plan_command.command(study, earlier=Path(document["results"]), json=True)
    proposal = json.loads(capsys.readouterr().out)["proposal"]
    assert proposal == {key: value for key, value in document.items() if key != "results"}
    plan_command.command(study, earlier=Path(document["results"]))
    assert document["toml"] in capsys.readouterr().out
    _, document = piloted(budget="1ms")
    assert tomllib.loads(document["toml"])["protocol"]["runs"] == document["offers"][-1]["runs"]
    command(study, budget="1ms")
    assert "For +-5%, put into the study (more than its time limit, 1 ms):" in capsys.readouterr().out


def test_pilots_that_fail_or_are_interrupted_propose_nothing(
    piloted: Piloted, monkeypatch: pytest.MonkeyPatch, study: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(pipeline, "run_declared", run_declared("failed"))
    code, document = piloted()
    assert (code, document["offers"], document["toml"]) == (Exit.CONFIGURATION_FAILED, [], None)
    left_out, few = document["warnings"]
    assert left_out == "10 of 10 runs are excluded: disturbed or failed"
    assert few.startswith("inconclusive: no configuration has 2 ")
    monkeypatch.setattr(pipeline, "run_declared", run_declared(reason="interrupted"))
    assert command(study) == Exit.INTERRUPTED and "runs of" not in capsys.readouterr().out
