"""The scaling law of each curve, from runs whose law is known."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from msgspec import structs

from scalograph.findings.curves import make_curves
from scalograph.findings.row import Row
from scalograph.findings.sample import samples_by_configuration
from scalograph.findings.table import Table
from scalograph.protocol.findings import Curve, LawDoc, TableDoc
from scalograph.questions.scaling.answer import add_laws
from scalograph.questions.scaling.tables import laws_table
from scalograph.study.load import parse
from scalograph.system.topology import read_topology
from tests.kit.findings import texts
from tests.kit.studies import VALID
from tests.unit.control.trees import grown, two_sockets

SIZES = (1, 2, 4, 8)
LEVELS = VALID.replace('"1,2,4"', '"1,2,4,8"')


def time(n: int, sigma: float, kappa: float, per_worker: bool) -> float:
    whole = (1 + sigma * (n - 1) + kappa * n * (n - 1)) / n
    return whole * n if per_worker else whole


def table(sigma: float, kappa: float, work: str = "total", sizes: tuple[int, ...] = SIZES, **changes: Any) -> Table:
    study = parse(LEVELS.replace('work = "total"', f'work = "{work}"'))
    rng = np.random.default_rng(5)
    configurations: list[dict[str, Any]] = [{"threads": n, "lock": k} for k in ("none", "cas") for n in sizes]

    def row(i: int, j: int) -> Row:
        t = configurations[i]
        wall = time(int(t["threads"]), sigma, kappa, work != "total") * float(np.exp(0.01 * rng.standard_normal()))
        return Row(f"r{i}-{j}", j, j, False, t, "ok", None, "clean", (), {}, {"wall": wall}, n_cpus=8)

    rows = [row(i, j) for i in range(len(configurations)) for j in range(4)]
    return Table(study, "hash", {}, list(configurations), [4] * len(configurations), rows)


def lawful(given: Table) -> list[Curve]:
    taken = samples_by_configuration(given)
    return add_laws(given, taken, make_curves(given, taken))


def laws(given: Table) -> TableDoc | None:
    return laws_table(given, lawful(given))


def only(given: Table) -> LawDoc:
    law = lawful(given)[0].law
    assert law is not None
    return law


@pytest.mark.parametrize("work", ["total", "per-worker"])
def test_each_curve_has_its_law(work: str) -> None:
    given = table(0.1, 0.01, work)
    doc = laws(given)
    assert doc is not None and [row[0] for row in doc.rows] == ["none", "cas"]
    for _, sigma, kappa, optimum, _, _flags in doc.rows:
        assert sigma.low < 0.1 < sigma.high and kappa.low < 0.01 < kappa.high
        assert optimum.low < (0.9 / 0.01) ** 0.5 < optimum.high


def test_what_twice_as_many_would_give_is_refused_where_the_cpus_end() -> None:
    given = table(0.1, 0.0)
    doc = laws(given)
    assert doc is not None
    refused = doc.rows[0][4]
    assert refused.value is None and "beyond 8 there is no CPU for each" in refused.warnings[0]


def test_two_sizes_have_no_law() -> None:
    given = table(0.1, 0.0, sizes=(1, 2))
    assert laws(given) is None


def test_without_a_baseline_there_is_none() -> None:
    given = table(0.1, 0.0)
    given.study = parse(LEVELS.replace("[baseline]\nthreads = 1\n", ""))
    assert laws(given) is None


def test_lines_end_where_the_law_may_predict() -> None:
    law = only(table(0.1, 0.0))
    assert (
        law.largest == law.sizes[-1] == 8 and law.end == "beyond 8 there is no CPU for each; nothing was measured there"
    )
    few = only(table(0.1, 0.0, sizes=(1, 2, 4)))
    assert few.sizes[0] == 1 and few.sizes[-1] == 8 and few.largest == 4
    assert few.sizes == sorted(few.sizes) and len(few.sizes) == len(few.fitted) == len(few.low) == len(few.high)


def test_a_law_of_more_workers_than_cpus_says_so() -> None:
    given = table(0.1, 0.0)
    before = texts(only(given).flags)
    given.rows[:] = [structs.replace(row, n_cpus=2) for row in given.rows]
    further = "fitted beyond 2, where there is no CPU for each: sigma is no serial share"
    assert texts(only(given).flags) == [*before, further]
    doc = laws(given)
    assert doc is not None and all(row[1] is None and further in row[-1] for row in doc.rows)


def test_lines_are_one_at_the_baseline_and_wider_beyond() -> None:
    law = only(table(0.1, 0.01, sizes=(1, 2, 4)))
    assert law.low[0] == law.high[0] == 1.0
    widths = [high - low for low, high in zip(law.low, law.high, strict=True) if low is not None and high is not None]
    assert widths[1] < widths[10] < widths[-1]


def test_lines_hold_the_true_speedup() -> None:
    law = only(table(0.1, 0.01, sizes=(1, 2, 4)))
    held = 0
    for n, low, high in zip(law.sizes, law.low, law.high, strict=True):
        assert low is not None and high is not None
        held += low <= time(1, 0.1, 0.01, False) / time(n, 0.1, 0.01, False) <= high
    assert held >= 0.9 * len(law.sizes)
    assert law.fitted[0] == pytest.approx(1)


def test_amdahls_line_stands_where_no_coherency_is_possible() -> None:
    assert len(only(table(0.1, 0.0)).amdahl) == len(only(table(0.1, 0.0)).sizes)
    assert only(table(0.1, 0.05)).amdahl == []


CPUS = """\
version = 1
name = "cpus"
title = "t"
work = "total"
seed = 0
[workload]
command = ["p"]
[factors.cpus]
control = "cpus"
levels = [1, 2, 4, 8, 16]
[factors.place]
control = "placement"
levels = ["compact", "scatter", "one-per-core"]
[protocol]
runs = 3
timeout = "10s"
[baseline]
cpus = 1
"""


@pytest.fixture(scope="module")
def machine(tmp_path_factory: pytest.TempPathFactory) -> Mapping[str, Any]:
    """As a journal has it: 2 sockets of 8 cores with two CPUs each."""
    cpus = read_topology(grown(tmp_path_factory.mktemp("host"), two_sockets()))
    return {"topology": [cpu.model_dump() for cpu in cpus]}


def placed(machine: Mapping[str, Any], sizes: tuple[int, ...]) -> Table:
    rng = np.random.default_rng(6)
    places = ("compact", "scatter", "one-per-core")
    configurations: list[dict[str, Any]] = [{"cpus": n, "place": p} for p in places for n in sizes]

    def row(i: int, j: int) -> Row:
        n = int(configurations[i]["cpus"])
        wall = time(n, 0.1, 0.0, False) * float(np.exp(0.01 * rng.standard_normal()))
        return Row(f"r{i}-{j}", j, j, False, configurations[i], "ok", None, "clean", (), {}, {"wall": wall}, n_cpus=n)

    rows = [row(i, j) for i in range(len(configurations)) for j in range(4)]
    return Table(parse(CPUS), "hash", machine, list(configurations), [4] * len(configurations), rows)


def test_nothing_is_predicted_for_cpus_of_another_kind(machine: Mapping[str, Any], tmp_path: Path) -> None:
    doc = laws(placed(machine, (1, 2, 4, 8, 16)))
    assert doc is not None
    told = {row[0]: row[-2].warnings for row in doc.rows}
    assert told["compact"] == ("beyond 16 another socket begins; nothing was measured there",)
    assert told["scatter"] == ("beyond 16 CPUs share cores; nothing was measured there",)
    assert told["one-per-core"] == ("beyond 16 another socket would begin; nothing was measured there",)


def test_where_the_kind_stays_it_is_predicted(machine: Mapping[str, Any]) -> None:
    by_place = {curve.group["place"]: curve.law for curve in lawful(placed(machine, (1, 2, 4, 6)))}
    assert by_place["one-per-core"] and by_place["one-per-core"].sizes[-1] == 8
    assert "beyond 8 another socket begins" in by_place["one-per-core"].end
    assert by_place["scatter"] and by_place["scatter"].twice.value is not None
    assert by_place["compact"] and by_place["compact"].end == "2 times the largest size measured"
