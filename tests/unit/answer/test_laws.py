"""The scaling law of each curve, from runs whose law is known."""

from typing import Any

import numpy as np
import pytest

from scalograph.answer.laws import laws_table
from scalograph.answer.sample import samples
from scalograph.study import parse
from scalograph.table import Row, Table

from ..study.example import VALID

SIZES = (1, 2, 4, 8)
LEVELS = VALID.replace('"1,2,4"', '"1,2,4,8"')


def time(n: int, sigma: float, kappa: float, per_worker: bool) -> float:
    whole = (1 + sigma * (n - 1) + kappa * n * (n - 1)) / n
    return whole * n if per_worker else whole


def table(sigma: float, kappa: float, work: str = "total", sizes: tuple[int, ...] = SIZES, **changes: Any) -> Table:
    study = parse(LEVELS.replace('work = "total"', f'work = "{work}"'))
    rng = np.random.default_rng(5)
    treatments: list[dict[str, Any]] = [{"threads": n, "lock": k} for k in ("none", "cas") for n in sizes]

    def row(i: int, j: int) -> Row:
        t = treatments[i]
        wall = time(int(t["threads"]), sigma, kappa, work != "total") * float(np.exp(0.01 * rng.standard_normal()))
        return Row(f"r{i}-{j}", j, j, False, t, "ok", None, "clean", (), {}, {"wall": wall}, n_cpus=8)

    rows = [row(i, j) for i in range(len(treatments)) for j in range(4)]
    return Table(study, "hash", {}, list(treatments), [4] * len(treatments), rows)


@pytest.mark.parametrize("work", ["total", "per-worker"])
def test_each_curve_has_its_law(work: str) -> None:
    given = table(0.1, 0.01, work)
    doc = laws_table(given, samples(given))
    assert doc is not None and [row[0] for row in doc.rows] == ["none", "cas"]
    for _, sigma, kappa, optimum, _, _flags in doc.rows:
        assert sigma["low"] < 0.1 < sigma["high"] and kappa["low"] < 0.01 < kappa["high"]
        assert optimum["low"] < (0.9 / 0.01) ** 0.5 < optimum["high"]


def test_what_twice_as_many_would_give_is_refused_where_the_cpus_end() -> None:
    given = table(0.1, 0.0)
    doc = laws_table(given, samples(given))
    assert doc is not None
    refused = doc.rows[0][4]
    assert refused["value"] is None and "beyond 8 the CPUs share" in refused["warnings"][0]


def test_two_sizes_have_no_law() -> None:
    given = table(0.1, 0.0, sizes=(1, 2))
    assert laws_table(given, samples(given)) is None


def test_without_a_baseline_there_is_none() -> None:
    given = table(0.1, 0.0)
    given.study = parse(LEVELS.replace("[baseline]\nthreads = 1\n", ""))
    assert laws_table(given, samples(given)) is None
