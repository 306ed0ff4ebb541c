"""What is told of runs beside their numbers: notes, changes by programs, noise, timelines and traces of subtasks."""

import gzip
import json
import math
from pathlib import Path
from typing import Any

import pytest

from scalograph.errors import ProtocolError
from scalograph.findings import table
from scalograph.findings.overview import list_undeclared_differences
from scalograph.findings.row import Row
from scalograph.findings.run_notes import explain_fewer_cpus, find_trace, own_changes, parse_note, summarize_notes
from scalograph.findings.table import Table
from scalograph.protocol import journal
from scalograph.protocol.findings import TaskTrace
from scalograph.protocol.noise_floor import Recheck
from scalograph.protocol.record import Record
from scalograph.questions.assemble import findings
from scalograph.study.load import parse
from tests.kit.findings import CONFIGURATIONS, ONE_FACTOR, findings_of, load_journal, point_at, texts, write_journal
from tests.kit.records import read, record, recorded
from tests.kit.studies import VALID

BUSY = "block 2 began on a busy machine: used by others: CPU 0 50%"
MANY = "; 1 later blocks too"


@pytest.mark.parametrize(("notes", "about", "told"), [
    (["first", BUSY], None, ["first", BUSY]),
    (["block 1 began on a quiet machine after waiting 9 s"], None, []),
    ([BUSY, "first", BUSY.replace("2", "3")], None, [BUSY[:1].upper() + BUSY[1:] + MANY, "first"]),
    # What a note is about is read from no words.
    (["A", "B"], "busy", ["A" + MANY]),
    (["A", "B"], "disturbed", ["A" + MANY]),
    (["A", "B"], "quiet", []),
])  # fmt: skip
def test_one_busy_block_is_told_and_many_in_one_sentence(notes: list[str], about: str | None, told: list[str]) -> None:
    more = {"about": about} if about else {}
    assert [*summarize_notes([parse_note({"text": text, **more}) for text in notes], None)] == told


@pytest.mark.parametrize(
    ("changes", "n"), [({}, 0), ({"changed": "higher"}, 1), ({"moved": "faster"}, 1), ({"changed": "unknown"}, 0)]
)
def test_noise_that_changed_since_it_was_kept_is_told(changes: dict[str, Any], n: int) -> None:
    fields = {
        "sd_log_percent": 4.0, "df": 9.0, "median_s": 0.2, "n": 10, "kept_sd_log_percent": 2.0, "kept_median_s": 0.2,
        "kept_at": "2026-01-01T00:00:00Z", "changed": "no", "moved": "no", "sentence": "the noise is another",
    }  # fmt: skip
    assert [*summarize_notes([], Recheck.model_validate(fields | changes))] == ["the noise is another"] * n


@pytest.mark.parametrize(("frequencies", "is_told"), [([3e9, 2e9], True), ([3e9, 2.8e9], False), ([None, 1e9], False)])
def test_frequencies_that_differ_by_a_tenth_are_residue(frequencies: list[Any], is_told: bool) -> None:
    rows = [
        Row("r", 0, 0, False, {}, "ok", None, "clean", (), {}, {}, setup=("p", "b", "c", "o", "0"), frequency_hz=hertz)
        for hertz in frequencies
    ]
    residue = list_undeclared_differences(Table(parse(VALID), "hash", {}, [], [], rows))
    assert residue == ["frequency: 2.00 to 3.00 GHz at the end of runs; fix the governor"] * is_told


def with_change(change: dict[str, Any] | None, *per_cpu_s: float, wall_s: float = 1.0) -> dict[str, Any]:
    """Return a run on four CPUs whose program changed its own settings."""
    run = recorded(wall_s, cpu_s=sum(per_cpu_s), per_cpu_s=per_cpu_s, cpus=(0, 1, 2, 3))
    run["copies"][0]["changed"] = change
    return run


@pytest.mark.parametrize(("change", "told"), [
    (None, ()),
    ({}, ()),
    ({"cpus": [1]}, ("its CPUs from 0-3 to 1",)),
    ({"nice": 5}, ("its nice value from 0 to 5",)),
    ({"policy": "rr", "priority": 3}, ("its policy from other to rr:3",)),
    ({"policy": "batch", "nice": -1}, ("its policy from other to batch", "its nice value from 0 to -1")),
])  # fmt: skip
def test_changes_are_told_with_what_was_set(change: dict[str, Any] | None, told: tuple[str, ...]) -> None:
    assert own_changes(read(with_change(change, 1.0))) == told


@pytest.mark.parametrize(("cpus", "per_cpu_s", "kept"), [
    ([1], (0.0, 1.0, 0.0, 0.0), "it stayed on CPU 1 of 0-3"),
    ([0, 1], (0.5, 0.5, 0.005, 0.0), "it stayed on CPUs 0-1 of 0-3"),
    ([0], (0.3, 0.3, 0.3, 0.3), ""),  # one thread on each: it bound them
    ([0, 1, 2, 3, 4], (1.0, 0.0, 0.0, 0.0), ""),
    (None, (1.0, 0.0, 0.0, 0.0), ""),
    ([1], (), ""),
])  # fmt: skip
def test_who_keeps_to_fewer_cpus(cpus: list[int] | None, per_cpu_s: tuple[float, ...], kept: str) -> None:
    assert explain_fewer_cpus(read(with_change({"cpus": cpus} if cpus else {}, *per_cpu_s))) == kept


def test_findings_tell_at_its_point_what_a_program_changed(tmp_path: Path) -> None:
    runs = [
        ({"threads": n}, with_change(change, 0.0, 1.0, 0.0, 0.0, wall_s=(1 + block / 100) / n))
        for block in range(6)
        for n, change in ((1, {}), (2, {"cpus": [1]}))
    ]
    found = findings_of(tmp_path, runs, ONE_FACTOR)
    assert texts(point_at(found, 2).flags) == ["in 6 of 6 runs the program changed its CPUs from 0-3 to 1"]
    assert (point_at(found, 1).doubt, point_at(found, 2).doubt) == ("", "it stayed on CPU 1 of 0-3")


TRACE: dict[str, Any] = {
    "trace_start_ns": [0, 1000, 5000], "trace_end_ns": [4000, 3000, 5000], "trace_worker": [0, 1, 1],
}  # fmt: skip


def subtasks(n: int) -> dict[str, Any]:
    """Return a trace of so many subtasks, the first by another worker than all others."""
    return {"trace_start_ns": [0] * n, "trace_end_ns": [1] * n, "trace_worker": [0, *[1] * (n - 1)]}


def traced(changes: dict[str, Any]) -> Record:
    return record(values={name: values for name, values in (TRACE | changes).items() if values is not None})


def test_a_whole_trace_of_finite_times_is_read(tmp_path: Path) -> None:
    trace = find_trace(traced({}))
    assert trace is not None and trace.n_workers == 2
    assert (trace.start_ns, trace.end_ns, trace.worker) == ((0, 1000, 5000), (4000, 3000, 5000), (0, 1, 1))
    assert find_trace(traced(subtasks(512))) is not None
    whole = traced({})
    whole.values[0].values["trace_end_ns"][0] = math.inf
    assert find_trace(whole) is None
    every = [TRACE | {"trace_worker": [0.0, 0.0, 0.0]}, TRACE, {"finish_ns": [1.0]}]
    loaded = load_journal(tmp_path, [(CONFIGURATIONS[0], recorded(values=values)) for values in every])
    assert [row.trace_line for row in loaded.rows] == [None, 3, None]


@pytest.mark.parametrize("changes", [
    {"trace_worker": None},
    {"trace_end_ns": [4000, 3000]},
    {"trace_end_ns": [4000, 999, 5000]},
    {"trace_start_ns": [-1, 1000, 5000]},
    {"trace_worker": [0, 1, 0.5]},
    {"trace_worker": [0, 1, -1]},
    subtasks(513),
])  # fmt: skip
def test_lists_that_disagree_are_no_trace(changes: dict[str, Any]) -> None:
    assert find_trace(traced(changes)) is None


FIRST, SECOND, THIRD, *_ = CONFIGURATIONS


def drawn(wall_s: float, *busy_ns: list[int]) -> dict[str, Any]:
    """Return a run with a timeline: of each CPU, its time in each bin."""
    timeline = {"bin_ns": 1000, "cpus": [*range(len(busy_ns))], "busy_ns": busy_ns, "waiting_ns": [0] * len(busy_ns[0])}
    return {**recorded(wall_s), "timeline": timeline | {"tasks": []}}


@pytest.fixture
def file(tmp_path: Path) -> Path:
    """Two configurations with timelines, one whose run nearest the median has none."""
    runs = [(each, drawn(wall, [busy])) for wall, busy in ((1.0, 10), (1.1, 11), (1.5, 15)) for each in (FIRST, SECOND)]
    runs += [(THIRD, recorded(1.1)), (THIRD, drawn(3.0, [30])), (THIRD, recorded(1.0))]
    return write_journal(tmp_path / "journal.jsonl", runs)


def test_the_timeline_nearest_the_median_stands_for_its_configuration(file: Path) -> None:
    shown = findings(table.load(file)).timelines
    assert [(t.run, t.timeline["busy_ns"]) for t in shown] == [("r2", [[11]]), ("r3", [[11]]), ("r7", [[30]])]
    assert shown[0].configuration == FIRST
    packed = file.with_name("journal.jsonl.gz")
    packed.write_bytes(gzip.compress(file.read_bytes()))
    assert findings(table.load(packed, keep_observations=False)) == findings(table.load(file))


def test_the_measured_window_leaves_warm_up_out_and_bins_must_agree(tmp_path: Path) -> None:
    run = {**drawn(6.0, [10]), "iterations": recorded(6.0, iterations=[(1.0, 1.0, 7)] * 3)["iterations"]}
    text = VALID.replace("runs = 3", "runs = 3\niterations = 3\nwarmup = 1")
    (shown,) = findings(load_journal(tmp_path, [(FIRST, run)], text)).timelines
    assert shown.window_ns == (1_000_000_000, 3_000_000_000)
    # Each holds the same bins: nothing tells which of them is short.
    file = write_journal(tmp_path / "journal.jsonl", [(FIRST, drawn(1.0, [1, 2], [1]))])
    with pytest.raises(ProtocolError, match="as many bins"):
        list(journal.read(file))


def test_lines_are_picked_and_timelines_left_undecoded(file: Path) -> None:
    lines = [json.dumps(json.loads(line), separators=(",", ":")) for line in file.read_text().splitlines()]
    file.write_text("\n".join(lines) + "\n")
    whole, brief = (
        [event["record"] for event in journal.read(file, whole=is_whole) if event["event"] == "run"]
        for is_whole in (True, False)
    )
    assert [record.timeline is None for record in brief] == [record.timeline is None for record in whole]
    assert {record.timeline is None for record in brief} == {True, False}
    assert [record.run for record in brief] == [record.run for record in whole]
    assert not any(hasattr(record.timeline, "busy_ns") for record in brief)
    lines = file.read_bytes().splitlines(keepends=True)
    file.write_bytes(b"".join([*lines[:2], b"not JSON\n", *lines[3:]]))
    picked = journal.pick(file, {2, 4})
    assert [(n, event["run"]) for n, event in picked.items()] == [(2, "r0"), (4, "r2")]


def a_trace(wall_s: float, end_ns: float, workers: tuple[int, ...] = (0, 1)) -> dict[str, Any]:
    """Return a run with a subtask of each of these workers."""
    starts, ends = [500.0] * len(workers), [end_ns] * len(workers)
    return recorded(wall_s, values={"trace_start_ns": starts, "trace_end_ns": ends, "trace_worker": [*workers]})


def traces(folder: Path, runs: list[tuple[dict[str, Any], dict[str, Any]]], **changes: Any) -> list[TaskTrace]:
    return findings(load_journal(folder, runs, **changes)).traces


def test_the_trace_nearest_the_median_stands_for_its_configuration(tmp_path: Path) -> None:
    (one,) = traces(tmp_path, [(SECOND, a_trace(wall, end)) for wall, end in ((1.0, 1000), (1.1, 1100), (1.5, 1500))])
    assert (one.run, one.configuration) == ("r1", SECOND)
    assert (one.start_us, one.end_us, one.worker) == ([0.5, 0.5], [1.1, 1.1], [0, 1])
    failed = a_trace(1.0, 1000) | {"run": recorded(status="timeout")["run"]}
    runs = [(FIRST, a_trace(1.0, 1000, (0, 0))), (SECOND, a_trace(1.0, 400)), (THIRD, recorded()), (FIRST, failed)]
    assert traces(tmp_path, runs) == []
    configurations = [{"threads": n, "lock": lock} for n in range(1, 9) for lock in ("none", "cas")]
    runs = [(configuration, a_trace(1.0, 1000)) for configuration in configurations]
    design = {"configurations": configurations, "runs": [3] * 16}
    shown = traces(tmp_path, runs, text=VALID.replace('levels = "1,2,4"', 'levels = "1:8"'), design=design)
    assert len(shown) == 8
    assert (shown[0].configuration, shown[-1].configuration) == (configurations[0], configurations[-1])


def with_others(*processes: tuple[str, float, int]) -> dict[str, Any]:
    """A run of 1 s beside processes that were at rest before it: name, CPU time in s, and wake-ups."""
    listed = [
        {"pid": i, "name": name, "cpu_ns": round(s * 1e9), "n_wakes": n, "before_ns": 0, "age_ns": 10**12 * (n < 50)}
        for i, (name, s, n) in enumerate(processes, 2)
    ]
    others = {"from_ns": 0, "to_ns": 10**9, "processes": listed}
    return recorded(1.0, 0.5, wait_scope="preemption and wakeup", others=others)


WORKED, MAY_HAVE = ("CPU time and CPUs used exclude {}, which " + words for words in ("worked", "may have worked"))


@pytest.mark.parametrize(("runs", "expected"), [
    ([[("postgres", 0.4, 20)]] * 3, [WORKED.format("postgres (400 ms a run)")]),
    ([[("postgres", 0.4, 20), ("redis", 0.2, 9)]] * 2,
     [WORKED.format("postgres (400 ms a run) and redis (200 ms a run)")]),
    ([[("shared", 0.4, 50)]] * 3, [MAY_HAVE.format("shared (400 ms a run)")]),  # nothing is known of its rest
    ([[("hog", 0.4, 0)]] * 3, []),
    ([[("journald", 0.004, 20)]] * 3, []),  # less than 1% of the CPU time of the runs
    ([[("cron", 0.4, 20)], [], []], []),  # in one run of three
    ([[("postgres", 0.4, 20)], [("postgres", 0.2, 50)], []], [MAY_HAVE.format("postgres (300 ms a run)")]),
])  # fmt: skip
def test_cpu_time_of_processes_that_work_for_the_runs_is_reported(
    tmp_path: Path, runs: list[list[tuple[str, float, int]]], expected: list[str]
) -> None:
    made = [({"threads": 1}, with_others(*processes)) for processes in runs]
    design = {"configurations": [{"threads": 1}], "runs": [len(runs)]}
    found = findings(load_journal(tmp_path, made, ONE_FACTOR, design=design))
    texts = [f"{text} for the runs" for text in expected]
    assert found.runs.partners == texts
    assert [text for text in found.warnings if "worked for" in text] == texts
    assert found.claim and [text for text in found.claim.sentences if "worked for" in text] == [f"{t}." for t in texts]
