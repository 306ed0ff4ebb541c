"""Scores and figures of benchmarks, as their forks tell them; and the one figure of what a harness printed."""

from pathlib import Path
from statistics import median

import pytest
from pydantic import ValidationError

from scalograph.cli.command_line_study.declaration import CommandStudy, study_text
from scalograph.cli.command_line_study.option_texts import read_response
from scalograph.exchange.benchmark import Benchmark, Fork
from scalograph.exchange.benchmark_claim import benchmark_claim
from scalograph.exchange.benchmark_values import printed_score, scores, shot_quantiles, summarize_benchmark, tables
from scalograph.exchange.readers.registry import read
from scalograph.protocol.findings import Claim
from scalograph.protocol.record import Record
from scalograph.run.runner import PrintedResponses
from scalograph.study.load import parse
from scalograph.study.model import Response
from scalograph.study.reader_names import READERS
from tests.kit.records import read as read_record
from tests.kit.records import recorded
from tests.kit.refusals import refuses
from tests.kit.studies import VALID
from tests.unit.exchange.instruments import FILES, exported, result, text_of, timed, written

SYSBENCH = text_of("sysbench")[: text_of("sysbench").index("sysbench 1.0", 9)]
GO = text_of("gobench")


def of(folder: Path, *results: object) -> list[Benchmark]:
    return read("jmh", written(folder, *results))


def test_a_score_is_the_median_of_a_fork_and_forks_are_what_counts(tmp_path: Path) -> None:
    (one,) = of(tmp_path, result([[1.0, 2.0, 90.0], [4.0, 3.0], [3.0]]))
    assert scores(one) == pytest.approx([2e-3, 3.5e-3, 3e-3])
    found = summarize_benchmark(one, 0.95)
    assert (found.n_forks, found.n_shots, found.estimate.n) == (3, 6, 3)
    assert found.max == pytest.approx(0.09) and found.p50 == pytest.approx(3e-3)
    assert found.estimate.low is not None and found.estimate.value is not None
    assert found.estimate.low < found.estimate.value == pytest.approx((2 * 3.5 * 3) ** (1 / 3) * 1e-3)


def test_one_fork_has_no_interval_however_many_shots(tmp_path: Path) -> None:
    (one,) = of(tmp_path, result([[1.0 + i / 100 for i in range(50)]]))
    found = summarize_benchmark(one, 0.95)
    assert found.estimate.low is None and any("need >= 2 runs" in text for text in found.estimate.warnings)


def test_bins_of_mode_sample_weigh_what_they_hold(tmp_path: Path) -> None:
    bins = [[[[1.0, 90], [5.0, 1]], [[2.0, 9]]], [[[3.0, 7]]]]
    (one,) = of(tmp_path, result(bins, mode="sample"))
    assert scores(one) == pytest.approx([1e-3, 3e-3])
    found = summarize_benchmark(one, 0.95)
    assert found.n_shots == 107 and found.p99 == pytest.approx(3e-3) and found.max == pytest.approx(5e-3)


def test_a_percentile_is_a_shot_that_was_seen() -> None:
    assert shot_quantiles([Fork([float(i) for i in range(1, 101)], [1] * 100)], (0.5, 0.9, 0.99)) == [50.0, 90.0, 99.0]


def test_times_and_rates_have_tables_of_their_own(tmp_path: Path) -> None:
    every = of(tmp_path, result([[1.0]]), result([[1.0]], "ops/s", "thrpt", batch=1))
    shown = tables([summarize_benchmark(one, 0.95) for one in every], "JMH")
    assert [table.title for table in shown] == ["Times by JMH", "Rates by JMH"]


def test_what_a_shot_is_made_of_is_said(tmp_path: Path) -> None:
    (one,) = of(tmp_path, result([[1.0]], measurementBatchSize=10, threads=2))
    assert summarize_benchmark(one, 0.95).flags == ["a shot is 10 calls", "2 threads called it at once"]


def test_the_fastest_is_named_only_where_forks_tell_it(tmp_path: Path) -> None:
    def claim(*forks: list[float]) -> Claim:
        every = [result([[x] for x in times], params={"p": str(i)}) for i, times in enumerate(forks)]
        return benchmark_claim(of(tmp_path, *every))

    clear = claim([10.0, 10.1, 9.9], [12.0, 12.1, 11.9], [20.0, 20.5, 19.5])
    assert clear.answered and clear.cases[0].case == "fastest"
    values = clear.cases[0].values
    assert (values["best"], values["next"]) == ("Sum.run p=0", "Sum.run p=1") and values["gain"].contains(1.2)
    assert clear.matrix is not None and len(clear.matrix.rows) == 3
    assert not claim([10.0, 10.1, 9.9], [10.02, 10.1, 9.9]).answered
    assert not claim([10.0], [20.0]).answered and claim([10.0, 10.1]).answered


def test_a_score_of_zero_is_what_the_claim_names(tmp_path: Path) -> None:
    claim = benchmark_claim(of(tmp_path, result([[0.0], [0.0]]), result([[1.0], [1.1]], params={"size": "9"})))
    assert not claim.answered and [case.case for case in claim.cases] == ["zero"]


def test_a_command_that_failed_is_never_the_fastest(tmp_path: Path) -> None:
    def command(name: str, seconds: float, code: int = 0) -> dict[str, object]:
        return timed(name, [seconds * (1 + i % 3 / 1000) for i in range(6)], exit_codes=[code] * 6)

    every = read("hyperfine", exported(tmp_path, command("a", 2.0), command("broken", 0.001, 127), command("b", 3.0)))
    claim = benchmark_claim(every)
    assert claim.answered and claim.sentences[0].startswith("a is the fastest. The next one, b, takes 50.00% more time")
    assert claim.matrix and [row.label for row in claim.matrix.rows] == ["a", "b"]
    assert benchmark_claim(every[1::-1]).sentences[0].startswith("a takes 2.00")


def test_the_figure_of_a_run_is_what_the_harness_measured() -> None:
    assert printed_score(SYSBENCH, "sysbench", None, "1/s") == pytest.approx(2276 / 1.0002)
    assert printed_score(GO, "gobench", "example.org/sum.Sum n=64 gomaxprocs=2", "s") == pytest.approx(60.28e-9)


def test_of_several_processes_it_is_the_median() -> None:
    first = read("pyperf", FILES["pyperf"])[0]
    typical = median(median(fork.values) for fork in first.forks)
    assert len(first.forks) > 1
    assert printed_score(text_of("pyperf"), "pyperf", first.name, "s") == pytest.approx(typical)


@pytest.mark.parametrize(
    ("output", "reader", "benchmark", "unit", "words"),
    [
        ("", "sysbench", None, "1/s", "found no such output, expected the output of sysbench 1"),
        (SYSBENCH, "sysbench", None, "s", "found figures in 1/s, expected s"),
        (
            SYSBENCH,
            "sysbench",
            "sysbench memory",
            "1/s",
            'found 0 benchmarks "sysbench memory".*sysbench cpu thread',
        ),
        (GO, "gobench", None, "s", "found 4 benchmarks .*expected one; name it"),
        (GO, "gobench", "example.org/sum.Sum", "s", "found 4 benchmarks"),
        ("{", "hyperfine", None, "s", "expected a result of hyperfine"),
        ("\udcff", "hyperfine", None, "s", "expected a result of hyperfine"),
    ],
)
def test_what_is_no_figure_of_a_harness(output: str, reader: str, benchmark: str | None, unit: str, words: str) -> None:
    refuses(ValueError, words, printed_score, output, reader, benchmark, unit)


RATED = VALID + '[responses.rate]\nfrom = "output"\nreader = "sysbench"\nunit = "1/s"\nbetter = "higher"\n'


def captured(output: str) -> Record:
    run = recorded(0.5)
    run["copies"][0] |= {"stdout": output, "stdout_truncated": False}
    return PrintedResponses(parse(RATED), printed_score).read(read_record(run))


def test_a_run_keeps_the_figure_or_has_failed() -> None:
    assert captured(SYSBENCH).values[-1].values == {"output_rate": [pytest.approx(2276 / 1.0002)]}
    failed = captured("no harness").run
    assert failed.status == "failed" and "response rate: found no such output" in str(failed.reason)


def test_a_reader_without_anything_to_read_with_is_a_mistake() -> None:
    refuses(ValueError, "nothing to read it with", PrintedResponses, parse(RATED))


def test_a_study_names_a_harness_that_prints() -> None:
    with pytest.raises(ValidationError, match=r"Input should be 'jmh', .* or 'csv'"):
        Response(source="output", reader="criterion", unit="s")
    without = Response(source="output", pattern="(x)").model_dump()
    assert "reader" not in without and "benchmark" not in without and "limit" not in without
    assert not READERS["criterion"].to_output


def test_an_option_names_a_harness_and_its_benchmark() -> None:
    rate, sort = read_response("rate:higher: @sysbench"), read_response("time:lower: @gobench Sort n=64")
    found = parse(study_text(CommandStudy(("p",), responses=(rate, sort)))).responses
    assert {name: (found[name].reader, found[name].benchmark, found[name].unit) for name in ("rate", "time")} == {
        "rate": ("sysbench", None, "1/s"),
        "time": ("gobench", "Sort n=64", "s"),
    }
