"""Numbers measured elsewhere, and what the laws say of them."""

import subprocess
import sys
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from scalograph.errors import Exit, StudyError
from scalograph.exchange.benchmark import Benchmark, Kind, fork
from scalograph.exchange.csv_points import MAX_ROWS, Points, parse_params, points_over, read_points
from scalograph.exchange.fit import fit_claim, laws
from scalograph.protocol.findings import Claim
from scalograph.text.answer_form import value_text
from scalograph.text.cell_numbers import cell_number
from tests.golden.command import scalograph
from tests.kit.refusals import refuses
from tests.unit.exchange.instruments import FILES, given

RAYS = [1, 4, 8, 12, 16, 20, 24, 28, 32, 48, 64], [20, 78, 130, 170, 190, 200, 210, 230, 260, 280, 310]


def data(folder: Path, text: str) -> Path:
    return given(folder, text, "data.csv")


def laws_of(sizes: Any, rates: Any, weights: str = "relative", predicted: Sequence[float] = ()) -> dict[str, Any]:
    return laws(Points(list(sizes), list(rates)), weights, 0.95, predicted)


def claim(sizes: Any, rates: Any) -> Claim:
    return fit_claim(laws_of(sizes, rates), "n")


@pytest.mark.parametrize(
    ("text", "columns", "points"),
    [
        ("\ufeffusers, note ,rps\n1,a,10\n2,b,19.5\n2,c,20\n", ("users", "rps"), ([1, 2, 2], [10, 19.5, 20])),
        ("n;throughput\n0.5;5\n2;20\n", (), ([0.5, 2], [5, 20])),
        ("n\tthroughput\n1\t5\n", (), ([1], [5])),
        ('n,note,throughput\n1,"a, b",+1.5e1\n2,c, .5 \n', (), ([1, 2], [15.0, 0.5])),
        ("n,seconds\n1,4\n2,2\n", ("n", "seconds", True), ([1, 2], [0.25, 0.5])),
    ],
    ids=["by name", "semicolons", "tabs", "quoted", "times"],
)
def test_points_are_read(tmp_path: Path, text: str, columns: tuple[Any, ...], points: tuple[list[float], ...]) -> None:
    assert read_points(data(tmp_path, text), *columns) == points


@pytest.mark.parametrize(
    ("text", "told"),
    [
        (
            "n,throughput\n1,x\n0,4\n",
            r"data.csv:2: throughput = 'x', expected .* 1e\+100\ndata.csv:3: n = '0'",
        ),
        ("n,throughput\n1\n", r"data.csv:2: throughput = ''"),
        ("n,throughput\n1,nan\n", r"data.csv:2: throughput = 'nan'"),
        ("a,b\n1,2\n", r'no column "n" \(columns: a, b\); name one with --x'),
        ("", r'no column "n" \(columns: none\)'),
        ("n,throughput\n" + "x,1\n" * 9, r"data.csv: 4 further mistakes"),
        ("n,throughput\n1,1,000\n", r"data.csv:2: 3 fields, expected 2, as the header has; write numbers with a point"),
        ("n;throughput\n1;10,5\n", "throughput = '10,5', .*divided by semicolons here; write numbers with a point"),
        ("n,throughput,throughput\n1,2,3\n", r'2 columns "throughput", expected one'),
        ("n,throughput\n1_0,2\n", r"n = '1_0'"),
        ("n,throughput\n1e200,2\n", r"n = '1e200', expected a number above 0, up to 1e\+09"),
        ("n,throughput\n1,1e-320\n", r"throughput = '1e-320'"),
    ],
)
def test_mistakes_are_told_by_line(tmp_path: Path, text: str, told: str) -> None:
    refuses(StudyError, told, read_points, data(tmp_path, text))


def test_standard_input_is_read_where_no_file_is_named() -> None:
    text = "n,seconds\n1,10\n2,5.6\n4,3.4\n8,2.6\n"
    command = [sys.executable, "-m", "scalograph", "fit", "--times", "--json"]
    done = subprocess.run(command, input=text, capture_output=True, text=True, check=True)
    assert '"throughput"' in done.stdout and '"size": 8.0' in done.stdout


def test_the_weights_of_the_book_give_what_it_has() -> None:
    """SPEC SDM 91 on a SPARCcenter 2000, in Gunther (2007); sigma 0.0277 and kappa 0.000104 by the package usl of R."""
    sizes, rates = [1, 18, 36, 72, 108, 144, 216], [64.9, 995.9, 1652.4, 1853.2, 1828.9, 1775.0, 1702.2]
    found = laws_of(sizes, rates, "none")
    assert found["sigma"]["value"] == pytest.approx(0.02773, rel=1e-3)
    assert found["kappa"]["value"] == pytest.approx(0.00010437, rel=1e-3)


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
    (share,) = (case.values["share"] for case in told.cases if case.case == "share")
    assert share.estimate.value == found["sigma"]["value"]
    assert "300 is more than 2 times" in found["predictions"][1]["warnings"][0]


def test_a_law_that_does_not_hold_leaves_no_empty_column() -> None:
    told = claim([100, 800, 1600, 3200, 6400], [1, 9, 20, 44, 96])
    assert told.cases[0].case == "no law"
    assert "superlinear at 800, 1,600, 3,200, 6,400: throughput grew by more" in told.cases[0].values["reason"]
    assert told.matrix is not None and all(row.cells[-1].estimate is not None for row in told.matrix.rows)


def test_runs_of_a_size_give_its_gain_an_interval() -> None:
    gained = laws_of([1, 1, 1, 2, 2, 2, 4, 4], [10, 10.1, 9.9, 19, 19.1, 18.9, 36, 35])["points"][1]["speedup"]
    assert gained["low"] < 1.9 < gained["high"]


@pytest.mark.parametrize(
    ("sizes", "rates"),
    [
        ([1, 2, 4, 8], [10, 15, 30, 35]),
        ([100, 200, 400, 800], [100, 150, 310, 390]),
        ([1, 2, 4, 8, 16], [10, 8, 6.1, 3.9, 3.5]),
        ([0.31, 1, 2, 5, 10, 20], [3, 9.6, 18, 40, 66, 92]),
        ([2, 4, 8, 16, 32], [10, 8.1, 7.0, 6.6, 6.2]),
    ],
)
def test_poor_fits_are_told_in_words(sizes: list[float], rates: list[float]) -> None:
    told = " ".join(claim(sizes, rates).sentences)
    assert "None" not in told and "e+0" not in told and "nan" not in told


def test_a_maximum_is_said_only_where_the_points_carry_it() -> None:
    n = np.repeat([1.0, 2, 4, 8, 16, 24, 32, 48], 3)
    noise = np.exp(0.02 * np.random.default_rng(1).standard_normal(n.size))
    peak = claim(n, 10 * n / (1 + 0.05 * (n - 1) + 0.0015 * n * (n - 1)) * noise)
    assert peak.answered and peak.cases[0].case == "peak"
    assert 20 < (peak.cases[0].values["optimum"].estimate.value or 0) < 30
    more = claim(n, 10 * n / (1 + 0.05 * (n - 1)) * noise)
    assert more.answered and more.cases[0].case in ("end", "grows") and more.cases[0].values["best"] == "48"
    capped = claim(n, np.minimum(10 * n, 80) * noise)
    assert not capped.answered and [case.case for case in capped.cases] in (["open"], ["no law"])


def test_figures_of_a_law_that_the_maximum_contradicts_are_not_said() -> None:
    n, rng = np.arange(1, 13.0), np.random.default_rng(5)
    for _ in range(10):
        rates = np.where(n <= 3, 10 * n, 30 - 1.5 * (n - 3)) * np.exp(0.03 * rng.standard_normal(n.size))
        found = claim(n, rates)
        assert not found.answered and "share" not in [case.case for case in found.cases]


def test_that_more_do_not_help_is_said_only_where_the_interval_says_so() -> None:
    sizes, noise = [1, 1, 2, 2, 4, 4, 8, 8], [1.0, 1.04, 1.01, 0.98, 1.02, 0.99, 1.0, 0.97]
    assert claim(sizes, [10 * x for x in noise]).cases[0].case != "falls"
    falling = claim(sizes, [10 * x / k for x, k in zip(noise, (1, 1, 2, 2, 3, 3, 4, 4), strict=True)])
    assert falling.cases[0].case == "falls"
    assert claim([1, 2, 4, 8], [10, 10, 10, 10]).cases[0].case == "serial"


def test_every_number_of_the_sentences_is_that_of_a_row() -> None:
    n = np.repeat([1.0, 2, 4, 8, 16, 24, 32, 48], 3)
    noise = np.exp(0.02 * np.random.default_rng(1).standard_normal(n.size))
    for rates in (10 * n / (1 + 0.05 * (n - 1) + 0.0015 * n * (n - 1)), 10 * n / (1 + 0.05 * (n - 1)), 0 * n + 80):
        found = claim(n, rates * noise)
        assert found.matrix is not None
        cells = [cell.text or cell_number(cell.estimate) for row in found.matrix.rows for cell in row.cells]
        shown = {cell.split()[0] for cell in cells} | {*found.matrix.columns}
        named = {"peak": "optimum", "share": "share", "prediction": "throughput", "open": "most", "no law": "most"}
        values = [case.values.get(named[case.case]) for case in found.cases if case.case in named]
        told = {value_text(*value) for value in values if value}
        assert told and told <= shown, (found.sentences, shown)


def test_no_size_below_one_is_the_best() -> None:
    found = laws_of([1, 2, 4, 8, 16], [10, 8, 5.1, 3, 2.9])["optimum"]
    assert all(found[end] is None or found[end] >= 1 for end in ("value", "low", "high"))


def test_throughputs_that_grow_evenly_still_grow() -> None:
    found = claim([1, 2, 4, 8, 16, 32], [10, 20, 40, 80, 160, 320])
    first, prediction = found.cases
    assert found.answered and (first.case, first.values["best"]) == ("grows", "32")
    assert prediction.case == "prediction" and prediction.values["size"] == "64"
    assert found.sentences[1] == "The model predicts 640 at n = 64."


def test_a_device_that_never_ends_fills_no_memory() -> None:
    limit = "import resource; resource.setrlimit(resource.RLIMIT_AS, (2 << 30,) * 2)"
    code = f"{limit}; from pathlib import Path; from scalograph.exchange.csv_points import read_points"
    done = subprocess.run(
        [sys.executable, "-c", f"{code}; read_points(Path('/dev/zero'))"], capture_output=True, text=True, check=False
    )
    assert done.stderr.endswith("/dev/zero: cannot be read: larger than 16 MiB, expected a CSV file with a header\n")


def benchmark(unit: Kind = "1/s", values: tuple[float, ...] = (10.0, 12.0), **params: str) -> Benchmark:
    return Benchmark("x", "run", params, unit, tuple(fork([value]) for value in values))


def test_each_fork_is_a_point_and_times_become_rates() -> None:
    rates = [benchmark(threads="1"), benchmark(values=(20.0,), threads="2")]
    assert points_over(rates, "threads", {}) == ([1, 1, 2], [10, 12, 20])
    assert points_over([benchmark("s", (0.5,), n="4")], "n", {}) == ([4], [2])


def test_what_counts_the_same_is_no_difference_and_another_param_is_chosen() -> None:
    both = [benchmark(clients=str(n), threads=str(n), scale="10") for n in (2, 4)]
    assert points_over(both, "clients", {}).sizes == [2, 2, 4, 4]
    sizes = [benchmark(threads=str(n), size=size) for n in (2, 4) for size in ("7", "9")]
    with pytest.raises(StudyError, match="2 benchmarks over threads: x size=7; x size=9, expected one; choose one"):
        points_over(sizes, "threads", {})
    assert points_over(sizes, "threads", {"size": "9"}).sizes == [2, 2, 4, 4]
    with pytest.raises(StudyError, match="--where: no benchmark with size=8, expected one of x size=7; x size=9"):
        points_over(sizes, "threads", {"size": "8"})


@pytest.mark.parametrize(
    ("one", "param", "words"),
    [
        (benchmark(threads="2"), "clients", 'no benchmark with the param "clients", expected one of threads'),
        (benchmark(gc="g1"), "gc", "gc=g1 of x, expected a number above 0"),
        (benchmark(values=(0.0,), n="1"), "n", "a score of 0 of x"),
        (benchmark("s", (1e-150,), n="1"), "n", "a score of 1e-150 of x, expected above 0, 1e-100 to 1e\\+100"),
        (benchmark(n="1" * 300), "n", "expected a number above 0, up to 1e\\+09"),
    ],
)
def test_what_makes_no_point_is_refused(one: Benchmark, param: str, words: str) -> None:
    refuses(StudyError, words, points_over, [one], param, {})


def test_a_scaling_law_rests_on_what_succeeded() -> None:
    failed = replace(benchmark(n="4"), forks=(), failed=(6, 6))
    assert points_over([benchmark(n="1"), benchmark(n="2"), failed], "n", {}).sizes == [1, 1, 2, 2]
    refuses(StudyError, "no run that succeeded", points_over, [failed], "n", {})


def test_the_command_says_what_the_points_carry(tmp_path: Path) -> None:
    refused = scalograph(["import", "sysbench", str(FILES["sysbench"]), "--over", "threads"], tmp_path)
    assert refused.code == Exit.STUDY and "points: 2 different sizes, expected at least 3\n" in refused.printed
    refuses(StudyError, "PARAM=LEVEL", parse_params, ["threads"])
