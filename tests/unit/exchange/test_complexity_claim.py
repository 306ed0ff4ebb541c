"""`scalograph fit --law complexity`: what is said of times over sizes, and what is refused."""

import json
from pathlib import Path

import numpy as np
import pytest

from scalograph.cli.main import _code
from scalograph.exchange.complexity_claim import complexities, complexity_claim, complexity_tables
from scalograph.exchange.csv_points import Points
from scalograph.exchange.law_registry import LAWS, named

SIZES = np.repeat([16.0, 64, 256, 1024, 4096, 16384], 3)


def said(times: np.ndarray, x: str = "n", sizes: np.ndarray = SIZES) -> tuple[str, bool]:
    noise = np.exp(0.01 * np.random.default_rng(3).standard_normal(sizes.size))
    claim = complexity_claim(complexities(Points(sizes.tolist(), (times * noise).tolist()), "relative", 0.95), x)
    return " ".join(claim.sentences), claim.answered


def test_one_class_is_left_and_told_with_its_cost() -> None:
    told, is_answered = said(1e-6 * (50 + SIZES * np.log2(SIZES)), "rows")
    assert is_answered and told.startswith(
        "Time grows as rows log rows. Each rows log rows (to base 2) takes 9.98e-07 [9.9e-07"
    )
    assert "At 32768 it would be 0.4" in told


def test_classes_that_are_left_are_all_told() -> None:
    narrow = np.repeat([1000.0, 1300, 1700, 2200], 3)
    told, is_answered = said(narrow, sizes=narrow)
    assert not is_answered and " or n log n: the points do not tell which" in told


def test_no_growth_is_told_with_its_bound_and_another_one_refused() -> None:
    flat, is_answered = said(np.ones_like(SIZES))
    assert is_answered and flat.startswith("Time does not grow from n = 16 to 16384: by ")
    other, is_answered = said(np.where(SIZES > 1000, 8 * SIZES, SIZES))
    assert not is_answered and other == (
        "Cannot be said: by none of 1, log n, n, n log n, n^2, n^3 alone do the points grow."
    )


def test_tables_say_why_a_class_is_refuted() -> None:
    found = complexities(Points(SIZES.tolist(), (1 + SIZES).tolist()), "relative", 0.95)
    classes, points = complexity_tables(found)
    refuted = {row[0]: row[-1] for row in classes.rows}
    assert refuted["n"] == "" and all(refuted[name] for name in ("1", "log n", "n log n", "n^2", "n^3"))
    assert len(points.rows) == 6


def test_the_command_reads_times(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "times.csv"
    file.write_text(
        "size,seconds\n" + "".join(f"{n},{n**2 * factor}\n" for n in (10, 20, 40, 80) for factor in (1, 1.01))
    )
    assert _code(["fit", str(file), "--law", "complexity", "--x", "size", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["possible"] == ["n^2"]
    assert _code(["fit", str(file), "--law", "complexity", "--x", "size"]) == 0
    assert "Time grows as size^2. Each size^2 takes 1.00" in capsys.readouterr().out
    for options, told in (
        (["--law", "log"], '"log", expected one of usl, complexity'),
        (["--weights", "none"], "relative"),
    ):
        assert _code(["fit", str(file), "--law", "complexity", "--x", "size", *options]) == 2
        assert told in capsys.readouterr().err


@pytest.mark.parametrize("law", LAWS)
def test_every_row_resolves(law: str) -> None:
    row = LAWS[law]
    assert all(callable(named(place)) for place in (row.document, row.claim, row.tables))
