"""The arithmetic behind the figures of gate benchmarks and of kept runs, all made up here: no command is run."""

from pathlib import Path

import pytest
from msgspec.structs import replace

from scalograph.protocol.record import RunFigures
from tests.kit.scripts import Benchmarks


def answers(b: Benchmarks, name: str, said: dict[str, list[str]], **more: list[float]) -> dict[str, list[float]]:
    """What a tool said of each case, by a word."""
    words, found = b.gate_tools.WORDS, {}
    for case, told in said.items():
        found[f"{name} {case} said"] = [float(words.index(word)) for word in told]
        found |= {f"{name} {case} ratio": [1.0] * len(told), f"{name} {case} took": [2.0] * len(told)}
        found |= {f"{name} {case} names ab": more.get(case, [0.0] * len(told))}
    return found


def test_what_a_gate_said_is_counted(b: Benchmarks) -> None:
    said = {
        "same": ["passed", "slower", "inconclusive", "faster"],
        "more": ["slower", "slower", "inconclusive", "passed"],
    }
    figures = {figure.name: figure for figure in b.gate_peers.figures(answers(b, "loop ab", said))}
    assert [figure.value for figure in figures.values()] == [50.0, 25.0, 25.0, 50.0, 25.0, 2.0]
    false = figures["ab, loop: same build, slower or faster"]
    assert (false.verdict, false.n) == ("MISSED", 4) and "1 passed, 1 faster, 1 slower, 1 inconclusive" in false.note
    assert figures["ab, loop: 5% more work, found"].target == (">=", pytest.approx(100 * 55 / 60))


def test_programs_are_counted_apart_and_a_gate_has_to_name_what_can_tell(b: Benchmarks) -> None:
    unsure = {"same": ["inconclusive", "passed"], "more": ["inconclusive", "inconclusive"]}
    found = answers(b, "mix ab", unsure) | answers(b, "mix gate", unsure, same=[1.0, 0.0], more=[1.0, 0.0])
    figures = {figure.name: figure for figure in b.gate_peers.figures(found)}
    assert figures["ab, sort and hash: 5% more work, found"].target == (">=", 70.0)
    assert figures["gate, sort and hash: 5% more work, found"].target is None
    names = figures["gate, sort and hash: inconclusive, names `ab`"]
    assert (names.value, names.n, names.verdict) == (pytest.approx(200 / 3), 3, "MISSED")


def test_a_tool_that_gives_a_ratio_is_judged_by_each_threshold(b: Benchmarks) -> None:
    found = {f"loop hyperfine {case} said": [b.gate_peers.NOT_SAID] * 3 for case in ("same", "more")}
    found |= {"loop hyperfine same ratio": [1.0, 1.03, 0.9], "loop hyperfine more ratio": [1.049, 1.051, 1.2]}
    found |= {f"loop hyperfine {case} took": [1.0] * 3 for case in ("same", "more")}
    figures = {figure.name: figure for figure in b.gate_peers.figures(found)}
    assert figures["hyperfine 5%, loop: same build, slower or faster"].value == pytest.approx(100 / 3)
    assert figures["hyperfine 2%, loop: same build, slower or faster"].value == pytest.approx(200 / 3)
    assert figures["hyperfine 5%, loop: 5% more work, found"].value == pytest.approx(200 / 3)
    assert figures["hyperfine 5%, loop: 5% more work, faster or passed"].value == pytest.approx(100 / 3)
    assert figures["hyperfine 2%, loop: 5% more work, found"].value == 100.0
    assert not figures["hyperfine 5%, loop: same build, slower or faster"].verdict
    assert not any("inconclusive" in name for name in figures)


def test_answers_are_read_as_the_commands_print_them(b: Benchmarks) -> None:
    tools = b.gate_tools
    ratio = '[{"ratio": {"value": 1.02, "low": 0.9, "high": 1.2}}]'
    one = f'{{"answer": "inconclusive", "configurations": {ratio}, "next": "scalograph ab --a x"}}'
    assert tools._told(["", one]) == tools.GateAnswer("inconclusive", 1.02, names_ab=True, ends=(0.9, 1.2))
    assert tools._told(['{"answer": "slower", "results": [{"configurations": []}]}']) == tools.GateAnswer(
        "slower", None
    )
    line = "Mean +- std dev: [base] 101 ms +- 1 ms -> [more] 106 ms +- 1 ms: 1.05x {}"
    assert [tools.pyperf_said(line.format(word)) for word in ("slower", "faster")] == ["slower", "faster"]
    assert tools.pyperf_said("Benchmark hidden because not significant (1): command") == "passed"


def test_intervals_of_all_programs_are_held_against_the_truth(b: Benchmarks) -> None:
    ends = {
        "loop ab same": (0.9, 1.1),
        "loop ab more": (0.9, 1.04),
        "mix ab same": (1.01, 1.1),
        "mix ab more": (-1.0,) * 2,
    }
    found = {
        f"{key} {end}": [value] for key, both in ends.items() for end, value in zip(("low", "high"), both, strict=True)
    }
    covers = b.gate_peers.coverage(found, "ab")
    assert (covers.n, covers.value, covers.verdict) == (3, pytest.approx(b.verdict_common.wilson(1, 3)[1]), "MISSED")
    assert covers.note.startswith("1 of 3") and b.gate_peers.coverage({}, "gate").value is None


def test_a_trap_is_fallen_into_by_any_answer_that_hides_it(b: Benchmarks) -> None:
    words = b.gate_tools.WORDS
    found = {"lock said": [float(words.index(word)) for word in ("slower", "inconclusive", "passed", "faster")]}
    found |= {"lock ratio": [1.6, b.gate_peers.NOT_SAID, 1.0, 0.9], "lock took": [4.0] * 4}
    fallen, seen = b.gate_traps.figures(found)
    assert (fallen.value, fallen.verdict, seen.value) == (50.0, "MISSED", 25.0)
    assert "4.0 s; ratio 1.000" in fallen.note


def test_the_speedup_of_an_unusable_study_is_no_answer(b: Benchmarks) -> None:
    threads = b.gate_threads
    points = [{"level": 1}, {"level": 2, "speedup": {"value": 1.9, "low": 1.8, "high": 2.0}}]
    curves = [{"points": points}]
    told = threads.speedup_found({"curves": curves, "trust": {"level": "caution"}})
    assert told == {"value": 1.9, "low": 1.8, "high": 2.0, "answered": 1.0}
    assert threads.speedup_found({"curves": curves, "trust": {"level": "unusable"}})["answered"] == 0.0
    assert threads.speedup_found({"curves": [], "trust": {"level": "caution"}})["value"] == threads.NOT_KNOWN


def test_speedups_are_held_against_the_witnessed_truth(b: Benchmarks) -> None:
    found = {"value": [2.0, 2.1, 1.5, 9.0], "low": [1.9, 2.01, 1.4, 8.0], "high": [2.1, 2.2, 2.2, 9.9]}
    found |= {"answered": [1.0, 1.0, 1.0, 0.0], "took": [5.0] * 4, "truth 1": [4.0] * 30, "truth 2": [2.0] * 30}
    figures = {figure.name: figure for figure in b.gate_threads.figures(found)}
    near, holds = figures["speedup: within 7% of it"], figures["speedup: its interval holds it"]
    assert (near.value, near.n, near.verdict) == (pytest.approx(200 / 3), 3, "MISSED")
    assert (holds.value, figures["answered"].value) == (pytest.approx(200 / 3), 75.0)
    few = b.gate_threads.figures(found | {"truth 2": [2.0] * 29})
    assert [figure.target for figure in few] == [None] * len(few)
    assert len(b.gate_threads.figures(found | {"truth 1": []})) == 5


def test_a_round_of_other_sources_is_not_resumed_from(
    b: Benchmarks, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file, found = tmp_path / "a.py", []
    monkeypatch.setattr(b.probe_rounds, "DEPENDS", [lambda: {file}])
    for text in ("one", "two"):
        file.write_text(text)
        b.probe_rounds._fingerprint.cache_clear()
        found.append(b.probe_rounds._fingerprint())
    b.probe_rounds._fingerprint.cache_clear()
    assert found[0] != found[1]


def test_a_gate_depends_on_what_its_commands_import(b: Benchmarks) -> None:
    source = b.gate_tools.ROOT / "src" / "scalograph"
    found = b.gate_tools.imported_sources()
    assert {source / "verdict" / "judge.py", source / "exchange" / "compare" / "paired_versions.py"} <= found
    assert not {source / "cli" / "fit_command.py", source / "questions" / "break_even" / "model.py"} & found


def test_what_records_have_beyond_cpu_time_is_compared_with_ticks_and_times_with_clean_runs(b: Benchmarks) -> None:
    kept, ms = b.kept_steal, 1_000_000
    quiet = [kept.KeptRun("x", (100 + i) * ms, 0, (100 + i) * ms, (100 + i) * ms, 0, is_clean=True) for i in range(4)]
    stolen = kept.KeptRun("x", 130 * ms, 10 * ms, 102 * ms, 120 * ms, 2, is_clean=False)
    alone = kept.KeptRun("y", 130 * ms, 10 * ms, 102 * ms, 120 * ms, 2, is_clean=False)
    assert (stolen.beyond, stolen.undisturbed, stolen.is_quiet) == (18 * ms, 102 * ms, False)
    figures = {figure.name: figure for figure in kept.comparisons([*quiet, stolen, alone])}
    assert figures["records less CPU time, ticks of steal: 2 to 4"].value == 18.0
    assert figures["  most by which it exceeds its ticks and one more"].verdict == "reached"
    level = figures["stolen 10 to 20% of the time: undisturbed / clean"]
    assert level.value == pytest.approx(102 / 101.5) and level.note.endswith("; 1 runs")
    beyond = [*quiet, kept.KeptRun("x", 130 * ms, 0, 90 * ms, 130 * ms, 0, is_clean=False)]
    assert {figure.verdict for figure in kept.comparisons(beyond)} == {"contrast", "MISSED"}


def test_only_one_task_at_work_with_records_is_read(b: Benchmarks) -> None:
    figures = {"wall_ns": 9, "wait_ns": 1, "cpu_ns": 8, "per_cpu_ns": [8, 0], "n_switches": 5, "n_preemptions": 3}
    one = RunFigures(status="ok", n_tasks=1, wait_scope="preemption", cpu_source="cgroup", **figures)
    assert b.kept_steal.is_single(one)
    other = ({"n_tasks": 2}, {"n_preemptions": 2}, {"wait_ns": None}, {"cpu_source": "rusage"}, {"n_lost_records": 1})
    assert not any(b.kept_steal.is_single(replace(one, **change)) for change in other)
