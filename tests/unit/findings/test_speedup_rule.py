"""How configurations are compared: speedups, the precision that is asked for, and the effects that runs can show."""

import re
from pathlib import Path
from typing import Any

import pytest

from scalograph.analysis.stopping import SEQUENTIAL, Stopping
from scalograph.cli.analyze_steps import exit_code
from scalograph.design.grid import GridPlanner
from scalograph.design.resolve import design
from scalograph.design.search import run_plan
from scalograph.design.sequential import SequentialPlanner
from scalograph.design.stopping_rule import score, stopping
from scalograph.errors import StudyError
from scalograph.findings.visible_effect import detectable_percent
from scalograph.protocol.findings import Findings
from scalograph.protocol.plain import AnswerCase
from scalograph.study.load import parse
from tests.kit.findings import CONFIGURATIONS, JITTER, ONE_FACTOR, findings_of, point_at, texts
from tests.kit.records import record, recorded
from tests.kit.studies import VALID, facts_of

RATE = '\n[responses.rate]\nfrom = "value.rate"\nunit = "requests/s"\nbetter = "higher"\n'
MEMORY = '\n[responses.memory]\nfrom = "run.max_rss"\nunit = "bytes"\n'
REPORTED = '\n[responses.took]\nfrom = "value.rate"\nunit = "ms"\n'
SHARE = '\n[responses.share]\nfrom = "value.rate"\nunit = "%"\nbetter = "higher"\n'
PEAK = '\n[responses.peak]\nfrom = "value.rate"\nbetter = "none"\n'


def rates(tmp_path: Path, text: str, cpus: tuple[int, ...] = (0, 1)) -> Findings:
    """1, 2 and 3 times the rate at 1, 2 and 4 threads, however long the run."""
    truth = {1: 100.0, 2: 200.0, 4: 300.0}
    made = [
        ({"threads": n}, recorded(1.0, cpus=cpus, values={"rate": [j * x]})) for j in JITTER for n, x in truth.items()
    ]
    return findings_of(tmp_path, made, text)


def notes(found: Findings) -> str:
    """Of the configurations, without the effect that is visible."""
    (note,) = [t.note for t in found.tables if t.id == "configurations"]
    return re.sub(r"(\. )?Smallest detectable difference in .* \(n = \d+\)$", "", note)


def claim_case(found: Findings) -> AnswerCase:
    assert found.claim is not None
    return found.claim.cases[0]


def test_speedup_of_a_rate_is_the_rate_over_that_of_the_baseline(tmp_path: Path) -> None:
    found = rates(tmp_path, ONE_FACTOR + RATE)
    gain = point_at(found, 4).speedup
    assert gain and gain.value == pytest.approx(3.0) and gain.low and gain.low < 3.0
    assert notes(found) == "scaling factor = rate of the row over that at threads 1, the other factors equal"
    first = claim_case(found)
    assert (first.case, first.values["level"]) == ("gain", "2 threads"), "3× is more than two CPUs can give"
    assert first.values["gain"][0].value == pytest.approx(2.0)
    text = ONE_FACTOR.replace('"total"', '"per-worker"') + RATE
    gain = point_at(rates(tmp_path, text), 4).speedup
    assert gain and gain.value == pytest.approx(3.0)
    each = text.replace("[factors.threads]", 'copies = "{threads}"\n\n[factors.threads]')
    gain = point_at(rates(tmp_path, each), 4).speedup  # each copy reports its own rate
    assert gain and gain.value == pytest.approx(12.0)


@pytest.mark.parametrize("text", [MEMORY, SHARE, PEAK, PEAK + MEMORY], ids=["memory", "share", "none", "both"])
def test_no_speedup_of_what_is_neither_time_nor_rate(tmp_path: Path, text: str) -> None:
    found = rates(tmp_path, ONE_FACTOR + text)
    assert all(p.speedup is None for p in found.curves[0].points)
    assert notes(found).endswith("is neither an elapsed time nor a rate")
    assert not any("speedup" in text.lower() for text in found.answer)


def test_without_a_baseline_nothing_is_said_of_scaling_and_the_window_comes_first(tmp_path: Path) -> None:
    gain = point_at(
        rates(tmp_path, ONE_FACTOR + RATE + '\n[responses.wall]\nfrom = "window.wall"\nunit = "s"\n'), 2
    ).speedup
    assert gain and gain.value == pytest.approx(1.0)
    gain = point_at(rates(tmp_path, ONE_FACTOR + PEAK + REPORTED), 2).speedup
    assert gain and gain.value == pytest.approx(0.5)
    found = timed(tmp_path, ONE_FACTOR.replace("[baseline]\nthreads = 1\n", ""), "threads", {1: 1.0, 2: 0.5})
    first = claim_case(found)
    assert notes(found) == "" and first.case == "larger"
    assert [first.values[name] for name in ("response", "high", "low")] == ["wall time", "1 thread", "2 threads"]


def timed(tmp_path: Path, text: str, factor: str, truth: dict[Any, float]) -> Findings:
    made = [({factor: level}, recorded(j * x, cpus=(0, 1, 2, 3))) for j in JITTER for level, x in truth.items()]
    return findings_of(tmp_path, made, text)


def test_per_worker_work_multiplies_by_workers_and_not_by_cpus(tmp_path: Path) -> None:
    text = ONE_FACTOR.replace('"total"', '"per-worker"')
    found = timed(tmp_path, text, "threads", {1: 1.0, 2: 1.0, 4: 2.0})
    gain = point_at(found, 4).speedup
    assert gain and gain.value == pytest.approx(2.0)
    assert notes(found).startswith("scaling factor = threads times wall time at threads 1 over that of the row")
    text = ONE_FACTOR.replace('"total"', '"per-worker"').replace('"{threads}"', '"1"')
    text = text.replace("[factors.threads]\n", '[factors.cpus]\ncontrol = "cpus"\n').replace("threads = 1", "cpus = 1")
    found = timed(tmp_path, text, "cpus", {1: 2.0, 2: 1.0, 4: 0.5})
    gain = point_at(found, 4).speedup
    assert gain and gain.value == pytest.approx(4.0) and "times" not in notes(found)


@pytest.mark.parametrize(("declaration", "levels"), [
    ('levels = ["self", "child"]', ["self", "child"]),
    ('control = "nice"\nlevels = [1, 5]', [1, 5]),
], ids=["words", "a control"])  # fmt: skip
def test_levels_that_count_nothing_have_no_speedup(tmp_path: Path, declaration: str, levels: list[Any]) -> None:
    text = ONE_FACTOR.replace('"{threads}"', '"{who}"').replace('levels = "1,2,4"', declaration)
    text = text.replace("factors.threads", "factors.who").replace("threads = 1", f"who = {levels[0]!r}")
    found = timed(tmp_path, text, "who", {levels[0]: 1.0, levels[1]: 2.0})
    assert all(p.speedup is None for p in found.curves[0].points)
    assert notes(found) == "no scaling factor: the levels of who count nothing that could do the work"
    assert found.claim and found.claim.cases[0].case in ("longer", "larger")


def test_baselines_of_a_rate_are_slower_where_it_is_lower(tmp_path: Path) -> None:
    text = ONE_FACTOR.replace("[protocol]", '[factors.cpus]\ncontrol = "cpus"\nlevels = [1, 2]\n\n[protocol]') + RATE
    made = [
        ({"threads": n, "cpus": m}, recorded(1.0, cpus=tuple(range(m)), values={"rate": [j * 100.0 / m]}))
        for j in JITTER
        for n in (1, 2)
        for m in (1, 2)
    ]
    (shown,) = [t for t in findings_of(tmp_path, made, text).tables if t.id == "baseline-across-cpus"]
    assert [c.name for c in shown.columns][-2:] == ["ratio of rates", "so the baseline is"]
    assert shown.rows[0][-2].value == pytest.approx(0.5) and shown.rows[0][-1] == "slower on more CPUs"


ASKED = VALID.replace("runs = 3", 'runs = 16\nprecision = "1%"\niterations = 3\nwarmup = 1')
HOST = facts_of()


def test_rule_planner_and_score_are_the_studys() -> None:
    assert stopping(parse(ASKED)) == Stopping(0.01, 16, 0.95) and stopping(parse(VALID)) is None
    assert isinstance(run_plan(design(parse(ASKED), HOST)).planner(), SequentialPlanner)
    assert isinstance(run_plan(design(parse(VALID), HOST)).planner(), GridPlanner)
    found = record(iterations=[(5.0, 1.0, 7), (1.0, 1.0, 7), (3.0, 1.0, 7)])
    assert score(parse(ASKED), found) == 2.0
    assert score(parse(ASKED.replace("iterations = 3", "iterations = 4")), record(iterations=[])) == 1.0


@pytest.mark.parametrize("runs", ["", "runs = 8"])
def test_a_precision_that_could_never_end_a_study_is_refused(runs: str) -> None:
    with pytest.raises(StudyError, match=r"protocol.runs: [58] beside precision, expected at least 9, .*give 100, say"):
        parse(VALID.replace("runs = 3", f'{runs}\nprecision = "1%"'))
    parse(VALID.replace("runs = 3", 'runs = 9\nprecision = "1%"\n') + "[quick]\nprotocol = { runs = 2 }\n")


def made(n_blocks: int) -> list[tuple[dict[str, object], dict[str, object]]]:
    return [
        ({"threads": n}, recorded((1 + 0.001 * (i % 3)) / n, cpus=(0, 1, 2, 3)))
        for i in range(n_blocks)
        for n in (1, 2)
    ]


def test_a_configuration_that_is_precise_is_not_short_of_runs_and_one_that_is_not_is(tmp_path: Path) -> None:
    text = ONE_FACTOR.replace("runs = 3", 'runs = 40\nprecision = "1%"')
    found = findings_of(tmp_path, made(25), text)
    assert SEQUENTIAL in point_at(found, 2).responses["wall"].estimate.warnings
    assert SEQUENTIAL not in point_at(found, 2).responses["cpu"].estimate.warnings
    assert found.runs.n_short == 0 and found.trust.level == "reliable"
    text = ONE_FACTOR.replace("runs = 3", 'runs = 40\nprecision = "0.001%"')
    noisy = findings_of(tmp_path, [*made(25), ({"threads": 4}, recorded(0.2, status="failed", reason="x"))], text)
    assert noisy.runs.n_short == 1  # made() asks for what it has: of the failed one there is none
    text = ONE_FACTOR.replace("runs = 3", 'runs = 25\nprecision = "0.001%"')
    found = findings_of(tmp_path, made(25), text)
    assert found.trust.level == "caution"
    assert found.trust.codes[0] == "imprecise"
    assert exit_code(found) == 0


RESPONSES = (
    '\n[responses.wall]\nfrom = "window.wall"\nunit = "s"\n\n[responses.nice]\nfrom = "value.nice"\nbetter = "none"\n'
)


def table_notes(found: Findings) -> dict[str, str]:
    return {table.id: table.note for table in found.tables}


def study(tmp_path: Path, wishes: str = "") -> Findings:
    """Ten blocks; with `cas` runs differ ten times as much as without a lock."""
    made = []
    for block in range(10):
        for t in CONFIGURATIONS:
            spread = 0.10 if t["lock"] == "cas" else 0.01
            wall = 1 + spread * (block - 4.5) / 4.5
            made.append((t, recorded(wall, cpus=(0, 1), values={"nice": [5.0]})))
    return findings_of(tmp_path, made, VALID + RESPONSES + wishes)


def wish(response: str, where: str = "") -> str:
    return f'\n[[tables]]\ntitle = "T"\nrows = "threads"\nresponse = "{response}"\nwhere = {{ lock = "{where}" }}\n'


def effect(note: str) -> float:
    (found,) = re.findall(r"Smallest detectable difference in wall: ([\d.]+)% \(n = 10\)", note)
    return float(found)


def test_each_table_says_the_effect_of_its_own_runs_once(tmp_path: Path) -> None:
    made = [({"threads": n}, recorded((1 + 0.01 * (i % 3)) / n, cpus=(0, 1))) for i in range(10) for n in (1, 2, 4)]
    found = findings_of(tmp_path, made, ONE_FACTOR)
    assert found.noise
    percent = detectable_percent(found.noise, 3, 0.95)  # of all comparisons, so more than of one
    assert percent > found.noise.minimum_detectable_percent
    least = f"{percent:.2g}%"
    told = f"Smallest detectable difference in wall time: {least} (n = 10)"
    assert table_notes(found)["configurations"].endswith(f"the other factors equal. {told}")
    found = table_notes(study(tmp_path, wish("wall", "none") + wish("wall", "cas")))
    assert effect(found["declared-1"]) == pytest.approx(10 * effect(found["declared-0"]), rel=0.2)
    found = table_notes(study(tmp_path, 3 * wish("wall", "none")))
    assert [note.count("detectable") for name, note in found.items() if name.startswith("declared")] == [1, 0, 0]
    assert table_notes(study(tmp_path, wish("nice", "none")))["declared-0"] == ""


def test_one_configuration_alone_is_not_too_noisy_to_compare(tmp_path: Path) -> None:
    made = [({"threads": 1}, recorded(1 + 0.9 * (i % 3), cpus=(0, 1))) for i in range(6)]
    alone = findings_of(tmp_path, made, ONE_FACTOR)
    assert alone.trust.codes[0] == "noisy alone"
    two = findings_of(tmp_path, [*made, *(({"threads": 2}, one) for _, one in made)], ONE_FACTOR)
    assert two.trust.codes[0] == "noisy" and "too noisy to compare" in " ".join(table_notes(two).values())
    told = [alone.trust.sentence, *alone.trust.points, *alone.trust.causes, *table_notes(alone).values()]
    assert "compare" not in " ".join(told)


@pytest.mark.parametrize(
    ("cpu_share", "steal", "is_flagged", "efficiency"),
    [(1.0, 0, True, 4.0), (0.03, 0, False, 1.0), (0.5, 0.5, True, 4.0)],
)
def test_only_a_program_that_waits_outgrows_its_cpus(
    tmp_path: Path, cpu_share: float, steal: float, is_flagged: bool, efficiency: float
) -> None:
    seconds = [(n, (1 + 0.01 * (block % 3)) / n) for block in range(4) for n in (1, 2, 4)]
    made = [({"threads": n}, recorded(wall, cpu_share * wall, steal_s=steal * wall, cpus=(0,))) for n, wall in seconds]
    point = point_at(findings_of(tmp_path, made, ONE_FACTOR), 4)
    assert any("growth of the CPUs" in text for text in texts(point.flags)) == is_flagged
    assert point.efficiency and point.efficiency.value == pytest.approx(efficiency, rel=0.02)
