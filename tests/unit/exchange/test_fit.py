"""Numbers measured elsewhere, and what the laws say of them: of scaling, and of time over sizes."""

import json
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from scalograph.cli.main import _code
from scalograph.errors import Exit, StudyError
from scalograph.exchange.benchmark import Benchmark, Kind, fork
from scalograph.exchange.complexity_claim import complexities, complexity_claim, complexity_tables
from scalograph.exchange.csv_points import MAX_ROWS, Points, parse_params, points_over, read_points
from scalograph.exchange.fit import fit_claim, fit_tables, laws
from scalograph.exchange.law_registry import LAWS
from scalograph.protocol.findings import Claim
from scalograph.protocol.plain import load_object
from scalograph.text.answer_form import value_text
from tests.golden.command import scalograph
from tests.kit.findings import cases_of
from tests.kit.refusals import refuses, values
from tests.kit.shown_numbers import check_numbers
from tests.unit.exchange.instruments import FILES, given

REFUSALS = Path(__file__).parent / "refusals.toml"

RAYS = [1, 4, 8, 12, 16, 20, 24, 28, 32, 48, 64], [20, 78, 130, 170, 190, 200, 210, 230, 260, 280, 310]


def data(folder: Path, text: str) -> Path:
    return given(folder, text, "data.csv")


def test_one_point_that_contradicts_all_others_is_named() -> None:
    for at, size in ((1, 2), (2, 4), (3, 8)):
        rates = [10.0, 19.0, 36.0, 60.0, 90.0]
        rates[at] *= 1000
        with pytest.raises(StudyError, match=rf"at size {size}: .* times what all other points predict") as refused:
            laws_of([1, 2, 4, 8, 16], rates)
        assert "the others give sigma 0.0" in str(refused.value.problems[0])
    # A collapse at the end is no mistake, nor a program that is best alone.
    for rates in ([10.0, 19.0, 36.0, 60.0, 0.09], [60.0, 8.0, 9.0, 9.2, 9.3]):
        assert laws_of([1, 2, 4, 8, 16], rates)["reason"]


def laws_of(sizes: Any, rates: Any, weights: str = "relative", predicted: Sequence[float] = ()) -> dict[str, Any]:
    return laws(Points(list(sizes), list(rates)), weights, 0.95, predicted)


def claim(sizes: Any, rates: Any) -> Claim:
    return fit_claim(laws_of(sizes, rates), "n")


@pytest.mark.parametrize(("text", "columns", "points"), [
    ("\ufeffusers, note ,rps\n1,a,10\n2,b,19.5\n2,c,20\n", ("users", "rps"), ([1, 2, 2], [10, 19.5, 20])),
    ("n;throughput\n0.5;5\n2;20\n", (), ([0.5, 2], [5, 20])),
    ("n\tthroughput\n1\t5\n", (), ([1], [5])),
    ('n,note,throughput\n1,"a, b",+1.5e1\n2,c, .5 \n', (), ([1, 2], [15.0, 0.5])),
    ("n,seconds\n1,4\n2,2\n", ("n", "seconds", True), ([1, 2], [0.25, 0.5])),
], ids=["by name", "semicolons", "tabs", "quoted", "times"])  # fmt: skip
def test_points_are_read(tmp_path: Path, text: str, columns: tuple[Any, ...], points: tuple[list[float], ...]) -> None:
    assert read_points(data(tmp_path, text), *columns) == points


@pytest.mark.parametrize(("text", "told"), values(REFUSALS, "points"))
def test_mistakes_are_told_by_line(tmp_path: Path, text: str, told: str) -> None:
    refuses(StudyError, told, read_points, data(tmp_path, text))


def test_standard_input_is_read_where_no_file_is_named_and_an_endless_one_fills_no_memory() -> None:
    text = "n,seconds\n1,10\n2,5.6\n4,3.4\n8,2.6\n"
    command = [sys.executable, "-m", "scalograph", "fit", "--times", "--json"]
    done = subprocess.run(command, input=text, capture_output=True, text=True, check=True)
    assert '"throughput"' in done.stdout and '"size": 8.0' in done.stdout
    limit = "import resource; resource.setrlimit(resource.RLIMIT_AS, (2 << 30,) * 2)"
    code = f"{limit}; from pathlib import Path; from scalograph.exchange.csv_points import read_points"
    command = [sys.executable, "-c", f"{code}; read_points(Path('/dev/stdin'))"]
    with Path("/dev/zero").open() as endless:
        done = subprocess.run(command, stdin=endless, capture_output=True, text=True, check=False)
    assert done.stderr.endswith("/dev/stdin: cannot be read: larger than 16 MiB, expected a CSV file with a header\n")


def test_a_file_that_is_none_or_endless_is_refused(tmp_path: Path) -> None:
    refuses(StudyError, "cannot be read", read_points, tmp_path / "none.csv")
    with pytest.raises(StudyError, match=f"more than {MAX_ROWS} rows"):
        read_points(data(tmp_path, "n,throughput\n" + "1,1\n" * (MAX_ROWS + 1)))
    (tmp_path / "data.csv").write_bytes(b"n,throughput\n\xff\xfe,1\n")
    refuses(StudyError, "cannot be read", read_points, tmp_path / "data.csv")


def test_the_laws_say_what_limits_and_how_far() -> None:
    found = laws_of(*RAYS, "none", [96.0, 300.0])
    assert found["sigma"]["value"] == pytest.approx(0.057771, rel=1e-4)
    assert [point["size"] for point in found["points"]] == RAYS[0]
    first, second = found["points"][:2]
    assert first["speedup"] is None and second["speedup"]["value"] == pytest.approx(3.9)
    assert second["serial_fraction"]["value"] == pytest.approx((1 / 3.9 - 1 / 4) / (1 - 1 / 4))
    told = fit_claim(found, "n")
    assert told.matrix is not None and told.matrix.columns[-2:] == ["96", "300"]
    assert cases_of(told)["share"]["share"].estimate.value == found["sigma"]["value"]
    assert "300 is more than 2 times" in found["predictions"][1]["warnings"][0]
    # SPEC SDM 91 on a SPARCcenter 2000, in Gunther (2007); sigma 0.0277 and kappa 0.000104 by the package usl of R.
    sizes, rates = [1, 18, 36, 72, 108, 144, 216], [64.9, 995.9, 1652.4, 1853.2, 1828.9, 1775.0, 1702.2]
    found = laws_of(sizes, rates, "none")
    assert found["sigma"]["value"] == pytest.approx(0.02773, rel=1e-3)
    assert found["kappa"]["value"] == pytest.approx(0.00010437, rel=1e-3)


def test_laws_gains_and_sentences_keep_to_what_the_points_show() -> None:
    told = claim([100, 800, 1600, 3200, 6400], [1, 9, 20, 44, 96])
    assert "superlinear at 800, 1,600, 3,200, 6,400: throughput grew by more" in cases_of(told)["no law"]["reason"]
    assert told.matrix is not None and all(row.cells[-1].estimate is not None for row in told.matrix.rows)
    gained = laws_of([1, 1, 1, 2, 2, 2, 4, 4], [10, 10.1, 9.9, 19, 19.1, 18.9, 36, 35])["points"][1]["speedup"]
    assert gained["low"] < 1.9 < gained["high"]
    found = laws_of([1, 2, 4, 8, 16], [10, 8, 5.1, 3, 2.9])["optimum"]
    assert all(found[end] is None or found[end] >= 1 for end in ("value", "low", "high"))
    sizes, noise = [1, 1, 2, 2, 4, 4, 8, 8], [1.0, 1.04, 1.01, 0.98, 1.02, 0.99, 1.0, 0.97]
    assert {"falls", "shown"}.isdisjoint(cases_of(claim(sizes, [10 * x for x in noise])))
    falling = claim(sizes, [10 * x / k for x, k in zip(noise, (1, 1, 2, 2, 3, 3, 4, 4), strict=True)])
    assert (falling.cases[0].case, falling.cases[0].values["near"]) == ("shown", ["1"])
    assert claim([1, 2, 4, 8], [10, 10, 10, 10]).cases[0].case == "serial"
    n, rng = np.arange(1, 13.0), np.random.default_rng(5)
    for _ in range(10):
        rates = np.where(n <= 3, 10 * n, 30 - 1.5 * (n - 3)) * np.exp(0.03 * rng.standard_normal(n.size))
        found = claim(n, rates)
        assert [*cases_of(found)][:2] == ["shown", "contradicted"] and found.cases[0].values["near"][0] in "345"


@pytest.mark.parametrize(("sizes", "rates"), [
    ([1, 2, 4, 8], [10, 15, 30, 35]),
    ([100, 200, 400, 800], [100, 150, 310, 390]),
    ([1, 2, 4, 8, 16], [10, 8, 6.1, 3.9, 3.5]),
    ([0.31, 1, 2, 5, 10, 20], [3, 9.6, 18, 40, 66, 92]),
    ([2, 4, 8, 16, 32], [10, 8.1, 7.0, 6.6, 6.2]),
])  # fmt: skip
def test_poor_fits_are_told_in_words(sizes: list[float], rates: list[float]) -> None:
    told = " ".join(claim(sizes, rates).sentences)
    assert "None" not in told and "e+0" not in told and "nan" not in told


COLLAPSE = [1, 2, 4, 8, 16, 32, 64, 128, 256], [4.0, 6.17, 11.4, 20.6, 29.9, 28.2, 9.0, 2.14, 0.668]


@pytest.mark.parametrize(("sizes", "rates", "near", "lower", "base", "reason"), [
    (*COLLAPSE, ["16", "32"], 5.99, "1", "the curve is 4.3 times off at 256"),
    ([1, 2, 4, 8], [65.36, 12.77, 5.13, 2.53], ["1"], 25.8, "", "throughput falls from the smallest size on"),
    ([1, 2, 4, 8, 16], [15.6, 11.6, 8.3, 5.54, 4.15], ["1"], 3.76, "", "throughput falls from the smallest size on"),
], ids=["collapse", "slower with more", "no share"])  # fmt: skip
def test_a_law_against_its_points_tells_no_figure(
    sizes: Any, rates: Any, near: list[str], lower: float, base: str, reason: str
) -> None:
    found = laws_of(sizes, rates, predicted=[2 * sizes[-1]])
    told = fit_claim(found, "n")
    values = told.cases[0].values
    assert told.answered and (told.cases[0].case, found["reason"]) == ("shown", reason)
    assert (values["near"], values["base"]) == (near, base) and values["times"] == pytest.approx(lower, rel=2e-3)
    laws_figures = [found[name] for name in ("sigma", "kappa", "gamma", "optimum")] + found["predictions"]
    assert all(e["value"] is e["low"] is e["high"] is None for e in laws_figures)
    assert all(point["fitted"] is None for point in found["points"]) and "sigma" not in " ".join(found["flags"])
    assert told.matrix is not None and [row.label for row in told.matrix.rows] == ["measured"]
    assert set(near) <= set(told.matrix.columns)
    (table,) = fit_tables(found)
    assert "model" not in [column.name for column in table.columns]


def test_without_a_prediction_the_row_has_none() -> None:
    found = laws_of([1, 2, 3], [5.03, 9.79, 13.9], predicted=[6])
    told = fit_claim(found, "n")
    assert "no prediction" in cases_of(told) and found["predictions"][0]["value"] is None
    assert told.matrix is not None and all(row.cells[-1].estimate is None or row.cells[-1].estimate.value is None
                                           for row in told.matrix.rows)  # fmt: skip


def test_a_maximum_is_said_only_where_the_points_carry_it() -> None:
    n = np.repeat([1.0, 2, 4, 8, 16, 24, 32, 48], 3)
    noise = np.exp(0.02 * np.random.default_rng(1).standard_normal(n.size))
    peak = claim(n, 10 * n / (1 + 0.05 * (n - 1) + 0.0015 * n * (n - 1)) * noise)
    assert peak.answered and 20 < (cases_of(peak)["peak"]["optimum"].estimate.value or 0) < 30
    more = claim(n, 10 * n / (1 + 0.05 * (n - 1)) * noise)
    assert more.answered and more.cases[0].case in ("end", "grows") and more.cases[0].values["best"] == "48"
    capped = claim(n, np.minimum(10 * n, 80) * noise)
    assert not capped.answered and [*cases_of(capped)] in (["open"], ["no law"])
    found = claim([1, 2, 4, 8, 16, 32], [10, 20, 40, 80, 160, 320])
    assert found.answered and [*cases_of(found)] == ["grows", "prediction"] and found.cases[0].values["best"] == "32"
    assert found.sentences[1:] == ["The model predicts 640 at n = 64."]
    for told in (peak, more, claim(n, 80 * noise)):
        check_numbers(told)


def benchmark(unit: Kind = "1/s", values: tuple[float, ...] = (10.0, 12.0), **params: str) -> Benchmark:
    return Benchmark("x", "run", params, unit, tuple(fork([value]) for value in values))


def test_each_fork_that_succeeded_is_a_point_and_times_become_rates(tmp_path: Path) -> None:
    rates = [benchmark(threads="1"), benchmark(values=(20.0,), threads="2")]
    assert points_over(rates, "threads", {}) == ([1, 1, 2], [10, 12, 20])
    assert points_over([benchmark("s", (0.5,), n="4")], "n", {}) == ([4], [2])
    failed = replace(benchmark(n="4"), forks=(), failed=(6, 6))
    assert points_over([benchmark(n="1"), benchmark(n="2"), failed], "n", {}).sizes == [1, 1, 2, 2]
    refuses(StudyError, "no run that succeeded", points_over, [failed], "n", {})
    refused = scalograph(["import", "sysbench", str(FILES["sysbench"]), "--over", "threads"], tmp_path)
    assert refused.code == Exit.STUDY and "points: 2 different sizes, expected at least 3\n" in refused.printed
    refuses(StudyError, "PARAM=LEVEL", parse_params, ["threads"])


def test_a_range_of_best_sizes_holds_no_other() -> None:
    rates = [1000.0 if i % 2 == 0 else 100.0 for i in range(8) for _ in range(3)]
    noise = 1 + 0.005 * np.random.default_rng(7).standard_normal(24)
    (first, *_) = claim(np.repeat([1, 2, 4, 8, 16, 24, 32, 48], 3), rates * noise).sentences
    assert first.startswith("Throughput is highest at n = 1, 4, 16 or 32. ")


def test_what_counts_the_same_is_no_difference_and_another_param_is_chosen() -> None:
    both = [benchmark(clients=str(n), threads=str(n), scale="10") for n in (2, 4)]
    assert points_over(both, "clients", {}).sizes == [2, 2, 4, 4]
    named = [replace(benchmark(n=n), name=f"./prog -n {n}", mode="run") for n in "24"]
    assert points_over(named, "n", {}).sizes == [2, 2, 4, 4]
    refuses(StudyError, 'no benchmark with the param "m"', points_over, named, "m", {})
    nodes = [benchmark(nodes=str(n), tasks=str(48 * n)) for n in (2, 4)]
    assert points_over(nodes, "nodes", {}).sizes == [2, 2, 4, 4]
    for other in ({"size": ("96", "192")}, {"tasks": ("96", "100")}, {"tasks": ("0", "0" * 2)}):
        ((name, levels),) = other.items()
        rows = [benchmark(nodes=n, **{name: level}) for n, level in zip("24", levels, strict=True)]
        refuses(StudyError, "2 benchmarks over nodes", points_over, rows, "nodes", {})
    sizes = [benchmark(threads=str(n), size=size) for n in (2, 4) for size in ("7", "9")]
    with pytest.raises(StudyError, match="2 benchmarks over threads: x size=7; x size=9, expected one; choose one"):
        points_over(sizes, "threads", {})
    assert points_over(sizes, "threads", {"size": "9"}).sizes == [2, 2, 4, 4]
    named = [replace(row, name=row.params["size"]) for row in sizes]
    assert points_over(named, "threads", {"size": "9", "benchmark": "9"}).sizes == [2, 2, 4, 4]
    with pytest.raises(StudyError, match="--where: no benchmark with size=8, expected one of x size=7; x size=9"):
        points_over(sizes, "threads", {"size": "8"})


@pytest.mark.parametrize(("one", "param", "words"), [
    (benchmark(threads="2"), "clients", 'no benchmark with the param "clients", expected one of threads'),
    (benchmark(gc="g1"), "gc", "gc=g1 of x, expected a number above 0"),
    (benchmark(values=(0.0,), n="1"), "n", "a score of 0 of x"),
    (benchmark("s", (1e-150,), n="1"), "n", "a score of 1e-150 of x, expected above 0, 1e-100 to 1e\\+100"),
    (benchmark(n="1" * 300), "n", "expected a number above 0, up to 1e\\+09"),
])  # fmt: skip
def test_what_makes_no_point_is_refused(one: Benchmark, param: str, words: str) -> None:
    refuses(StudyError, words, points_over, [one], param, {})


SIZES = np.repeat([16.0, 64, 256, 1024, 4096, 16384], 3)


def time_claim(times: np.ndarray, x: str = "n", sizes: np.ndarray = SIZES, noise: float = 0.01) -> Claim:
    took = times * np.exp(noise * np.random.default_rng(3).standard_normal(sizes.size))
    found = complexities(Points(sizes.tolist(), took.tolist()), "relative", 0.95) | {"unit": "s"}
    return complexity_claim(found, x)


def test_one_class_is_left_and_told_with_its_cost_or_all_that_are_left() -> None:
    told = time_claim(2e-6 * (50 + SIZES * np.log2(SIZES)), "rows")
    first, cost, prediction = (case.values for case in told.cases)
    assert told.answered and cases_of(told)["class"] == first and first["class"] == "rows log rows"
    assert cost["base"] and cost["cost"].estimate.contains(2e-6) and cost["cost"].scale.unit == "µs"
    assert prediction["size"] == "32,768" and 0.9 < prediction["time"].estimate.value < 1.0
    narrow = np.repeat([1000.0, 1700, 2900, 5000], 3)
    told = time_claim(narrow, sizes=narrow, noise=0.1)
    assert not told.answered and cases_of(told)["open class"]["some"] == ["n", "n log n", "n^2"]
    flat = time_claim(np.ones_like(SIZES), sizes=4.0 * SIZES**2)
    assert flat.answered and 0 < cases_of(flat)["constant"]["most"] < 0.1


@pytest.mark.parametrize(("times", "case", "exponent"), [
    (np.where(SIZES > 1000, 8 * SIZES, SIZES), "no class", 1.39), (1e-9 * SIZES**4, "power", 4.0),
    (SIZES**-0.5, "falls", -0.5),
])  # fmt: skip
def test_growth_by_no_class_is_told_by_its_exponent(times: np.ndarray, case: str, exponent: float) -> None:
    told = time_claim(times)
    first = told.cases[0]
    assert (first.case, told.answered) == (case, case != "no class")
    assert first.values["exponent"].estimate.value == pytest.approx(exponent, abs=0.01)
    assert first.values["classes"] == "1, log n, n, n log n, n^2, n^3"


def test_every_number_of_the_sentences_is_that_of_a_row() -> None:
    for times in (2e-6 * (50 + SIZES * np.log2(SIZES)), 1e-9 * SIZES**4):
        told = time_claim(times)
        assert told.matrix is not None
        cells = [cell for row in told.matrix.rows for cell in row.cells]
        shown, estimates = {cell.text.split(" ")[0] for cell in cells}, [cell.estimate for cell in cells]
        named = {"cost": "cost", "prediction": "time", "power": "exponent"}
        values = [case.values[named[case.case]] for case in told.cases if case.case in named]
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
    assert _code([*fit, "--json"]) == 0 and json.loads(capsys.readouterr().out)["possible"] == ["n^2"]
    assert _code(fit) == 0
    shown = capsys.readouterr().out
    assert "How does time grow with size?" in shown
    assert "Time grows as size^2. Each size^2 takes 1.005 s (95% CI" in shown


@pytest.mark.parametrize("law", LAWS)
def test_every_row_resolves(law: str) -> None:
    row = LAWS[law]
    assert all(callable(load_object(place)) for place in (row.document, row.claim, row.tables))
