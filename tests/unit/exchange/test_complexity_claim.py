"""`scalograph fit --law complexity`: what is said of times over sizes, and what is refused."""

import json
from pathlib import Path

import numpy as np
import pytest

from scalograph.cli.main import _code
from scalograph.exchange.complexity_claim import complexities, complexity_claim, complexity_tables
from scalograph.exchange.csv_points import Points
from scalograph.exchange.law_registry import LAWS
from scalograph.protocol.findings import Claim
from scalograph.protocol.plain import load_object
from scalograph.text.answer_form import value_text
from tests.unit.exchange.instruments import given

SIZES = np.repeat([16.0, 64, 256, 1024, 4096, 16384], 3)


def claim_of(times: np.ndarray, x: str = "n", sizes: np.ndarray = SIZES, noise: float = 0.01) -> Claim:
    took = times * np.exp(noise * np.random.default_rng(3).standard_normal(sizes.size))
    found = complexities(Points(sizes.tolist(), took.tolist()), "relative", 0.95) | {"unit": "s"}
    return complexity_claim(found, x)


def test_one_class_is_left_and_told_with_its_cost_in_its_unit() -> None:
    claim = claim_of(2e-6 * (50 + SIZES * np.log2(SIZES)), "rows")
    first, cost, prediction = claim.cases
    assert claim.answered and (first.case, first.values["class"]) == ("class", "rows log rows")
    assert (
        cost.values["base"] and cost.values["cost"].estimate.contains(2e-6) and cost.values["cost"].scale.unit == "µs"
    )
    assert prediction.values["size"] == "32,768" and 0.9 < prediction.values["time"].estimate.value < 1.0


def test_classes_that_are_left_are_all_told() -> None:
    narrow = np.repeat([1000.0, 1700, 2900, 5000], 3)
    claim = claim_of(narrow, sizes=narrow, noise=0.1)
    assert not claim.answered and claim.cases[0].case == "open class"
    assert claim.cases[0].values["some"] == ["n", "n log n", "n^2"]


def test_no_growth_is_told_with_its_bound() -> None:
    claim = claim_of(np.ones_like(SIZES), sizes=4.0 * SIZES**2)
    assert claim.answered and claim.cases[0].case == "constant" and 0 < claim.cases[0].values["most"] < 0.1


@pytest.mark.parametrize(
    ("times", "case", "exponent"),
    [(np.where(SIZES > 1000, 8 * SIZES, SIZES), "no class", 1.39), (1e-9 * SIZES**4, "power", 4.0),
     (SIZES**-0.5, "falls", -0.5)],
)  # fmt: skip
def test_growth_by_no_class_is_told_by_its_exponent(times: np.ndarray, case: str, exponent: float) -> None:
    claim = claim_of(times)
    first = claim.cases[0]
    assert (first.case, claim.answered) == (case, case != "no class")
    assert first.values["exponent"].estimate.value == pytest.approx(exponent, abs=0.01)
    assert first.values["classes"] == "1, log n, n, n log n, n^2, n^3"


def test_every_number_of_the_sentences_is_that_of_a_row() -> None:
    for times in (2e-6 * (50 + SIZES * np.log2(SIZES)), 1e-9 * SIZES**4):
        claim = claim_of(times)
        assert claim.matrix is not None
        cells = [cell for row in claim.matrix.rows for cell in row.cells]
        shown = {cell.text.split()[0] for cell in cells if cell.text}
        estimates = [cell.estimate for cell in cells if cell.estimate]
        named = {"cost": "cost", "prediction": "time", "power": "exponent"}
        values = [case.values[named[case.case]] for case in claim.cases if case.case in named]
        assert values and all(value_text(*q) in shown or q.estimate in estimates for q in values)


def test_tables_say_why_a_class_is_refuted() -> None:
    found = complexities(Points(SIZES.tolist(), (1 + SIZES).tolist()), "relative", 0.95)
    classes, power, points = complexity_tables(found)
    refuted = {row[0]: row[-1] for row in classes.rows}
    assert refuted["n"] == "" and all(refuted[name] for name in ("1", "log n", "n log n", "n^2", "n^3"))
    assert [row[0] for row in points.rows][-2:] == ["4,096", "16,384"] and power.rows[0][-1]
    costs = {row[0]: row[2] for row in classes.rows}
    assert costs["n"].low == costs["n"].high == pytest.approx(1.0) and costs["n^2"].value and costs["n^2"].low is None


def test_the_command_reads_times(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    rows = [f"{n},{n**2 * factor}\n" for n in (10, 20, 40, 80) for factor in (1, 1.01)]
    fit = ["fit", str(given(tmp_path, "".join(["size,seconds\n", *rows]))), "--law", "complexity", "--x", "size"]
    assert _code([*fit, "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["possible"] == ["n^2"]
    assert _code(fit) == 0
    shown = capsys.readouterr().out
    assert (
        "How does time grow with size?" in shown and "Time grows as size^2. Each size^2 takes 1.005 s (95% CI" in shown
    )


@pytest.mark.parametrize("law", LAWS)
def test_every_row_resolves(law: str) -> None:
    row = LAWS[law]
    assert all(callable(load_object(place)) for place in (row.document, row.claim, row.tables))
