"""The 9 published rows of the fork-join study: each has its treatment, and the factors follow from the times."""

import csv

import pytest

from scalograph.design.resolve import design
from scalograph.protocol.facts import CpuFact, HostFacts, Jvm
from scalograph.study.load import load
from scalograph.study.quick import quickened
from scalograph.study.workload import shipped_study

FACTS = HostFacts(cpus=(CpuFact(cpu=0, core=0),), jvms=(Jvm(name="17", java="java", release=17, build="17.0.0"),))
FOLDER = shipped_study("fork-join")


def rows() -> dict[tuple[str, int], dict[str, str]]:
    with (FOLDER / "published.csv").open(newline="") as stream:
        return {(row["version"], int(row["parallelism"])): row for row in csv.DictReader(stream)}


def test_every_row_has_a_treatment_and_the_sequential_version_one() -> None:
    study = load(FOLDER / "study.toml")
    assert {(t["version"], t["p"]) for t in design(study, FACTS).treatments} == set(rows())
    quick = {(t["version"], t["p"]) for t in design(quickened(study), FACTS).treatments}
    assert quick < set(rows()) and ("sequential", 1) in quick


def test_factors_are_the_time_at_one_over_that_of_the_row() -> None:
    found = {p: row for (version, p), row in rows().items() if version == "stream"}
    assert list(found) == [1 << i for i in range(8)]
    for row in found.values():
        recomputed = float(found[1]["time_s"]) / float(row["time_s"])
        digits = len(row["scaling_factor"].partition(".")[2])
        assert float(row["scaling_factor"]) == pytest.approx(recomputed, abs=0.51 * 10**-digits)


def test_only_twice_the_hardware_threads_and_more_lie_outside_the_error_of_the_sequential_time() -> None:
    sequential = rows()["sequential", 1]
    far = float(sequential["error_us"])
    outside = set()
    for (version, p), row in rows().items():
        apart = abs(float(row["time_s"]) - float(sequential["time_s"])) * 1e6
        if version == "stream" and apart > far + float(row["error_us"]):
            outside.add(p)
    assert outside == {64, 128}
