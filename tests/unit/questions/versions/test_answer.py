"""Every configuration beside the one program that it has to beat."""

from pathlib import Path

import numpy as np
import pytest
from msgspec import structs

from scalograph.analysis.estimate import Estimate
from scalograph.errors import StudyError
from scalograph.findings.whole_run import UNLIKE
from scalograph.questions.assemble import findings
from scalograph.study.load import parse
from tests.kit.findings import JITTER, findings_of, table_of
from tests.kit.records import recorded
from tests.kit.studies import VALID

TEXT = VALID.replace("[baseline]", '[reference]\nlock = "none"\nthreads = 1\n[baseline]')
# Seconds by lock, at 1 and 2 threads.
TIMES = {"none": (1.0, 0.5), "cas": (2.0, 1.25)}


def made(times: dict[str, tuple[float, float]] = TIMES) -> list[tuple[dict[str, object], dict[str, object]]]:
    return [
        ({"threads": n, "lock": lock}, recorded(t * jitter, t, cpus=(0, 1)))
        for jitter in JITTER
        for lock, both in times.items()
        for n, t in zip((1, 2), both, strict=True)
    ]


def test_all_are_told_as_times_as_fast_as_the_reference(tmp_path: Path) -> None:
    found = findings_of(tmp_path, made(), TEXT)
    (table,) = [table for table in found.tables if table.id == "reference"]
    assert table.title == "Over lock none, threads 1"
    rows = {(row[0], row[1]): row for row in table.rows}
    assert len(rows) == 3  # the reference itself is left out
    gains = {key: row[3] for key, row in rows.items()}
    assert all(isinstance(gain, Estimate) for gain in gains.values())
    values = {key: gain.value for key, gain in gains.items() if isinstance(gain, Estimate)}
    assert values == {(2, "none"): pytest.approx(2), (1, "cas"): pytest.approx(0.5), (2, "cas"): pytest.approx(0.8)}
    assert rows[2, "none"][2] == 1.0  # threads per CPU
    assert [rows[key][-1] for key in ((2, "none"), (1, "cas"))] == ["faster", "slower"]
    assert found.claim
    values = found.claim.cases[0].values
    assert (values["who"], values["base"]) == ("lock=none, 2 threads", "lock=none, 1 thread")


def test_one_of_many_that_are_alike_is_not_faster_for_sure(tmp_path: Path) -> None:
    """With an interval of its own each, one in twenty would be."""
    n_wrong = 0
    locks = ["none", *(f"l{i}" for i in range(11))]
    text = TEXT.replace('["none", "cas"]', str(locks).replace("'", '"'))
    for seed in range(12):
        rng = np.random.default_rng(seed)
        runs = [
            ({"threads": n, "lock": lock}, recorded(float(np.exp(0.05 * rng.standard_normal())), 0.5, cpus=(0, 1)))
            for _ in range(4)
            for lock in locks
            for n in (1, 2)
        ]
        (folder := tmp_path / str(seed)).mkdir()
        (table,) = [table for table in findings_of(folder, runs, text).tables if table.id == "reference"]
        n_wrong += any(row[-1] != "inconclusive" for row in table.rows)
    assert n_wrong <= 3


def test_where_nothing_beats_it_that_is_said(tmp_path: Path) -> None:
    found = findings_of(tmp_path, made({"none": (1.0, 1.0), "cas": (2.0, 1.25)}), TEXT)
    assert found.claim and found.claim.cases[0].case == "none clearly better"


def test_a_reference_that_did_not_run_is_left_out(tmp_path: Path) -> None:
    found = findings_of(tmp_path, [run for run in made() if run[0] != {"threads": 1, "lock": "none"}], TEXT)
    assert not [table for table in found.tables if table.id == "reference"]


def test_a_reference_that_is_no_level_is_refused() -> None:
    with pytest.raises(StudyError, match=r"reference.lock: level 'mutex' is not among the levels of lock"):
        parse(TEXT.replace('lock = "none"', 'lock = "mutex"'))


def test_a_whole_run_is_not_held_against_a_median(tmp_path: Path) -> None:
    """Without a steady state one curve has whole-run times: they are of another kind."""
    text = TEXT.replace("runs = 3", "runs = 3\niterations = 60")
    runs = []
    for jitter in JITTER:
        for lock in ("none", "cas"):
            for n in (1, 2):
                times = [1.0] * 52 + [1.5] * 8 if lock == "cas" else [1.0] * 60
                windows = [(t * jitter * (1 + 0.002 * (i % 3)) / n, t, 7) for i, t in enumerate(times)]
                runs.append(
                    (
                        {"threads": n, "lock": lock},
                        recorded(sum(times) + 1, sum(times), cpus=(0, 1, 2, 3), iterations=windows),
                    )
                )
    (table,) = [table for table in findings_of(tmp_path, runs, text).tables if table.id == "reference"]
    cells = {(row[0], row[1]): row[3] for row in table.rows}
    refused, told = cells[1, "cas"], cells[2, "none"]
    assert isinstance(refused, Estimate) and refused.value is None and refused.warnings == (UNLIKE,)
    assert isinstance(told, Estimate) and told.value == pytest.approx(2, rel=0.02)


def test_runs_of_one_block_are_taken_together(tmp_path: Path) -> None:
    """The baseline runs twice in each block; one of both alone would make its noise larger."""
    runs = [run for run in made() if run[0] == {"threads": 1, "lock": "none"}]
    read = table_of(tmp_path, made(), TEXT)
    extra = [
        structs.replace(row, run=f"{row.run}×", scores={"wall": 4.0})
        for row in read.rows
        if row.configuration == runs[0][0]
    ]
    read.rows += extra
    (table,) = [table for table in findings(read).tables if table.id == "reference"]
    cells = {(row[0], row[1]): row[3] for row in table.rows}
    gain = cells[2, "none"]
    assert isinstance(gain, Estimate) and gain.value == pytest.approx(4, rel=0.01)  # sqrt(1 * 4) over 0.5
