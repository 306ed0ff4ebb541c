"""What JMH wrote: read to seconds, or refused in one message."""

import json
from pathlib import Path
from typing import Any

import pytest

from scalograph.errors import StudyError
from scalograph.exchange.benchmark import Fork
from scalograph.exchange.benchmark_claim import benchmark_claim
from scalograph.exchange.benchmark_values import scores, shot_quantiles, summarize_benchmark, tables
from scalograph.exchange.readers import foreign_file
from scalograph.exchange.readers.jmh import read
from tests.unit.exchange.made import RECORDED, result, written


def test_a_real_result_is_read_to_seconds() -> None:
    sequential, pool = read(RECORDED)
    document = json.loads(RECORDED.read_text())
    assert [dict(b.params)["version"] for b in (sequential, pool)] == ["sequential", "pool"]
    assert (sequential.unit, sequential.mode, len(sequential.forks)) == ("s", "ss", 5)
    raw = document[0]["primaryMetric"]["rawData"]
    assert [list(fork.values) for fork in sequential.forks] == [pytest.approx([x * 1e-6 for x in f]) for f in raw]


def test_a_score_is_the_median_of_a_fork_and_forks_are_what_counts(tmp_path: Path) -> None:
    (one,) = read(written(tmp_path, result([[1.0, 2.0, 90.0], [4.0, 3.0], [3.0]])))
    assert scores(one) == pytest.approx([2e-3, 3.5e-3, 3e-3])
    found = summarize_benchmark(one, 0.95)
    assert (found.n_forks, found.n_shots, found.estimate.n) == (3, 6, 3)
    assert found.max == pytest.approx(0.09) and found.p50 == pytest.approx(3e-3)
    assert found.estimate.low is not None and found.estimate.value is not None
    assert found.estimate.low < found.estimate.value == pytest.approx((2 * 3.5 * 3) ** (1 / 3) * 1e-3)


def test_one_fork_has_no_interval_however_many_shots(tmp_path: Path) -> None:
    (one,) = read(written(tmp_path, result([[1.0 + i / 100 for i in range(50)]])))
    found = summarize_benchmark(one, 0.95)
    assert found.estimate.low is None and any("need >= 2 runs" in text for text in found.estimate.warnings)


@pytest.mark.parametrize(
    ("unit", "mode", "kind", "seconds"),
    [
        ("ns/op", "ss", "s", 1e-9), ("us/op", "avgt", "s", 1e-6), ("s/op", "ss", "s", 1.0), ("min/op", "ss", "s", 60.0),
        ("ops/s", "thrpt", "1/s", 1.0), ("ops/ms", "thrpt", "1/s", 1e3), ("ops/ns", "thrpt", "1/s", 1e9),
    ],
)  # fmt: skip
def test_every_unit_has_its_factor(tmp_path: Path, unit: str, mode: str, kind: str, seconds: float) -> None:
    (one,) = read(written(tmp_path, result([[2.0]], unit, mode)))
    assert one.unit == kind and scores(one) == pytest.approx([2 * seconds])


def test_bins_of_mode_sample_weigh_what_they_hold(tmp_path: Path) -> None:
    bins = [[[[1.0, 90], [5.0, 1]], [[2.0, 9]]], [[[3.0, 7]]]]
    (one,) = read(written(tmp_path, result(bins, mode="sample")))
    assert scores(one) == pytest.approx([1e-3, 3e-3])
    found = summarize_benchmark(one, 0.95)
    assert found.n_shots == 107 and found.p99 == pytest.approx(3e-3) and found.max == pytest.approx(5e-3)


def test_a_percentile_is_a_shot_that_was_seen() -> None:
    assert shot_quantiles([Fork([float(i) for i in range(1, 101)], [1] * 100)], (0.5, 0.9, 0.99)) == [50.0, 90.0, 99.0]


def test_times_and_rates_have_tables_of_their_own(tmp_path: Path) -> None:
    every = read(written(tmp_path, result([[1.0]]), result([[1.0]], "ops/s", "thrpt", batch=1)))
    made = tables([summarize_benchmark(b, 0.95) for b in every], "JMH")
    assert [table.title for table in made] == ["Times by JMH", "Rates by JMH"]


def test_what_a_shot_is_made_of_is_said(tmp_path: Path) -> None:
    (one,) = read(written(tmp_path, result([[1.0]], measurementBatchSize=10, threads=2)))
    assert summarize_benchmark(one, 0.95).flags == ["a shot is 10 calls", "2 threads called it at once"]


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("", "jmh.json: Invalid JSON"),
        ("{}", "jmh.json: Input should be a valid array"),
        ("[]", "jmh.json: .* at least 1 item"),
        ("[1]", r"jmh.json: \[0\]: Input should be"),
        ("[" * 100_000, "jmh.json: Invalid JSON"),
        (json.dumps([result([[1.0, 2.0]])]).replace("2.0", "NaN"), r"rawData\[0\]\[1\]: .* finite number"),
        (
            json.dumps([result([[1.0, "NaN"]])]),
            r"\[0\].primaryMetric.rawData\[0\]\[1\]: Input should be a valid number",
        ),
        (json.dumps([result([[1.0, True]])]), "should be a valid number"),
        (json.dumps([result([[1.0, -1.0]])]), "greater than or equal to 0"),
        (json.dumps([result([[1.0, 2.0]])]).replace("2.0", "1e400"), r"rawData\[0\]\[1\]: .* finite number"),
        (json.dumps([result([[]])]), "at least 1 item"),
        (json.dumps([result([])]), "no rawData, expected the shots of at least one fork"),
        (json.dumps([result([[[[1.0, 0]]]], mode="sample")]), "greater than or equal to 1"),
        (json.dumps([result([[[]]], mode="sample")]), "no rawDataHistogram"),
        (json.dumps([result([[1.0]], mode="other")]), r"\[0\].mode: Input should be"),
        (json.dumps([result([[1.0]], "ops/s")]), r'scoreUnit: "ops/s" in mode ss, expected s/op'),
        (json.dumps([result([[1.0]], "ms/op", "thrpt")]), "expected ops/s or ops/ms"),
        (json.dumps([result([[1.0]], "furlong/op")]), "furlong"),
        (json.dumps([result([[1.0]], params={"n": 3})]), r"params.n: Input should be a valid string"),  # type: ignore[dict-item]
    ],
)
def test_what_is_no_result_is_refused_where_it_is_wrong(tmp_path: Path, text: str, told: str) -> None:
    file = tmp_path / "jmh.json"
    file.write_text(text)
    with pytest.raises(StudyError, match=told) as caught:
        read(file)
    assert len(caught.value.problems) == 1 and len(str(caught.value)) < 600


@pytest.mark.parametrize(("name", "most"), [("MAX_BYTES", 100), ("MAX_PARTS", 10)])
def test_what_is_too_large_is_refused_before_it_is_parsed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str, most: int
) -> None:
    file = written(tmp_path, result([[1.0] * 100]))
    read(file)
    monkeypatch.setattr(foreign_file, name, most)
    with pytest.raises(StudyError, match=r"larger than 100 bytes|more than 10 values"):
        read(file)


def test_too_many_benchmarks_are_refused(tmp_path: Path) -> None:
    many: list[Any] = [result([[1.0]])] * (foreign_file.MAX_BENCHMARKS + 1)
    with pytest.raises(StudyError, match="at most 10000 items"):
        read(written(tmp_path, *many))


def test_a_file_that_is_none_is_refused(tmp_path: Path) -> None:
    with pytest.raises(StudyError, match="cannot be read: No such file"):
        read(tmp_path / "none.json")
    with pytest.raises(StudyError, match="cannot be read: Is a directory"):
        read(tmp_path)


def test_a_shot_that_is_no_number_of_seconds_is_refused(tmp_path: Path) -> None:
    with pytest.raises(StudyError, match=r"\[0\]\.primaryMetric: a shot in \"day/op\" that is no number of seconds"):
        read(written(tmp_path, result([[1e308, 1.0]], "day/op")))


def test_a_score_of_zero_is_what_the_claim_names(tmp_path: Path) -> None:
    every = read(written(tmp_path, result([[0.0], [0.0]]), result([[1.0], [1.1]], params={"size": "9"})))
    said = benchmark_claim(every)
    assert not said.answered and "a score of 0 has no ratio" in said.sentences[0]
    assert "one fork" not in said.sentences[0]
