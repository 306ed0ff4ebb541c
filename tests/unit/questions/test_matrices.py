"""Rows of a matrix: alike ones in one, no more than are read at a glance."""

import numpy as np
import pytest
from simulate.noise import QUIET
from simulate.scaling import SHAPES, simulate_study

from scalograph.analysis.estimate import Estimate
from scalograph.findings.sample import samples_by_configuration
from scalograph.findings.table import Table
from scalograph.protocol.findings import MatrixCell
from scalograph.protocol.plain import Level
from scalograph.questions.matrices import MOST_ROWS, Line, are_equivalent, matrix, mean_estimate, rows
from scalograph.study.load import parse
from tests.kit.studies import a_study

NAMES = ("lock", "held", "quantum")


def of(values: list[float], width: float = 0.05) -> tuple[list[str], list[list[float | None]]]:
    """Labels and values of locks that have these at 2 threads."""
    table = simulate_study(np.random.default_rng(0), [SHAPES["flat"]] * len(values), QUIET, n_blocks=2)
    cells = []
    for sample in samples_by_configuration(table).values():
        value = values[int(str(sample.configuration["lock"]))]
        cells.append((sample, MatrixCell(estimate=Estimate(value, value - width, value + width, n=2))))
    made = matrix(table, rows(table, "threads", [2], cells), ["2 threads"], title="t")
    return [row.label for row in made.rows], [[c.estimate and c.estimate.value for c in row.cells] for row in made.rows]


def test_alike_settings_share_a_row_and_others_do_not() -> None:
    labels, values = of([1.0, 1.01, 2.0])
    assert labels == ["0, 1", "2"] and values[1] == [2.0]
    assert of([1.0, 1.0])[0] == ["all"]
    assert len(of([1.0, 1.09, 1.18, 1.27, 1.36])[0]) > 1, "a chain of neighbors is not one row"
    assert len(of([float(2**i) for i in range(12)], 0.01)[0]) == MOST_ROWS, "no more than are read at a glance"


def test_a_row_of_usual_levels_is_not_called_all() -> None:
    study = parse(a_study({name: ["x", "y"] for name in NAMES}, protocol={"runs": 1}))
    table = Table(study, "", {}, [dict.fromkeys(NAMES, level) for level in "xy"], [1, 1])
    both, x, y = ("x", "y"), ("x",), ("y",)
    sides: list[tuple[tuple[Level, ...], ...]] = [(both, x, x), (both, y, x), (both, x, y), (both, both, both)]
    lines = [Line(dict(zip(NAMES, levels, strict=True)), (MatrixCell(),)) for levels in sides]
    made = matrix(table, lines, ["2 threads"], title="t")
    assert [row.label for row in made.rows] == ["held x, quantum x", "held y", "quantum y", "all"]
    assert made.note == "otherwise held x, quantum x"


def test_what_is_inconclusive_or_marked_shares_no_row() -> None:
    assert not are_equivalent(Estimate(1.0), Estimate(1.0, 0.99, 1.01))
    assert not are_equivalent(Estimate(1.0, 0.6, 1.4), Estimate(1.0, 0.6, 1.4))
    assert len(of([1.0, 1.0], width=0.4)[0]) == 2


def test_the_number_of_a_row_is_a_mean_with_its_own_interval() -> None:
    shown = mean_estimate([Estimate(1.0, 0.98, 1.02), Estimate(1.04, 1.02, 1.06)])
    assert shown.value == pytest.approx(1.0198, abs=1e-4) and shown.high is not None and shown.high < 1.04


def test_configurations_that_an_answer_tells_apart_share_no_row() -> None:
    table = simulate_study(np.random.default_rng(0), [SHAPES["flat"]] * 3, QUIET, n_blocks=2)
    alike = MatrixCell(estimate=Estimate(1.0, 0.99, 1.01))
    cells = [(sample, alike) for sample in samples_by_configuration(table).values()]
    made = rows(table, "threads", [2], cells, lambda levels: levels["lock"] == "1")
    assert [line.levels for line in made] == [{"lock": ("0", "2")}, {"lock": ("1",)}]
