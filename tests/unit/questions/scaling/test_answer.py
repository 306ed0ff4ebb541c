"""The scaling law of each curve, from runs whose law is known."""

from collections.abc import Mapping
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
from scalograph.questions.scaling.tables import isoefficiency_table, laws_table
from scalograph.study.levels import Configuration
from scalograph.study.load import parse
from scalograph.system.topology import read_topology
from tests.kit.findings import texts
from tests.kit.studies import a_study
from tests.unit.control.trees import grown, two_sockets

SIZES = (1, 2, 4, 8)
SWEEP = {"protocol": {"runs": 3}}


def time(n: int, sigma: float, kappa: float, per_worker: bool = False) -> float:
    whole = (1 + sigma * (n - 1) + kappa * n * (n - 1)) / n
    return whole * n if per_worker else whole


def made(
    text: str, factor: str, configurations: list[Configuration], law: tuple[float, float], n_cpus: int | None = 8,
    machine: Mapping[str, Any] | None = None, seed: int = 5,
) -> Table:  # fmt: skip
    """Four runs of each configuration, which take the time of a law but for 1% of noise."""
    study, rng = parse(text), np.random.default_rng(seed)

    def row(levels: Configuration, i: int, j: int) -> Row:
        n = int(levels[factor])
        wall = time(n, *law, study.work != "total") * float(np.exp(0.01 * rng.standard_normal()))
        return Row(f"r{i}-{j}", j, j, False, levels, "ok", None, "clean", (), {}, {"wall": wall}, n_cpus=n_cpus or n)

    rows = [row(levels, i, j) for i, levels in enumerate(configurations) for j in range(4)]
    return Table(study, "hash", dict(machine or {}), [*configurations], [4] * len(configurations), rows)


def table(
    sigma: float, kappa: float, work: str = "total", sizes: tuple[int, ...] = SIZES, has_baseline: bool = True
) -> Table:
    baseline = {"baseline": {"threads": 1}} if has_baseline else {}
    text = a_study({"threads": "1,2,4,8", "lock": ["none", "cas"]}, work=work, **SWEEP, **baseline)
    return made(text, "threads", [{"threads": n, "lock": k} for k in ("none", "cas") for n in sizes], (sigma, kappa))


def lawful(given: Table) -> list[Curve]:
    taken = samples_by_configuration(given)
    return add_laws(given, taken, make_curves(given, taken))


def laws(given: Table) -> TableDoc:
    doc = laws_table(given, lawful(given))
    assert doc is not None
    return doc


def only(given: Table) -> LawDoc:
    law = lawful(given)[0].law
    assert law is not None
    return law


@pytest.mark.parametrize("work", ["total", "per-worker"])
def test_each_curve_has_its_law(work: str) -> None:
    doc = laws(table(0.1, 0.01, work))
    assert [row[0] for row in doc.rows] == ["none", "cas"]
    for _, sigma, kappa, optimum, _, _flags in doc.rows:
        assert sigma.low < 0.1 < sigma.high and kappa.low < 0.01 < kappa.high
        assert optimum.low < (0.9 / 0.01) ** 0.5 < optimum.high


@pytest.mark.parametrize("given", [table(0.1, 0.0, sizes=(1, 2)), table(0.1, 0.0, has_baseline=False)],
                         ids=["two sizes", "no baseline"])  # fmt: skip
def test_without_sizes_or_a_baseline_there_is_no_law(given: Table) -> None:
    assert laws_table(given, lawful(given)) is None


def test_lines_end_where_the_law_may_predict() -> None:
    given = table(0.1, 0.0)
    law, end = only(given), "beyond 8 there is no CPU for each"
    assert law.largest == law.sizes[-1] == 8 and law.end == f"{end}; nothing was measured there"
    refused = laws(given).rows[0][4]
    assert refused.value is None and end in refused.warnings[0]
    few = only(table(0.1, 0.0, sizes=(1, 2, 4)))
    assert few.sizes[0] == 1 and few.sizes[-1] == 8 and few.largest == 4
    assert few.sizes == sorted(few.sizes) and len(few.sizes) == len(few.fitted) == len(few.low) == len(few.high)


def test_a_law_of_more_workers_than_cpus_says_so() -> None:
    given = table(0.1, 0.0)
    before = texts(only(given).flags)
    given.rows[:] = [structs.replace(row, n_cpus=2) for row in given.rows]
    further = "fitted beyond 2, where there is no CPU for each: sigma is no serial share"
    assert texts(only(given).flags) == [*before, further]
    assert all(row[1] is None and further in row[-1] for row in laws(given).rows)


def test_lines_hold_the_true_speedup_and_amdahls_where_no_coherency_is_possible() -> None:
    law = only(table(0.1, 0.01, sizes=(1, 2, 4)))
    assert law.low[0] == law.high[0] == 1.0 and law.fitted[0] == pytest.approx(1)
    bounds = [(low, high) for low, high in zip(law.low, law.high, strict=True) if low is not None and high is not None]
    widths = [high - low for low, high in bounds]
    assert len(bounds) == len(law.sizes) and widths[1] < widths[10] < widths[-1]
    true = [time(1, 0.1, 0.01) / time(n, 0.1, 0.01) for n in law.sizes]  # type: ignore[arg-type]
    held = sum(low <= speedup <= high for (low, high), speedup in zip(bounds, true, strict=True))
    assert held >= 0.9 * len(law.sizes)
    law = only(table(0.1, 0.0))
    assert len(law.amdahl) == len(law.sizes) and only(table(0.1, 0.05)).amdahl == []


@pytest.fixture(scope="module")
def machine(tmp_path_factory: pytest.TempPathFactory) -> Mapping[str, Any]:
    """As a journal has it: 2 sockets of 8 cores with two CPUs each."""
    cpus = read_topology(grown(tmp_path_factory.mktemp("host"), two_sockets()))
    return {"topology": [cpu.model_dump() for cpu in cpus]}


def placed(machine: Mapping[str, Any], sizes: tuple[int, ...]) -> Table:
    places = ["compact", "scatter", "one-per-core"]
    factors = {"cpus": {"control": "cpus", "levels": "1,2,4,8,16"}, "place": {"control": "placement", "levels": places}}
    configurations: list[Configuration] = [{"cpus": n, "place": p} for p in places for n in sizes]
    text = a_study(factors, baseline={"cpus": 1}, **SWEEP)
    return made(text, "cpus", configurations, (0.1, 0.0), n_cpus=None, machine=machine, seed=6)


def test_of_cpus_of_another_kind_nothing_is_predicted_and_of_the_same_it_is(machine: Mapping[str, Any]) -> None:
    told = {row[0]: row[-2].warnings for row in laws(placed(machine, (1, 2, 4, 8, 16))).rows}
    assert told["compact"] == ("beyond 16 another socket begins; nothing was measured there",)
    assert told["scatter"] == ("beyond 16 CPUs share cores; nothing was measured there",)
    assert told["one-per-core"] == ("beyond 16 another socket would begin; nothing was measured there",)
    by_place = {curve.group["place"]: curve.law for curve in lawful(placed(machine, (1, 2, 4, 6)))}
    assert by_place["one-per-core"] and by_place["one-per-core"].sizes[-1] == 8
    assert "beyond 8 another socket begins" in by_place["one-per-core"].end
    assert by_place["scatter"] and by_place["scatter"].twice.value is not None
    assert by_place["compact"] and by_place["compact"].end == "2 times the largest size measured"


def on_classes(slow_from: int, slow: float, fast: int = 4) -> Table:
    """A sweep over 12 CPUs, of which those from the fifth on are slower by a factor, as `doctor --cpus` measured it."""
    sizes, text = (1, 2, 3, 4, 6, 8, 12), a_study({"cpus": {"control": "cpus", "levels": "1:12"}}, baseline={"cpus": 1})
    classes = [{"cpu": n, "core": n, "speed_class": int(n >= fast)} for n in range(12)]
    given = made(text, "cpus", [{"cpus": n} for n in sizes], (0.02, 0.0), 12, {"topology": classes})

    def scale(row: Row) -> Row:
        n = int(row.configuration["cpus"])
        share = n / (min(n, slow_from) + slow * max(0, n - slow_from))
        return structs.replace(row, scores={"wall": row.scores["wall"] * share})

    given.rows[:] = map(scale, given.rows)
    return given


def test_a_law_ends_where_slower_cpus_begin() -> None:
    law = only(on_classes(slow_from=4, slow=0.5))
    assert law.largest == 4 and law.sigma.low is not None and law.sigma.low < 0.02 < (law.sigma.high or 0)
    assert [flag.text for flag in law.flags if flag.code == "class edge"] == [
        "ends at 4: beyond, CPUs of another speed begin, and the points leave the law"
    ]
    assert law.twice.value is None


def test_a_law_goes_on_over_an_edge_at_which_nothing_changes() -> None:
    law = only(on_classes(slow_from=4, slow=1.0))
    assert law.largest == 12 and not [flag for flag in law.flags if flag.code == "class edge"]


ALL_SIZES = (100, 200, 400, 800, 1600)


def isoefficiency(overhead: float, sizes: tuple[int, ...] = ALL_SIZES) -> list[list[Any]]:
    """Rows of the table, of a program whose n threads share work of `size` and each but one add an overhead."""
    study = parse(a_study({"threads": [1, 2, 4], "size": [*sizes]}, baseline={"threads": 1}, **SWEEP))
    grid = [{"threads": n, "size": size} for n in (1, 2, 4) for size in sizes]

    def row(levels: dict[str, int], i: int, j: int) -> Row:
        n, size = levels["threads"], levels["size"]
        wall = (1 + 0.002 * (i * j % 3 - 1)) * (size + overhead * (n - 1)) / n
        return Row(f"r{i}-{j}", j, j, False, levels, "ok", None, "clean", (), {}, {"wall": wall}, n_cpus=8)

    rows = [row(levels, i, j) for i, levels in enumerate(grid) for j in range(5)]
    given = Table(study, "hash", {}, [*grid], [5] * len(grid), rows)
    shown = isoefficiency_table(given, make_curves(given, samples_by_configuration(given)))
    return shown.rows if shown else []


def test_the_size_that_an_efficiency_of_80_percent_needs_grows_with_the_overhead() -> None:
    # E = size / (size + overhead (n - 1)) is 0.8 at 4 overhead (n - 1): 200 with 2 threads, and 600 with 4.
    two, four = isoefficiency(50)
    assert (two[0], four[0]) == (2, 4)
    assert 195 <= float(two[1].split()[0]) <= 205 and 560 <= float(four[1].split()[0]) <= 640


def test_an_efficiency_that_is_kept_everywhere_or_not_at_all_is_said_to_be_so() -> None:
    assert [row[1] for row in isoefficiency(0.1)] == ["100 [100\N{EN DASH}100]"] * 2
    assert [row[1] for row in isoefficiency(250)][1] == "over 1,600"
    assert isoefficiency(5000) == [] and isoefficiency(50, (100, 1600)) == []
