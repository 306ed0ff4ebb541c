"""A study that asks for break-even, from its file to its findings and back, on a simulated machine."""

import json
import math
import re
from contextlib import nullcontext
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from scalograph.cli import analyze_steps
from scalograph.design.search import run_plan
from scalograph.errors import Exit, HostError, StudyError
from scalograph.protocol import journal
from scalograph.protocol.findings import Findings
from scalograph.protocol.record import Record
from scalograph.questions.break_even.model_mean import comparison_space
from scalograph.run.plan import Plan, write_design
from scalograph.run.session import Session, run_session
from scalograph.study.levels import Run
from scalograph.study.load import parse
from tests.kit import simulated as searched
from tests.kit.findings import claim_of
from tests.kit.records import record
from tests.kit.simulated import Simulated, break_even_of
from tests.kit.studies import facts_of, plan_of

HOST = facts_of(8)
STUDY = """\
version = 1
name = "even"
title = "From where on?"
question = "break-even"
work = "total"
seed = 3
[workload]
command = ["true", "{version}", "{size}", "{workers}"]
[factors.version]
levels = ["sequential", "parallel"]
[factors.size]
levels = "16:65536:*2"
role = "size"
[factors.workers]
levels = [1, 2, 4, 8]
role = "workers"
[baseline]
version = "sequential"
[responses.wall]
from = "window.wall"
unit = "s"
"""
NUMBER = re.compile(r"[0-9][0-9,.]*[0-9]|[0-9]")
START, WORKER = 1000.0, 20.0


def line(workers: int) -> float:
    """The size at which both are as fast."""
    return (START + WORKER * workers) / (1 - 1 / workers)


@dataclass
class Machine(Simulated):
    """A host on which starting costs as much as 1000 elements, and each worker as much as 20."""

    noise: float = 0.02
    failing_from: int = 1 << 30
    failing_workers: int = 0
    busy: tuple[int, ...] = ()

    def measure(self, run: Run) -> Record:
        self.made.append(run)
        n, p = int(run.configuration["size"]), int(run.configuration["workers"])
        parallel = run.configuration["version"] in ("parallel", 2)
        n *= int(run.configuration.get("cost", 1))
        wall = (START + WORKER * p + n / p if parallel else n) * 1e-4
        wall *= math.exp(self.noise * math.sin(12.9898 * len(self.made)))
        failing = parallel and (n >= self.failing_from or p == self.failing_workers)
        status = "failed" if failing else "ok"
        disturbed = 0.5 * wall if len(self.made) in self.busy else 0.0
        return record(wall, wall, cpus=(0, 1), status=status, neighbor_s=disturbed)


def planned(folder: Path, text: str = STUDY) -> Plan:
    return plan_of(folder, text, HOST)


def run(folder: Path, machine: Machine, text: str = STUDY) -> tuple[Session, Findings]:
    return searched.run(folder, machine, text, HOST)


def cases(found: Findings) -> dict[str, dict[str, Any]]:
    return {case.case: case.values for case in claim_of(found).cases}


def rows_of(found: Findings) -> dict[str, str]:
    matrix = claim_of(found).matrix
    assert matrix is not None
    return {row.label: row.cells[0].text for row in matrix.rows}


Searched = tuple[Machine, Session, Findings]


@pytest.fixture(scope="module")
def plain(tmp_path_factory: pytest.TempPathFactory) -> Searched:
    """The search as it is declared above, on a machine that knows no surprises."""
    machine = Machine()
    return machine, *run(tmp_path_factory.mktemp("plain"), machine)


def test_the_line_is_found_with_an_interval_that_holds_it(plain: Searched) -> None:
    machine, done, found = plain
    even = break_even_of(found)
    assert done.reason == "complete" and even is not None and even.decided
    assert even.n == len(machine.made) / 2 <= 30
    assert even.shares["undecided"] == 0 and even.shares["wins"] > 0.2 and even.shares["loses"] > 0.4
    (one,) = even.maps
    kinds = {line.level: line.kind for line in one.lines}
    assert kinds == {1: "never", 2: "from", 4: "from", 8: "from"}
    for found_line in one.lines[1:]:
        assert found_line.location == pytest.approx(line(int(found_line.level or 0)), rel=0.15)
        assert (found_line.low or 0) < line(int(found_line.level or 0)) < (found_line.high or 0)
    each = cases(found)["from each"]
    assert (each["first"], each["last"]) == ("8 workers", "2 workers")
    assert [e.value for e, _ in (each["least"], each["most"])] == [one.lines[3].location, one.lines[1].location]
    assert cases(found)["beside"] == {"never": ["1 worker"]} and claim_of(found).figure == "even"
    assert [*rows_of(found)] == ["1 worker", "2 workers", "4 workers", "8 workers"]
    assert rows_of(found)["1 worker"] == "never"
    assert analyze_steps.exit_code(found) == Exit.DONE


def test_versions_that_are_numbers_are_told_with_the_name_of_their_factor(tmp_path: Path) -> None:
    text = STUDY.replace('["sequential", "parallel"]', "[1, 2]").replace('version = "sequential"', "version = 1")
    _, found = run(tmp_path, Machine(), text)
    assert cases(found)["from each"].items() >= {"other": "version 2", "base": "version 1"}.items()


def test_every_number_of_the_claim_is_in_a_row_that_shows(plain: Searched) -> None:
    found = plain[-1]
    numbers = {x for text in claim_of(found).sentences for x in NUMBER.findall(text)}
    assert numbers and numbers <= {x for pair in rows_of(found).items() for text in pair for x in NUMBER.findall(text)}


def test_a_formula_says_which_product_pays(plain: Searched) -> None:
    found = plain[-1]
    assert break_even_of(found).formula is not None
    formula = break_even_of(found).formula
    assert formula.powers == {"size": pytest.approx(1, abs=0.1)}
    work = {levels["workers"]: product for levels, product in formula.work}
    assert work[1] is None
    assert (work[4] or 0) == pytest.approx(line(4) ** formula.powers["size"], rel=0.15)
    assert not any(text.startswith("As a formula") for text in found.answer)  # the lines say the same


def test_with_two_sizes_the_formula_is_told(tmp_path: Path) -> None:
    text = STUDY.replace("[baseline]", '[factors.cost]\nlevels = [1, 4, 16]\nrole = "size"\n[baseline]')
    _, found = run(tmp_path, Machine(), text.replace('"{workers}"]', '"{workers}", "{cost}"]'))
    assert len(break_even_of(found).maps) == 3
    assert any(text.startswith("As a formula: parallel is faster where size") for text in found.answer)


def test_where_a_whole_map_is_of_one_kind_its_levels_are_not_listed(tmp_path: Path) -> None:
    text = STUDY.replace("[baseline]", '[factors.cost]\nlevels = [1, 256]\nrole = "size"\n[baseline]')
    text = text.replace('"{workers}"]', '"{workers}", "{cost}"]').replace("16:65536:*2", "16:1024:*2")
    _, found = run(tmp_path, Machine(), text)
    assert cases(found)["never"]["who"] == ["cost 1", "1 worker"]
    assert {"cost 1", "1 worker"} <= {*rows_of(found)}


def test_each_pair_is_made_together_in_a_drawn_order(plain: Searched) -> None:
    machine = plain[0]
    steps = [machine.made[i : i + 2] for i in range(0, len(machine.made), 2)]
    for number, (first, second) in enumerate(steps):
        assert first.block == second.block == number
        assert {first.configuration["version"], second.configuration["version"]} == {"sequential", "parallel"}
        assert (first.configuration["size"], first.configuration["workers"]) == (
            second.configuration["size"],
            second.configuration["workers"],
        )
    begins = {first.configuration["version"] for first, _ in steps}
    assert begins == {"sequential", "parallel"}


def test_a_disturbed_run_is_made_again_beside_its_pair(tmp_path: Path) -> None:
    machine = Machine(busy=(4,))
    _, found = run(tmp_path, machine)
    names = [run.run for run in machine.made]
    assert names[2:6] == ["e0002", "e0003", "e0003r1", "e0004"]
    assert machine.made[3].configuration == machine.made[4].configuration and machine.made[4].block == 1
    assert break_even_of(found).n == (len(machine.made) - 1) / 2


def test_an_end_without_an_answer_is_a_doubt_and_a_resume_asks_the_same(tmp_path: Path) -> None:
    machine = Machine(noise=0.1)
    done, found = run(tmp_path, machine, STUDY + "[protocol]\nbudget_runs = 21\n")
    # A pair that would not end within the budget is not begun.
    assert (done.reason, len(machine.made)) == ("budget", 20)
    assert not break_even_of(found).decided
    assert "points open" in found.trust.codes
    assert analyze_steps.exit_code(found) == Exit.NO_ANSWER
    plan = planned(tmp_path / "study", STUDY)
    more = run_session(plan, done.results, machine, "probe", lambda *_: nullcontext(machine), [])
    whole = Machine(noise=0.1)
    run(tmp_path / "whole", whole)
    assert more.n_before == 20
    assert [(r.run, r.configuration) for r in machine.made] == [(r.run, r.configuration) for r in whole.made]


def test_a_point_that_fails_is_left_out(tmp_path: Path) -> None:
    done, found = run(tmp_path, Machine(failing_from=32768))
    notes = [event["text"] for event in journal.read(done.results.journal) if event["event"] == "note"]
    assert any(text.startswith("size 32768, workers ") and "failed 2 times: excluded" in text for text in notes)
    assert break_even_of(found).decided
    assert break_even_of(found).maps[0].lines[2].location == pytest.approx(line(4), rel=0.2)


def test_of_a_setting_where_all_pairs_fail_nothing_is_told(tmp_path: Path) -> None:
    text = STUDY.replace("[1, 2, 4, 8]", "[2, 4, 8, 64]")
    done, found = run(tmp_path, Machine(failing_workers=64), text)
    even = break_even_of(found)
    assert done.reason == "complete" and even is not None and even.decided
    last = even.maps[0].lines[-1]
    assert (last.level, last.kind, last.location, last.low) == (64, "unmeasured", None, None)
    assert rows_of(found)["64 workers"] == "not measured"
    assert cases(found)["beside"] == {"unmeasured": ["64 workers"]}
    assert [line.kind for line in even.maps[0].lines[:-1]] == ["from"] * 3
    assert even.formula is not None and [levels["workers"] for levels, _ in even.formula.work] == [2, 4, 8]


def test_start_points_that_fail_are_stood_in_for(tmp_path: Path) -> None:
    text = STUDY.replace('levels = [1, 2, 4, 8]\nrole = "workers"', "levels = [4]")
    done, found = run(tmp_path, Machine(failing_from=8192), text)
    even = break_even_of(found)
    assert done.reason == "complete" and even is not None and even.decided
    assert even.maps[0].lines[0].location == pytest.approx(line(4), rel=0.2)


@dataclass
class Cutoff(Machine):
    """The parallel version is slower up to 1000, and then suddenly three times as fast."""

    def measure(self, run: Run) -> Record:
        self.made.append(run)
        wall = (
            (1.15 if run.configuration["size"] < 1000 else 0.37) if run.configuration["version"] == "parallel" else 1.0
        )
        wall *= math.exp(0.03 * math.sin(12.9898 * len(self.made)))
        return record(wall, wall, cpus=(0, 1))


@pytest.mark.parametrize("seed", range(4))
def test_beside_a_jump_nothing_wrong_is_told_for_sure(tmp_path: Path, seed: int) -> None:
    levels = ", ".join(str(round(2 ** (4 + 12 * i / 63))) for i in range(64))
    text = STUDY.replace('"16:65536:*2"', f"[{levels}]").replace("seed = 3", f"seed = {seed}")
    text = text.replace('levels = [1, 2, 4, 8]\nrole = "workers"', "levels = [4]")
    _, found = run(tmp_path, Cutoff(), text)
    (told,) = break_even_of(found).maps[0].lines
    if break_even_of(found).decided:
        assert told.kind == "from" and (told.low or 0) < 1000 < (told.high or 0)
    else:
        assert analyze_steps.exit_code(found) == Exit.NO_ANSWER


@dataclass
class Alike(Machine):
    """Both versions are the same program."""

    def measure(self, run: Run) -> Record:
        self.made.append(run)
        wall = math.exp(0.06 * math.sin(12.9898 * len(self.made)))
        return record(wall, wall, cpus=(0, 1))


@pytest.mark.parametrize("seed", [3, 4, 5])
def test_of_two_that_are_alike_neither_wins(tmp_path: Path, seed: int) -> None:
    _, found = run(tmp_path, Alike(), STUDY.replace("seed = 3", f"seed = {seed}"))
    assert {line.kind for line in break_even_of(found).maps[0].lines} <= {"never", "undecided"}


def test_what_is_known_of_a_setting_that_is_open_is_told(tmp_path: Path) -> None:
    _, found = run(tmp_path, Machine(noise=0.5), STUDY + "[protocol]\nbudget_runs = 30\n")
    assert not break_even_of(found).decided
    lines = [row for row in break_even_of(found).maps[0].lines if row.kind == "undecided"]
    assert cases(found)["beside"]["undecided"] and "inconclusive" in rows_of(found).values()
    assert lines and found.trust.codes[0] == "points open" and "after 15 pairs" in found.trust.sentence
    assert "pairs differ" in found.trust.codes


@dataclass
class Middle(Machine):
    """Parallel wins in the middle of the range, and loses at its ends."""

    def measure(self, run: Run) -> Record:
        self.made.append(run)
        n = int(run.configuration["size"])
        ratio = 3 * (16 / n) ** 0.35 + (n / 65536) ** 2 * 1.2
        wall = ratio if run.configuration["version"] == "parallel" else 1.0
        wall *= math.exp(0.02 * math.sin(12.9898 * len(self.made)))
        return record(wall, wall, cpus=(0, 1))


def test_where_it_wins_in_the_middle_no_line_goes_on_for_ever(tmp_path: Path) -> None:
    text = STUDY.replace('levels = [1, 2, 4, 8]\nrole = "workers"', "levels = [4]")
    _, found = run(tmp_path, Middle(), text)
    (one,) = break_even_of(found).maps[0].lines
    assert one.kind == "several" or (one.kind == "from" and one.sure_to is not None and one.sure_to < 65536)
    assert "several" in cases(found) or cases(found)["from"]["sure"]


def test_the_design_holds_the_pairs_that_are_known_in_advance(tmp_path: Path) -> None:
    plan = planned(tmp_path / "study")
    write_design(plan, tmp_path / "design.jsonl")
    head, *runs = map(json.loads, (tmp_path / "design.jsonl").read_text().splitlines())
    assert (head["question"], len(runs)) == ("break-even", 16)
    assert [run["block"] for run in runs] == [i // 2 for i in range(16)]


def test_levels_may_be_real_and_linear(tmp_path: Path) -> None:
    text = STUDY.replace(
        'levels = [1, 2, 4, 8]\nrole = "workers"', 'levels = [2]\n[factors.load]\nlevels = "0:8"\nscale = "linear"'
    )
    text = text.replace('"{workers}"]', '"{workers}", "{load}"]')
    _, found = run(tmp_path, Machine(), text)
    assert break_even_of(found).decided
    (one,) = break_even_of(found).maps
    assert (one.x, one.y, one.y_levels) == ("size", "load", [*map(float, range(9))])
    assert all(row.location == pytest.approx(line(2), rel=0.25) for row in one.lines)


@pytest.mark.parametrize(
    ("old", "new", "told"),
    [
        ('version = "sequential"\n', "", "baseline: none, expected the version that the other one is compared with"),
        (
            '["sequential", "parallel"]',
            '["sequential", "parallel", "both"]',
            "factors.version.levels: 3 levels, expected two",
        ),
        ('"16:65536:*2"', '"0:9"', "factors.size.levels: level 0, expected numbers above 0"),
        ("[1, 2, 4, 8]", '["few", "many"]', "factors.workers.levels: level 'few', expected numbers above 0"),
        ('role = "workers"', 'role = "workers"\nscale = "linear"', "factors.workers.scale: linear beside a role"),
        ("[responses.wall]", "[protocol]\nruns = 3\n[responses.wall]", "protocol.runs: in a search"),
        ('"break-even"', '"sweep"', "factors.size.role: outside break-even"),
    ],
)
def test_what_cannot_be_compared_is_refused_when_it_is_declared(old: str, new: str, told: str) -> None:
    with pytest.raises(StudyError) as caught:
        parse(STUDY.replace(old, new))
    assert told in str(caught.value)


def test_a_version_that_the_host_refuses_is_missing_in_words(tmp_path: Path) -> None:
    text = STUDY.replace(
        '["sequential", "parallel"]', '["other", "fifo:10"]\ncontrol = "policy"\nif_granted = ["fifo:10"]'
    )
    text = text.replace('version = "sequential"', 'version = "other"').replace('"{version}", ', "")
    with pytest.raises(HostError, match=r"policy fifo:10 is refused here, expected a level of version"):
        run_plan(plan_of(tmp_path, text, HOST.model_copy(update={"granted_priority": 0})).design)


def test_too_many_points_are_refused(tmp_path: Path) -> None:
    with pytest.raises(StudyError, match="12288 points along size, workers"):
        planned(tmp_path / "study", STUDY.replace('"16:65536:*2"', '"1:3072"'))


def test_what_is_decided_but_not_confirmed_says_how_many_pairs_are_missing(plain: Searched, tmp_path: Path) -> None:
    whole = plain[-1]
    assert break_even_of(whole).decided
    _, found = run(tmp_path, Machine(), STUDY + f"[protocol]\nbudget_runs = {2 * (break_even_of(whole).n - 2) + 1}\n")
    assert not break_even_of(found).decided
    n, more = break_even_of(found).n, break_even_of(whole).n - break_even_of(found).n
    assert found.trust.causes == [f"{n} pairs decide the whole range; {more} more would confirm it"]


def test_names_that_a_host_spells_out_are_no_points_of_a_line() -> None:
    """All JVMs of a host, say: only there it shows that they are several."""
    configurations = [
        {"version": v, "size": 16, "workers": w} for v in ("sequential", "parallel") for w in ("a", "b", "c")
    ]
    with pytest.raises(StudyError, match=r"factors\.workers: level 'a' of several, expected numbers"):
        comparison_space(parse(STUDY), configurations)
