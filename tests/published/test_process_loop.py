"""The published process loop in the study that ships: its figures, and the five rows that cannot be."""

import csv
from pathlib import Path

from scalograph.findings.published.published_quantities import list_objections, read_rows
from scalograph.study.declare import declare
from scalograph.study.shipped import shipped_study

PRINTED = Path(__file__).parent / "process-loop-1cpu.csv"


def test_the_study_holds_the_printed_figures_but_for_the_one_loop_that_is_printed_better_elsewhere() -> None:
    with PRINTED.open(newline="") as stream:
        printed = {row["processes"]: row["wall_s"] for row in csv.DictReader(stream)}
    with (shipped_study("cpu-surface") / "published.csv").open(newline="") as stream:
        ours = {row["processes"]: row for row in csv.DictReader(stream)}
    assert {n: row["wall_s"] for n, row in ours.items()} == {**printed, "1": "4.02"}
    assert {row["cpus"] for row in ours.values()} == {"1"}


def test_scaling_factors_follow_from_the_times() -> None:
    with (shipped_study("cpu-surface") / "published.csv").open(newline="") as stream:
        for row in csv.DictReader(stream):
            assert row["scaling_factor"] == f"{int(row['processes']) * 4.02 / float(row['wall_s']):.1f}"


def test_the_report_objects_to_five_rows_and_to_no_other() -> None:
    folder = shipped_study("cpu-surface")
    declared = declare(folder).study
    assert declared.published is not None
    names, rows = read_rows(declared.published, folder / "published.csv")
    others = [name for name in names if name not in declared.published.values]
    texts = list_objections(declared, declared.published, others, rows)
    found = {int(row["processes"] or 0): text for row, text in zip(rows, texts, strict=True) if text}
    too_fast = {10: "speedup above the CPUs"}  # of which more need not be said
    assert found == {n: too_fast.get(n, "time below the CPU time") for n in (10, 18, 21, 23, 24)}
