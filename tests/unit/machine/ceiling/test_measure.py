"""The ceiling from records, without a run; and what is kept of it."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from scalograph.errors import StudyError
from scalograph.machine.ceiling import saved_ceiling
from scalograph.machine.ceiling.saved_ceiling import RUNS, SavedCeiling, machine_ceiling, read_ceiling
from scalograph.protocol.facts import HostFacts
from scalograph.protocol.machine_ceiling import WORDS, Ceiling, Timed
from scalograph.protocol.record import Record
from scalograph.run.hosts.base import ProbeProgram
from scalograph.run.hosts.local.local_host import LocalHost
from scalograph.run.loop import NullProgress, Progress
from scalograph.run.session import run_in_memory
from scalograph.study.levels import Run
from scalograph.verdict.judge import Judgment
from tests.kit.records import record
from tests.kit.refusals import refuses
from tests.kit.studies import facts_of
from tests.unit.control.trees import write
from tests.unit.machine.ceiling.made import ceiling, timed


def host_of(n: int, **more: Any) -> HostFacts:
    return facts_of(n, cpu_model="AMD EPYC", **more)


TWO = host_of(2)


class Known(LocalHost):
    """A host with these facts, whose probe is a program that is there."""

    def __init__(self, facts: HostFacts) -> None:
        super().__init__(ProbeProgram(("/bin/true",)))
        self.facts = lambda: facts  # type: ignore[method-assign]


KNOWN = Known(TWO)


class Scaling:
    """A host on which each kind takes 0.2 s on one CPU and this on two; runs of `disturbed` kinds lose their CPU."""

    def __init__(self, disturbed: str = "", **status: str) -> None:
        self.disturbed, self.status, self.n = disturbed, status, 0

    def measure(self, run: Run) -> Record:
        self.n += 1
        kind, n = str(run.configuration["kind"]), int(run.configuration["cpus"])
        if kind in self.status:
            return record(status=self.status[kind], reason="no more processes")
        seconds = (0.2 if n == 1 else ON_TWO[kind]) * (1 + self.n % 3 / 1000)
        taken = 0.1 if kind == self.disturbed else 0.0
        cpus = tuple(range(n))
        return record(seconds + 0.01, seconds, neighbor_s=taken, cpus=cpus, iterations=[(seconds, seconds, 1)])


class Counted(NullProgress):
    """Progress that counts the runs that are done, and those that were left at the last."""

    n_done = n_left = 0

    def run_started(self, run: Run, n_left: int) -> None:
        self.n_left = n_left

    def run_finished(self, run: Run, found: Mapping[str, Any], judgment: Judgment) -> None:
        self.n_done, self.n_left = self.n_done + 1, self.n_left - 1


def shown(host: Scaling, progress: Progress | None = None) -> Ceiling:
    """The ceiling that the runs on two CPUs of this host show."""
    return saved_ceiling.build_ceiling(run_in_memory(saved_ceiling.plan_ceiling(TWO), host, progress))


ON_TWO = dict.fromkeys(WORDS, 0.1) | {"memory": 0.16, "lock": 0.5}


def test_each_kind_on_one_cpu_and_on_all_and_on_powers_of_two() -> None:
    found = shown(Scaling(), progress := Counted())
    assert set(found.kinds) == set(WORDS) and found.is_sound
    assert [part.n_cpus for part in found.kinds["memory"]] == [1, 2]
    speedups = [found.speedups(kind)[2].speedup.value for kind in ("memory", "lock")]
    assert speedups == pytest.approx([1.25, 0.4], rel=0.01)
    assert (progress.n_done, progress.n_left) == (2 * RUNS * len(WORDS), 0)
    for wanted, levels in ((None, {1, 2, 4, 6}), ([3], {1, 3})):
        planned = saved_ceiling.plan_ceiling(host_of(6), wanted)
        assert {configuration["cpus"] for configuration in planned.design.configurations} == levels
    refuses(StudyError, "needs 7 CPUs; this host has 6", saved_ceiling.plan_ceiling, host_of(6), [7])


def test_disturbed_runs_are_made_again_and_flagged_where_nothing_else_is_left() -> None:
    found = shown(Scaling(disturbed="fork"))
    fork = found.kinds["fork"]
    assert [(part.falls_back, part.n_disturbed, len(part.scores)) for part in fork] == [(True, 2 * RUNS, 2 * RUNS)] * 2
    assert not found.is_sound and not found.kinds["memory"][0].falls_back


def test_a_kind_that_fails_has_no_ceiling_and_an_interrupted_run_ends_it() -> None:
    found = shown(Scaling(fork="failed"))
    assert {part.n_failed for part in found.kinds["fork"]} == {RUNS}
    assert found.speedups("fork") == {} and found.speedups("memory")
    with pytest.raises(KeyboardInterrupt):
        shown(Scaling(**dict.fromkeys(WORDS, "interrupted")))


def test_another_baseline_and_scores_without_their_blocks() -> None:
    made = Ceiling(kinds={"memory": (timed(1, 0.4), timed(2, 0.2), timed(4, 0.1))})
    assert made.speedups("memory", 2)[4].speedup.value == pytest.approx(2, rel=0.01)
    assert made.speedups("memory", 3) == {} and made.speedups("none") == {}
    refuses(ValueError, "expected one for each of 1 scores", Timed, n_cpus=1, scores=(0.1,))
    assert SavedCeiling(key="x", ceiling=ceiling()).ceiling.is_sound


@pytest.fixture
def measuring(monkeypatch: pytest.MonkeyPatch) -> list[Ceiling]:
    """Ceilings that a measurement gives next."""
    given = [ceiling()]
    monkeypatch.setattr(saved_ceiling, "measure_ceiling", lambda host: given.pop(0))
    return given


@pytest.fixture
def environ(tmp_path: Path) -> dict[str, str]:
    return {"XDG_STATE_HOME": str(tmp_path)}


def test_kept_and_measured_anew_on_another_or_if_wanted(environ: dict[str, str], measuring: list[Ceiling]) -> None:
    first = machine_ceiling(KNOWN, environ=environ)
    assert first.warnings == () and measuring == []
    assert machine_ceiling(KNOWN, environ=environ) == first
    fresh, newer = ceiling({"arithmetic": 1.5}), ceiling({"arithmetic": 1.6})
    measuring += [fresh, newer]
    assert machine_ceiling(KNOWN, fresh=True, environ=environ) == fresh
    assert machine_ceiling(Known(host_of(2, kernel="7.0")), environ=environ) == newer
    others = [(TWO, "/bin/true"), (TWO, "/bin/sh"), (host_of(3), "/bin/true")]
    assert len({saved_ceiling.ceiling_key(facts, (probe,)) for facts, probe in others}) == 3


def test_disturbed_or_unwritable_is_not_kept(tmp_path: Path, environ: dict[str, str], measuring: list[Ceiling]) -> None:
    measuring.insert(0, Ceiling(kinds={"fork": (timed(1, 0.2, falls_back=True),)}))
    found = machine_ceiling(KNOWN, environ=environ)
    assert "not saved" in found.warnings[0] and read_ceiling(environ) is None
    (tmp_path / "scalograph").write_text("a file")
    (warning,) = machine_ceiling(KNOWN, environ=environ).warnings
    assert "cannot be written" in warning and "XDG_STATE_HOME" in warning


@pytest.mark.parametrize("text", ["", "{", '{"key": "x"}', json.dumps({"key": "x", "ceiling": {"kinds": {"a": [{}]}}})])
def test_what_cannot_be_read_is_nothing(environ: dict[str, str], text: str) -> None:
    write(saved_ceiling.ceiling_file(environ), text)
    assert read_ceiling(environ) is None
