"""`scalograph fit --law complexity`: what is said of times over sizes, and what is refused."""

import json
import re
from pathlib import Path

import numpy as np
import pytest

from scalograph.cli.main import _code
from scalograph.exchange.complexity_claim import complexities, complexity_claim, complexity_tables
from scalograph.exchange.csv_points import Points
from scalograph.exchange.law_registry import LAWS
from scalograph.protocol.plain import load_object
from tests.unit.exchange.instruments import given

SIZES = np.repeat([16.0, 64, 256, 1024, 4096, 16384], 3)


def said(times: np.ndarray, x: str = "n", sizes: np.ndarray = SIZES, noise: float = 0.01) -> tuple[str, bool]:
    took = times * np.exp(noise * np.random.default_rng(3).standard_normal(sizes.size))
    found = complexities(Points(sizes.tolist(), took.tolist()), "relative", 0.95) | {"unit": "s"}
    claim = complexity_claim(found, x)
    return " ".join(claim.sentences), claim.answered


def test_one_class_is_left_and_told_with_its_cost_or_all_that_are_left() -> None:
    told, is_answered = said(2e-6 * (50 + SIZES * np.log2(SIZES)), "rows")
    assert is_answered and told.startswith("Time grows as rows log rows. Each rows log rows (log to base 2) takes ")
    assert re.search(r" takes (1\.9|2\.0)\d* µs \[1\.9\d*, 2\.0", told)
    assert re.search(r" At 32,768 it would be 9\d\d to 9\d\d ms, if it grows on", told)
    narrow = np.repeat([1000.0, 1700, 2900, 5000], 3)
    told, is_answered = said(narrow, sizes=narrow, noise=0.1)
    assert not is_answered and "Time grows as n, n log n or n^2: the points do not tell which." in told
    flat, is_answered = said(np.ones_like(SIZES), sizes=4.0 * SIZES**2)
    assert is_answered and flat.startswith("Time does not grow from n = 1,024 to 1,073,741,824, or by ")


def test_growth_by_no_class_is_told_by_its_exponent() -> None:
    steps, is_answered = said(np.where(SIZES > 1000, 8 * SIZES, SIZES))
    every = "1, log n, n, n log n, n^2, n^3"
    assert not is_answered and steps.startswith(f"Cannot be said: time grows as none of {every} alone; from n = 16 to ")
    assert "its mean exponent is 1.39 [1." in steps
    power, is_answered = said(1e-9 * SIZES**4)
    assert is_answered and power.startswith("Time grows as n^4.00")
    assert power.endswith(f"] from n = 16 to 16,384, as none of {every}.")
    falls, is_answered = said(SIZES**-0.5, "rows")
    assert is_answered and falls.startswith("Time does not grow: from rows = 16 to 16,384 it falls as rows^−0.")


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
    assert _code([*fit, "--json"]) == 0 and json.loads(capsys.readouterr().out)["possible"] == ["n^2"]
    assert _code(fit) == 0
    shown = capsys.readouterr().out
    assert "How does time grow with size?" in shown and "Time grows as size^2. Each size^2 takes 1.005 s [" in shown


@pytest.mark.parametrize("law", LAWS)
def test_every_row_resolves(law: str) -> None:
    row = LAWS[law]
    assert all(callable(load_object(place)) for place in (row.document, row.claim, row.tables))
