"""The arithmetic behind the figures of verdict benchmarks, on records made up here: nothing is launched."""

import json
import random
from pathlib import Path

import numpy as np
import pytest

from tests.kit.scripts import Benchmarks


def quiet_and_moved(b: Benchmarks, flag_from: float) -> dict[str, list[float]]:
    """Quiet runs of pace 1, one of six disturbed as the witness saw; 0.4% longer for each percent of duty."""
    found: dict[str, list[float]] = {}
    for length in b.verdict_contamination.LENGTHS:
        for threads in (1, 2):
            name = f"{length} {threads} 0 0"
            found |= {f"pace {name}": [1.0] * 5 + [3.0], f"flag {name}": [0.0] * 4 + [0.5, 1.0]}
            found[f"still {name}"] = [1.0] * 5 + [0.0]
            for duty, n in [*b.verdict_contamination.FINE, *b.verdict_contamination.SCENES[3:]]:
                by = 0.004 * duty
                found[f"pace {length} {threads} {duty} {n}"] = [1 + by] * 6
                found[f"flag {length} {threads} {duty} {n}"] = [float(by >= flag_from)] * 6
    return found


def test_contamination_counts_what_moved_and_leaves_out_what_the_witness_saw(b: Benchmarks) -> None:
    figures = {f.name: f for f in b.verdict_contamination.figures(quiet_and_moved(b, 0.03))}
    quiet, hit = figures["1.5 s: quiet runs flagged"], figures["1.5 s: runs 2% longer or more, flagged"]
    assert (quiet.value, quiet.n, quiet.verdict) == (0.0, 10, "reached")
    assert "2 undecided, 2 set aside" in quiet.note
    assert (hit.value, hit.n) == (100.0, 96)
    assert figures["1.0 s: runs 2% longer or more, flagged"].value == pytest.approx(100 * 96 / 120)
    assert figures["1.0 s: from this disturbance on 95% are flagged"].value == pytest.approx(3.0)


def test_a_missed_disturbance_is_missed_and_large_ones_do_not_speak_for_it(b: Benchmarks) -> None:
    figures = {f.name: f for f in b.verdict_contamination.figures(quiet_and_moved(b, 0.15))}
    assert figures["1.5 s: runs 2% longer or more, flagged"].verdict == "MISSED"
    assert figures["1.5 s: from this disturbance on 95% are flagged"].value == pytest.approx(20.0)
    moved = [(0.5, 1.0)] * 1000 + [(0.025, 0.0)] * 12
    assert b.verdict_contamination.smallest(moved) == 0.2
    assert b.verdict_contamination.smallest([(0.025, 1.0)] * 12) == 0.02
    assert b.verdict_contamination.smallest([(0.025, 1.0)] * 9) is None


TRACE = """
 perf 9 [000] 10.000000: prev_comm=perf prev_pid=9 prev_state=S ==> next_comm=verdict_work next_pid=7
 swapper 0 [001] 10.100000: prev_comm=swapper/1 prev_pid=0 prev_state=R ==> next_comm=a b next_pid=8
 a b 8 [001] 10.150000: prev_comm=a b prev_pid=8 prev_state=S ==> next_comm=swapper/1 next_pid=0
 verdict_work 7 [000] 10.300000: prev_comm=verdict_work prev_pid=7 prev_state=R ==> next_comm=c next_pid=5
 c 5 [000] 10.320000: prev_comm=c prev_pid=5 prev_state=S ==> next_comm=verdict_work next_pid=7
 verdict_work 7 [000] 11.000000: prev_comm=verdict_work prev_pid=7 prev_state=Z ==> next_comm=d next_pid=4
"""


def test_the_witness_counts_others_within_the_run_and_the_hypervisor_is_no_neighbor(b: Benchmarks) -> None:
    witness = b.verdict_witness
    found = witness.switches(TRACE.splitlines())
    assert len(found) == 6
    assert witness.others(found) == pytest.approx(0.07)
    assert not witness.Seen(0.07, 0.0, 1.0, "perf").undisturbed
    assert witness.Seen(0.0059, 0.0, 1.0, "perf").undisturbed
    stolen, taken = (b.verdict_witness.Seen(*seconds, 1.0, "perf") for seconds in ((0.0, 0.02), (0.02, 0.0)))
    assert (stolen.alone, stolen.undisturbed) == (True, False)
    assert (taken.alone, taken.undisturbed) == (False, False)
    assert stolen.lost_s == taken.lost_s == pytest.approx(0.019)


def test_a_study_leaves_out_flagged_runs_and_says_when_some_are_missing(b: Benchmarks) -> None:
    clean = [(n, 2.0 / n * (1 + i / 1000), 0.0) for n in (1, 2) for i in range(4)]
    disturbed = [(1, 9.0, 1.0), (2, 1.0, 0.5)]
    small = b.verdict_study.concluded([*clean, *disturbed], [])
    assert small.speedup.value == pytest.approx(2.0, rel=0.01)
    assert not small.full
    assert small.unjudged.value > 2.5
    assert b.verdict_study.concluded([*clean, *disturbed], [(1, 2.0, 0.0)]).full
    assert b.verdict_study.concluded([(1, 2.0, 0.0), (2, 1.0, 1.0)] * 5, []).speedup is None


def test_the_truth_is_a_median_whatever_a_few_runs_took(b: Benchmarks) -> None:
    found = b.verdict_common.typical([1.0] * 20 + [1.5] * 3)
    assert (found.value, found.low, found.high) == (1.0, 1.0, 1.0)
    ordered = b.verdict_common.typical([float(i) for i in range(1, 11)])
    assert (ordered.value, ordered.low, ordered.high) == (5.5, 2.0, 9.0), "97.9%, the next pair has 89.1%"
    assert b.verdict_common.typical([1.0, 2.0]).low is None and b.verdict_common.typical([]).value is None


def test_peers_are_held_against_the_witnessed_truth(b: Benchmarks) -> None:
    known = {"value": [2.0] * 18 + [2.4, -1.0], "low": [1.9] * 18 + [2.3, -1.0], "high": [2.1] * 18 + [2.5, -1.0]}
    found = {f"{who} {key}": values for who in ("ours", "unjudged") for key, values in known.items()}
    found |= {"ours full": [1.0] * 18 + [0.0] * 2, "truth 1": [4.0] * 31, "truth 2": [2.0] * 30}
    found |= {"hyperfine value": [2.0, 2.5, 1.7, 2.1], "hyperfine warned": [0.0, 1.0, 0.0, 0.0]}
    figures = {f.name: f for f in b.verdict_peers.figures(found)}
    assert figures["true speedup"].value == pytest.approx(2.0)
    off = figures["speedups off by more than 10%, not flagged"]
    assert (off.value, off.n, off.verdict, off.note) == (1, 19, "MISSED", "1 rounds without an answer")
    missing = figures["intervals that miss the truth, not flagged"]
    assert (missing.value, missing.verdict) == (pytest.approx(100 / 19), "reached")
    assert missing.note == "1 lie above it, 0 below; 1 miss its interval too"
    assert figures["speedups off by more than 10%, not flagged, all clean runs made"].verdict == "reached"
    peer = figures["speedup off by more than 10%: hyperfine"]
    assert (peer.value, peer.note) == (50.0, "largest error 25%, it warns in 1 rounds")
    few = b.verdict_peers.figures({**found, "truth 2": [2.0] * 29})
    assert [f.target for f in few] == [None] * len(few)


def test_what_other_tools_and_pyperf_print_is_read(b: Benchmarks) -> None:
    text = "           1.2345 +- 0.0123 seconds time elapsed  ( +-  1.00% )"
    assert b.verdict_tools.perf_stat_mean(text) == 1.2345
    runs = [{"warmups": [[1, 9.0]]}, {"values": [1.0]}, {"values": [3.0]}]
    assert b.verdict_tools.pyperf_mean(json.dumps({"benchmarks": [{"runs": runs}]})) == 2.0
    with pytest.raises(SystemExit, match="perf stat: found"):
        b.verdict_tools.perf_stat_mean("")


def test_wilson_against_published_values(b: Benchmarks) -> None:
    """Of 100 and of 10 cases: the score interval at 1.96, by the quadratic whose roots it is."""
    for hits, n in ((0, 100), (6, 100), (3, 10), (10, 10)):
        p, z = hits / n, 1.96
        roots = np.sort(np.roots([1 + z * z / n, -(2 * p + z * z / n), p * p]).real)
        assert b.verdict_common.wilson(hits, n) == pytest.approx(100 * roots, abs=1e-9)


def test_a_schedule_is_the_same_for_all_who_draw_it_with_one_seed(b: Benchmarks) -> None:
    common = b.verdict_common
    one, two = (common.coming_and_going(random.Random(5), 0.5) for _ in range(2))
    assert one == two != common.coming_and_going(random.Random(6), 0.5)
    assert all(duty == 0 for part in common.coming_and_going(random.Random(5), 0.0) for _, duty in part)
    duties = [{duty for _, duty in part} for part in common.bursts(random.Random(5), 0.5)]
    assert duties == [{0, 100}] * len(common.CPUS)


def test_the_ratio_of_one_thing_to_itself_is_read_from_both_orders(b: Benchmarks) -> None:
    wait = b.probe_wait_ratio
    assert wait.labels("sequential") == "AAAAABBBBB"
    assert wait.labels("interleaved") == "ABBAABBAAB"
    runs = [(label, {"wall": 2.0 if label == "A" else 1.0}) for label in wait.labels("interleaved")]
    assert wait.log_ratio(runs, "wall") == pytest.approx(np.log(2))
    found = {f"{order}, {taken}": [-0.1, 0.1] for order in wait.ORDERS for taken in wait.TAKEN}
    found["interleaved, wall less wait"] = [-0.005, 0.005]
    last = wait.figures(found)[-1]
    assert last.value == pytest.approx(0.05)
    assert last.verdict == "reached"
    assert wait.figures({})[-1].verdict == "unknown"


def test_a_label_differs_where_its_runs_do_and_flagged_runs_can_hide_it(b: Benchmarks) -> None:
    aa = b.statistics_aa_machine
    pairs = [[(1.0 + i / 1e4, 0.0), (1.1 + i % 3 / 1e4, 1.0 if i > 1 else 0.0)] for i in range(10)]
    assert aa.p_value(pairs, leave_out=False) < 1e-6
    assert aa.p_value([pair for pair in pairs if pair[1][1] == 1.0], leave_out=True) is None
    found = {"clean": [0.01] * 5 + [0.5] * 95, "all": [0.01] * 10 + [0.5] * 90, "flagged": [0.0] * 99 + [3.0]}
    clean, every = aa.figures(found)
    assert (clean.value, clean.verdict, every.value, every.target) == (5.0, "reached", 10.0, None)
    assert clean.note.startswith("95%: 2.2 to 11.2%; 3 of 2000 runs flagged")


def test_cost_and_wakeups(b: Benchmarks) -> None:
    cost = b.verdict_cost
    found: dict[str, list[float]] = {}
    for length in cost.LENGTHS:
        for program in cost.THREADS:
            found[f"pace {length:g} s, {program}, bare"] = [1.0, 1.01, 0.99]
            for way in cost.WAYS:
                name = f"{length:g} s, {program}, {way}"
                found |= {f"pace {name}": [1.02, 1.03, 1.01], f"cost {name}": [0.05, 0.2, 0.06]}
                found |= {f"switches {name}": [100 + 50 * length] * 3, f"lasted {name}": [length] * 3}
    figures = {f.name: f for f in cost.figures(found)}
    usual = figures["1 s, a thread a CPU, no timeline: CPU time of the probe"]
    assert (usual.value, usual.verdict, usual.note) == (0.06, "reached", "largest 0.200%")
    assert figures["3 s, a thread a CPU, timeline: longer than bare"].value == pytest.approx(2.0, abs=0.01)
    assert figures["32 threads a CPU, timeline: wake-ups a second"].value == pytest.approx(50)


def test_oversubscription_tells_blamed_from_undecided(b: Benchmarks) -> None:
    over = b.verdict_oversubscription
    found: dict[str, list[float]] = {}
    for kind in over.KINDS:
        for length in over.LENGTHS:
            found[f"flag {kind} {length}"] = [0.0, 0.5, 1.0, 1.0, 1.0]
            found[f"blamed {kind} {length}"] = [0.0, 0.0, 1.0, 0.0, 1.0]
            found[f"still {kind} {length}"] = [1.0, 1.0, 1.0, 1.0, 0.0]
    first = over.figures(found)[0]
    assert (first.value, first.verdict, first.n) == (1, "MISSED", 4)
    assert first.note == "1 clean, 1 undecided, 1 disturbed by something else; 1 set aside by the witness"


def test_rounds_are_put_together_and_a_torn_line_is_left_out(b: Benchmarks, tmp_path: Path) -> None:
    rounds = b.probe_rounds
    assert rounds.together([{"a": [1.0]}, {"a": [2.0], "b": [3.0]}]) == {"a": [1.0, 2.0], "b": [3.0]}
    journal = tmp_path / "kept" / "x.jsonl"
    rounds._append(journal, {"a": [1.0]})
    with journal.open("a") as out:
        out.write(json.dumps({"code": "of another day", "round": {"a": [7.0]}}) + '\n{"code": "to')
    assert rounds._read(journal) == [{"a": [1.0]}]
