"""Every configuration beside the one program that it has to beat."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from msgspec import structs

from scalograph.analysis.estimate import Estimate
from scalograph.findings.whole_run import UNLIKE
from scalograph.protocol.findings import Findings
from scalograph.questions.assemble import findings
from scalograph.study.load import parse
from tests.kit.findings import JITTER, claim_of, findings_of, table_named, table_of
from tests.kit.records import recorded
from tests.kit.refusals import mistakes
from tests.kit.studies import a_study


def study(locks: Sequence[str] = ("none", "cas"), lock: str = "none", iterations: int = 1) -> str:
    """A sweep of locks that has one of them, with one thread, as its reference."""
    factors, reference = {"threads": "1,2,4", "lock": [*locks]}, {"lock": lock, "threads": 1}
    protocol = {"runs": 3, "iterations": iterations}
    return a_study(factors, reference=reference, baseline={"threads": 1}, protocol=protocol)


# Seconds by lock, at 1 and 2 threads.
TIMES = {"none": (1.0, 0.5), "cas": (2.0, 1.25)}


def made(times: dict[str, tuple[float, float]] = TIMES) -> list[tuple[dict[str, object], dict[str, object]]]:
    return [
        ({"threads": n, "lock": lock}, recorded(t * jitter, t, cpus=(0, 1)))
        for jitter in JITTER
        for lock, both in times.items()
        for n, t in zip((1, 2), both, strict=True)
    ]


def gains_of(found: Findings) -> dict[tuple[object, object], Estimate]:
    """Return how many times as fast as the reference, by threads and lock."""
    return {(row[0], row[1]): row[3] for row in table_named(found, "reference").rows}


def test_all_are_told_as_times_as_fast_as_the_reference(tmp_path: Path) -> None:
    found = findings_of(tmp_path, made(), study())
    table, gains = table_named(found, "reference"), gains_of(found)
    assert table.title == "Over lock none, threads 1"
    assert all(isinstance(gain, Estimate) for gain in gains.values()), "the reference itself is left out"
    assert {key: gain.value for key, gain in gains.items()} == {
        (2, "none"): pytest.approx(2), (1, "cas"): pytest.approx(0.5), (2, "cas"): pytest.approx(0.8),
    }  # fmt: skip
    rows = {(row[0], row[1]): row for row in table.rows}
    assert rows[2, "none"][2] == 1.0  # threads per CPU
    assert [rows[key][-1] for key in ((2, "none"), (1, "cas"))] == ["faster", "slower"]
    values = claim_of(found).cases[0].values
    assert (values["who"], values["base"]) == ("lock=none, 2 threads", "lock=none, 1 thread")


def test_one_of_many_that_are_alike_is_not_faster_for_sure(tmp_path: Path) -> None:
    """With an interval of its own each, one in twenty would be."""
    n_wrong = 0
    locks = ["none", *(f"l{i}" for i in range(11))]
    configurations = [{"threads": n, "lock": lock} for _ in range(4) for lock in locks for n in (1, 2)]
    for seed in range(12):
        rng = np.random.default_rng(seed)
        walls = np.exp(0.05 * rng.standard_normal(len(configurations))).tolist()
        runs = [(t, recorded(wall, 0.5, cpus=(0, 1))) for t, wall in zip(configurations, walls, strict=True)]
        (folder := tmp_path / str(seed)).mkdir()
        table = table_named(findings_of(folder, runs, study(locks)), "reference")
        n_wrong += any(row[-1] != "inconclusive" for row in table.rows)
    assert n_wrong <= 3


def test_where_nothing_beats_it_that_is_said(tmp_path: Path) -> None:
    found = findings_of(tmp_path, made({"none": (1.0, 1.0), "cas": (2.0, 1.25)}), study())
    assert claim_of(found).cases[0].case == "none clearly better"


def test_a_reference_that_did_not_run_is_left_out_and_one_that_is_no_level_refused(tmp_path: Path) -> None:
    found = findings_of(tmp_path, [run for run in made() if run[0] != {"threads": 1, "lock": "none"}], study())
    assert "reference" not in [table.id for table in found.tables]
    (text,) = mistakes(parse, study(lock="mutex"))
    assert "reference.lock: level 'mutex'" in text and "is not among the levels of lock" in text


def test_a_whole_run_is_not_held_against_a_median(tmp_path: Path) -> None:
    """Without a steady state one curve has whole-run times: they are of another kind."""
    times = {"none": [1.0] * 60, "cas": [1.0] * 52 + [1.5] * 8}

    def run(lock: str, n: int, jitter: float) -> dict[str, Any]:
        windows = [(t * jitter * (1 + 0.002 * (i % 3)) / n, t, 7) for i, t in enumerate(times[lock])]
        return recorded(sum(times[lock]) + 1, sum(times[lock]), cpus=(0, 1, 2, 3), iterations=windows)

    runs = [({"threads": n, "lock": lock}, run(lock, n, x)) for x in JITTER for lock in times for n in (1, 2)]
    cells = gains_of(findings_of(tmp_path, runs, study(iterations=60)))
    assert cells[1, "cas"].value is None and cells[1, "cas"].warnings == (UNLIKE,)
    assert cells[2, "none"].value == pytest.approx(2, rel=0.02)


def test_runs_of_one_block_are_taken_together(tmp_path: Path) -> None:
    """The baseline runs twice in each block; one of both alone would make its noise larger."""
    read = table_of(tmp_path, made(), study())
    again = [row for row in read.rows if row.configuration == {"threads": 1, "lock": "none"}]
    read.rows += [structs.replace(row, run=f"{row.run}×", scores={"wall": 4.0}) for row in again]
    assert gains_of(findings(read))[2, "none"].value == pytest.approx(4, rel=0.01)  # sqrt(1 * 4) over 0.5
