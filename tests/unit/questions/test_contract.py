"""What every question and every reading promises, whichever it is: from a study that asks it to the page that shows it.

A further one is a row of `ASKED`, and the rows of what its `check` refuses.
"""

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from importlib.util import find_spec
from io import StringIO
from pathlib import Path
from typing import Any, get_args

import pytest
from rich.console import Console

from scalograph.cli import analyze_steps
from scalograph.errors import Exit
from scalograph.protocol.figure import Figure
from scalograph.protocol.findings import Findings
from scalograph.protocol.record import Record
from scalograph.questions.registry import (
    QUESTIONS,
    READINGS,
    Basis,
    answering_questions,
    basis,
    is_search,
    role,
    roles_present,
)
from scalograph.report.html import page
from scalograph.report.screen import screen
from scalograph.report.terminal_first import render_first
from scalograph.run.session import Session
from scalograph.study.levels import Configuration
from scalograph.study.load import parse
from tests.kit import records, simulated
from tests.kit.findings import check_claim, claim_of
from tests.kit.refusals import mistakes
from tests.kit.shown_numbers import check_numbers
from tests.kit.studies import a_study
from tests.unit.report.test_html import Elements, unpacked

N_CPUS = 4
WALL = {"wall": {"from": "window.wall", "unit": "s"}}
RATE = {"rate": {"from": "value.rate", "unit": "1/s", "better": "higher"}}
WITHIN = {"wall": {"from": "window.wall", "unit": "s", "limit": 2.0}}
QUOTAS = [round(0.1 * 1.02**n, 4) for n in range(152)]
P90 = {"p90": {"from": "value.p90_ns", "unit": "ns", "limit": 2e9}}
# What a module of a role has at least.
PROMISED = {
    "check": {"BASIS", "mistakes"}, "answer": {"answer"}, "plan": {"plan"}, "chart": {"figures"},
    "find": {"OPTIONS", "figures"}, "published": {"QUANTITIES", "quantities"},
}  # fmt: skip


def driven(levels: Configuration, _: float) -> dict[str, float]:
    """What a load generator reports of a server of 100 requests a second."""
    clients = int(levels["clients"])
    rate = min(50.0 * clients, 100.0)
    took = clients / rate * 1e9
    return {
        "rate": rate, "requests": 10 * rate, "errors": 0, "mean_ns": took, "p50_ns": took, "p90_ns": took,
        "p99_ns": took, "in_flight": clients, "clients": clients, "cycle_ns": 0, "late_share": 0, "threads": 1,
        "driver_cpu_ns": 1e8,
    }  # fmt: skip


def queued(levels: Configuration, wall: float) -> dict[str, float]:
    """Response times of a server that is full at 500 requests a second; `wall` is 1 s and its noise."""
    rate = int(levels["rate"])
    return {"p90_ns": wall * 1e9 * (0.4 / (1 - rate / 500) if rate < 499 else 400)}


def forked(levels: Configuration) -> float:
    """A version that starts four workers, whose start costs as much as 1000 elements."""
    n = int(levels["size"])
    return 1e-4 * (1000 + n / 4 if levels["version"] == "parallel" else n)


@dataclass(frozen=True)
class Asked:
    """A study that asks, and the machine that answers: seconds, values and busy CPUs of a run by its levels."""

    text: str
    seconds: Callable[[Configuration], float]
    values: Callable[[Configuration, float], Mapping[str, float]] = lambda levels, wall: {}
    busy: Callable[[Configuration], float] = lambda levels: 1.0


ASKED: dict[str, Asked] = {
    "sweep": Asked(
        a_study({"threads": "1,2,4", "lock": ["none", "cas"]}, baseline={"threads": 1}, responses=WALL,
                protocol={"runs": 5}),
        lambda levels: 1.0 if levels["lock"] == "cas" else 1 / int(levels["threads"]),
    ),
    "effective-cpus": Asked(
        a_study({"cpus": {"control": "cpus", "levels": "1:all"}}, question="effective-cpus", responses=WALL),
        lambda levels: 1 / min(int(levels["cpus"]), 2), busy=lambda levels: min(int(levels["cpus"]), 2),
    ),
    "cliff": Asked(
        a_study({"threads": "1:512"}, question="cliff", responses=WALL),
        lambda levels: 2.0 if int(levels["threads"]) >= 220 else 1.0,
    ),
    "break-even": Asked(
        a_study({"version": ["sequential", "parallel"], "size": {"levels": "16:65536:*2", "role": "size"}},
                question="break-even", baseline={"version": "sequential"}, responses=WALL),
        forked,
    ),
    "throughput": Asked(
        a_study({"clients": [1, 2, 4, 8]}, question="throughput", responses=RATE, protocol={"runs": 3}),
        lambda levels: 10.0, driven,
    ),
    "within-limit": Asked(
        a_study({"rate": "10:1000:+5"}, question="within-limit", responses=P90), lambda levels: 1.0, queued,
    ),
    "tunables": Asked(
        a_study({"a": [20, 40, 80], "b": ["off", "on"], "c": [1, 2, 3]}, question="tunables", responses=WALL),
        lambda levels: 0.9 if levels["a"] == 80 else 1.0,
    ),
    "size": Asked(
        a_study({"quota": {"control": "quota", "levels": QUOTAS}}, question="size", responses=WITHIN),
        lambda levels: 1 / float(levels["quota"]),
    ),
    "commit": Asked(
        a_study({"version": [f"v{i}" for i in range(30)]}, question="commit", responses=WALL),
        lambda levels: 1.2 if int(str(levels["version"])[1:]) >= 17 else 1.0,
    ),
    "best": Asked(
        a_study({"threads": "1:16", "option": ["-O2", "-O3"]}, question="best", responses=WALL),
        lambda levels: (1 / int(levels["threads"]) + 0.02 * int(levels["threads"])) * (
            0.9 if levels["option"] == "-O3" else 1.0
        ),
    ),
    "versions": Asked(
        a_study({"version": ["1.0", "1.1"]}, reference={"version": "1.0"}, responses=WALL, protocol={"runs": 8}),
        lambda levels: 0.8 if levels["version"] == "1.1" else 1.0,
    ),
    "parallel-build": Asked(
        a_study({"jobs": [1, 2, 4]}, command="make -j{jobs}", baseline={"jobs": 1}, responses=WALL,
                protocol={"runs": 5}),
        lambda levels: 1 / min(int(levels["jobs"]), 2),
    ),
    "surface": Asked(
        a_study({"copies": [1, 2, 3, 4, 6, 8], "cpus": {"control": "cpus", "levels": [1, 2]}}, work="per-worker",
                workload={"copies": "{copies}"}, command="true", baseline={"copies": 1}, responses=WALL,
                protocol={"runs": 3}),
        lambda levels: max(1.0, int(levels["copies"]) / int(levels["cpus"])),
    ),
    "levels": Asked(
        a_study({"option": ["O0", "O2"]}, responses=WALL, protocol={"runs": 5}),
        lambda levels: 2.0 if levels["option"] == "O0" else 1.0,
    ),
}  # fmt: skip
# Each folder once: a sweep is asked by a study, and a reading of others.
NAMES = [*QUESTIONS, *(name for name, folder in READINGS.items() if folder not in QUESTIONS.values())]
SEARCHES = [name for name in QUESTIONS if is_search(name)]


@dataclass(kw_only=True)
class Machine(simulated.Machine):
    """The machine of a study, whose runs report values and busy CPUs too."""

    asked: Asked

    def record(self, levels: Configuration, wall: float, **figures: Any) -> Record:
        values = {name: [float(value)] for name, value in self.asked.values(levels, wall).items()}
        cpu_s = wall * self.asked.busy(levels)
        return records.record(wall, cpu_s, cpus=(0, 1, 2, 3), values=values or None, **figures)


def machine_of(name: str, **more: Any) -> Machine:
    return Machine(seconds=ASKED[name].seconds, asked=ASKED[name], **more)


Answered = tuple[Machine, Session, Findings]
Asking = Callable[[str], Answered]


@pytest.fixture(scope="module")
def asking(tmp_path_factory: pytest.TempPathFactory) -> Asking:
    """Each study as it is declared, run once for all tests that look at it."""
    answered: dict[str, Answered] = {}

    def ask(name: str) -> Answered:
        if name not in answered:
            machine, folder = machine_of(name), tmp_path_factory.mktemp("asked")
            answered[name] = machine, *simulated.run(folder, machine, ASKED[name].text, N_CPUS)
        return answered[name]

    return ask


def budgeted(text: str, n_runs: int) -> str:
    return f"{text}[protocol]\nbudget_runs = {n_runs}\n"


@pytest.mark.parametrize("name", NAMES)
def test_its_roles_have_what_is_asked_of_them(name: str) -> None:
    assert ASKED.keys() == {*NAMES}
    folder = {**READINGS, **QUESTIONS}[name]
    present = {module for module in PROMISED if find_spec(f"{folder}.{module}") is not None}
    for module in present:
        assert PROMISED[module] <= {*dir(role(name, module))}, module
    assert "answer" in present and (name not in QUESTIONS or "check" in present)
    assert folder not in READINGS.values() or hasattr(role(name, "answer"), "applies")
    assert name not in QUESTIONS or (basis(name) in get_args(Basis) and name in {*answering_questions(name), "sweep"})


@pytest.mark.parametrize("name", NAMES)
def test_a_study_runs_as_planned_and_is_answered(name: str, asking: Asking) -> None:
    machine, done, found = asking(name)
    assert done.reason == "complete" and found.runs.n_asked == found.runs.n_done == len(machine.made)
    assert len({run.run for run in machine.made}) == len(machine.made)
    head, *planned = map(json.loads, done.results.design.read_text().splitlines())
    assert planned and head.get("question") == (name if name in SEARCHES else None)
    first = [(run.run, dict(run.configuration), run.block) for run in machine.made[: len(planned)]]
    assert [(line["run"], line["configuration"], line["block"]) for line in planned] == first
    assert analyze_steps.exit_code(found) == Exit.DONE
    part = found.parts["scaling" if name == "sweep" else name]
    assert part.applies == "" and part.decided is (True if name in SEARCHES else None)


@pytest.mark.parametrize("name", NAMES)
def test_its_claim_is_three_sentences_at_most_above_a_small_matrix(name: str, asking: Asking) -> None:
    claim = claim_of(asking(name)[-1])
    assert claim.answered
    check_claim(claim)
    check_numbers(claim)


@pytest.mark.parametrize("name", NAMES)
def test_its_tables_have_a_cell_for_each_column(name: str, asking: Asking) -> None:
    tables = asking(name)[-1].tables
    assert tables and len({table.id for table in tables}) == len(tables)
    assert {len(row) - len(table.columns) for table in tables for row in table.rows} == {0}
    assert {table.question for table in tables} <= {"", *QUESTIONS, *READINGS}


@pytest.mark.parametrize("name", NAMES)
def test_its_document_and_charts_are_plain_json(name: str, asking: Asking) -> None:
    found = asking(name)[-1]
    text = found.model_dump_json()
    assert Findings.model_validate_json(text).model_dump_json() == text
    drawn = role(name, "chart").figures(found) if name in roles_present("chart") else []
    assert bool(drawn) == (name in roles_present("chart"))
    charts = [chart for chart in drawn if isinstance(chart, Figure)]
    assert len({chart.id for chart in charts}) == len(charts)
    for plot in (plot for chart in charts for view in chart.views for plot in view.plots):
        plain = {"data": plot.data, "layout": plot.layout}
        assert json.loads(json.dumps(plain, allow_nan=False)) == plain and plot.data and plot.label
    if name in roles_present("find"):
        json.dumps(role(name, "find").figures(found), allow_nan=False)


@pytest.mark.parametrize("name", NAMES)
def test_terminal_and_page_show_its_words(name: str, asking: Asking) -> None:
    found = asking(name)[-1]
    terminal = StringIO()
    render_first(screen(found), Console(file=terminal, width=200))
    charts = analyze_steps.draw_charts(found)
    html = page(found, charts)
    shown = [" ".join(text.split()) for text in (terminal.getvalue(), " ".join(Elements(html).texts))]
    assert [text for text in claim_of(found).sentences for words in shown if text not in words] == []
    drawn = json.dumps(unpacked(html))
    assert [chart.caption for chart in charts if json.dumps(chart.caption) not in drawn] == []


# So many runs are made within a budget of so many: a pair that would not end within it is not begun.
@pytest.mark.parametrize(
    ("name", "budget", "n_made"),
    [
        ("effective-cpus", 4, 4),
        ("cliff", 13, 13),
        ("break-even", 11, 10),
        ("within-limit", 4, 4),
        ("size", 4, 4),
        ("tunables", 20, 20),
        ("commit", 17, 16),
        ("best", 12, 12),
    ],
)
def test_a_search_that_a_budget_ends_has_no_answer_and_goes_on_as_if_there_had_been_none(
    name: str, budget: int, n_made: int, asking: Asking, tmp_path: Path
) -> None:
    machine = machine_of(name)
    done, found = simulated.run(tmp_path, machine, budgeted(ASKED[name].text, budget), N_CPUS)
    assert (done.reason, len(machine.made), found.parts[name].decided) == ("budget", n_made, False)
    assert found.trust.causes or found.trust.points
    assert analyze_steps.exit_code(found) == Exit.NO_ANSWER
    again, resumed = simulated.resume(done, machine, ASKED[name].text, N_CPUS)
    whole, _, answered = asking(name)
    assert (again.reason, again.n_before) == ("complete", n_made)
    assert [(r.run, r.configuration) for r in machine.made] == [(r.run, r.configuration) for r in whole.made]
    assert resumed.parts[name] == answered.parts[name]


@pytest.mark.parametrize("name", SEARCHES)
def test_a_run_count_is_no_part_of_a_search(name: str) -> None:
    refused = mistakes(parse, f"{ASKED[name].text}[protocol]\nruns = 9\n")
    assert any("protocol.runs: in a search, expected none" in text for text in refused), refused


END, PROTOCOL = "[workload]", "[protocol]"  # what is written before them joins the study
ONE_OF_SEVERAL = "factors of several levels, expected one: one program is searched"


@pytest.mark.parametrize(("name", "old", "new", "message"), [
    ("effective-cpus", END, f"[factors.gc]\nlevels = [1, 2]\n{END}",
     "factors: 2 factors of several levels: cpus, gc"),
    ("effective-cpus", '"1:all"', "[4]", f"factors: 0 {ONE_OF_SEVERAL}"),
    ("effective-cpus", 'control = "cpus"', 'control = "nice"',
     "factors.cpus.control: levels of nice, expected control ="),
    ("effective-cpus", 'control = "cpus"\nlevels = "1:all"', 'levels = ["a", 2]',
     "factors.cpus.levels: level 'a', expected counts"),
    ("effective-cpus", "effective-cpus", "effective", "question: found 'effective', expected"),
    ("cliff", '"1:512"', "[4]", f"factors: 0 {ONE_OF_SEVERAL}"),
    ("cliff", '"1:512"', '"0:9"', "factors.threads.levels: level 0, expected counts from 1 on"),
    ("commit", END, f"[factors.n]\nlevels = [1, 2]\n{END}", "factors: 2 factors of several levels: version, n"),
    ("break-even", 'version = "sequential"\n', "",
     "baseline: none, expected the version that the other one is compared with"),
    ("break-even", '["sequential", "parallel"]', '["sequential", "parallel", "both"]',
     "factors.version.levels: 3 levels, expected two"),
    ("break-even", '"16:65536:*2"', '"0:9"', "factors.size.levels: level 0, expected numbers above 0"),
    ("break-even", '"16:65536:*2"', '["few", "many"]',
     "factors.size.levels: level 'few', expected numbers above 0"),
    ("break-even", 'role = "size"', 'role = "size"\nscale = "linear"', "factors.size.scale: linear beside a role"),
    ("break-even", '"break-even"', '"sweep"', "factors.size.role: outside break-even"),
    ("throughput", '"value.rate"', '"run.cpu"', "no rate"), ("throughput", '"value.rate"', "[1]", "no rate"),
    ("throughput", PROTOCOL, f'[responses.wall]\nfrom = "window.wall"\n{PROTOCOL}', "a wall time"),
    ("throughput", "[1, 2, 4, 8]", '[1, 2, 4, 8]\nrole = "size"', "outside break-even"),
    ("within-limit", "limit = 2000000000.0\n", "", "0 with a limit"),
    ("within-limit", "[responses.p90]", '[responses.rate]\nfrom = "value.rate"\nbetter = "higher"\n[responses.p90]',
     "after another"),
    ("within-limit", "limit = 2", 'better = "higher"\nlimit = 2', "higher, with a limit"),
    ("within-limit", "2000000000.0", "0", "greater than 0"),
    ("within-limit", '"within-limit"', '"cliff"', "outside within-limit and size"),
    ("size", "limit = 2.0\n", "", "0 with a limit"),
    ("size", "[factors.quota]", "[factors.share]", "several levels of share, expected of quota"),
    ("size", "0.1,", "0,", "level 0, expected numbers above 0: CPUs, or MiB"),
])  # fmt: skip
def test_what_it_cannot_answer_is_refused_when_it_is_declared(name: str, old: str, new: str, message: str) -> None:
    refused = mistakes(parse, ASKED[name].text.replace(old, new))
    assert any(message in text for text in refused), refused


@pytest.mark.parametrize(
    ("name", "number"),
    [
        ("cliff", 5),
        ("break-even", 4),
        ("effective-cpus", 3),
        ("within-limit", 3),
        ("commit", 4),
        ("commit", 12),
        ("size", 3),
    ],
)
def test_a_disturbed_run_of_a_search_is_made_again_and_does_not_count(name: str, number: int, tmp_path: Path) -> None:
    """It stands beside its pair, where it is one of a pair."""
    machine = machine_of(name, disturbed=(number,))
    _, found = simulated.run(tmp_path, machine, ASKED[name].text, N_CPUS)
    first, again = machine.made[number - 1 : number + 1]
    assert found.runs.verdicts["disturbed"] == 1 and again.run == f"{first.run}r1"
    assert found.runs.verdicts["clean"] == len(machine.made) - 1 and found.parts[name].decided
    assert (again.configuration, again.block) == (first.configuration, first.block)
