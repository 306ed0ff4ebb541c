"""Scores of benchmarks as their forks tell them, alone, in a harness, and beside the configurations of a study."""

from pathlib import Path
from statistics import median
from typing import Any

import pytest
from pydantic import ValidationError

from scalograph.analysis.estimate import Estimate
from scalograph.cli.command_line_study.declaration import CommandStudy, study_text
from scalograph.cli.command_line_study.option_texts import read_response
from scalograph.errors import StudyError
from scalograph.exchange.benchmark import Benchmark, Fork, Kind, fork
from scalograph.exchange.benchmark_claim import (
    BenchmarkComparison,
    agreement_claim,
    benchmark_claim,
    compare_with_study,
    label,
    sentences,
)
from scalograph.exchange.benchmark_claim import tables as comparison_tables
from scalograph.exchange.benchmark_values import (
    outlier_sentence,
    printed_score,
    scores,
    shot_quantiles,
    summarize_benchmark,
    summarize_benchmarks,
    tables,
)
from scalograph.exchange.match import is_level, match, parse_where
from scalograph.findings.table import Table
from scalograph.protocol.findings import Claim
from scalograph.protocol.record import Record
from scalograph.run.runner import PrintedResponses
from scalograph.study.load import parse
from scalograph.study.model import Response
from scalograph.study.reader_names import READERS
from tests.kit.findings import CONFIGURATIONS, cases_of, cells_of, load_journal
from tests.kit.records import read as read_record
from tests.kit.records import recorded
from tests.kit.refusals import refuses
from tests.kit.studies import VALID
from tests.unit.exchange.instruments import FILES, exported, read, result, text_of, timed, written

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
    (one,) = of(tmp_path, result([[1.0 + i / 100 for i in range(50)]]))
    found = summarize_benchmark(one, 0.95)
    assert found.estimate.low is None and any("need >= 2 runs" in text for text in found.estimate.warnings)
    assert shot_quantiles([Fork([float(i) for i in range(1, 101)], [1] * 100)], (0.5, 0.9, 0.99)) == [50.0, 90.0, 99.0]


def test_bins_weigh_what_they_hold_and_rates_have_tables_of_their_own(tmp_path: Path) -> None:
    bins = [[[[1.0, 90], [5.0, 1]], [[2.0, 9]]], [[[3.0, 7]]]]
    (one,) = of(tmp_path, result(bins, mode="sample"))
    assert scores(one) == pytest.approx([1e-3, 3e-3])
    found = summarize_benchmark(one, 0.95)
    assert found.n_shots == 107 and found.p99 == pytest.approx(3e-3) and found.max == pytest.approx(5e-3)
    every = of(tmp_path, result([[1.0]]), result([[1.0]], "ops/s", "thrpt", batch=1))
    shown = tables([summarize_benchmark(one, 0.95) for one in every], "JMH")
    assert [table.title for table in shown] == ["Times by JMH", "Rates by JMH"]
    (one,) = of(tmp_path, result([[1.0]], measurementBatchSize=10, threads=2))
    assert summarize_benchmark(one, 0.95).flags == ["a shot is 10 calls", "2 threads called it at once"]


def test_the_fastest_is_named_only_where_forks_tell_it(tmp_path: Path) -> None:
    def claim(*forks: list[float]) -> Claim:
        every = [result([[x] for x in times], params={"p": str(i)}) for i, times in enumerate(forks)]
        return benchmark_claim(of(tmp_path, *every))

    clear = claim([10.0, 10.1, 9.9], [12.0, 12.1, 11.9], [20.0, 20.5, 19.5])
    values = cases_of(clear)["fastest"]
    assert (values["best"], values["next"]) == ("Sum.run p=0", "Sum.run p=1") and values["gain"].contains(1.2)
    assert clear.answered and clear.matrix is not None and len(clear.matrix.rows) == 3
    assert not claim([10.0, 10.1, 9.9], [10.02, 10.1, 9.9]).answered
    assert not claim([10.0], [20.0]).answered and claim([10.0, 10.1]).answered
    claim = benchmark_claim(of(tmp_path, result([[0.0], [0.0]]), result([[1.0], [1.1]], params={"size": "9"})))
    assert not claim.answered and [*cases_of(claim)] == ["zero"]


def runs(name: str, *values: float, unit: Kind = "s") -> Benchmark:
    return Benchmark(name, "run", {}, unit, tuple(fork([value]) for value in values))


@pytest.mark.parametrize(("first", "second", "case"), [
    ([1.0] * 10, [1.0000001] * 10, "equivalent"), ([1.0] * 3, [1.03] * 3, "fastest"),
    ([0.01] * 10, [0.02] * 10, "alike"), ([1.0] * 3, [1.0] * 3, "identical"),
    ([1.0, 1.001, 1.002], [1.002, 1.003, 1.001], "equivalent"), ([1.0, 1.1, 1.05], [1.02, 1.1, 1.0], "alike"),
])  # fmt: skip
def test_values_without_variance_are_bounded_by_their_resolution(
    first: list[float], second: list[float], case: str
) -> None:
    every = [runs("a", *first), runs("b", *second)]
    told = benchmark_claim(every)
    assert told.cases[0].case == case
    if case == "fastest":
        gain = told.cases[0].values["gain"]
        assert 1.01 < gain.low < 1.025 < 1.035 < gain.high < 1.05
    assert all(e.low is None or e.low < e.high for e in (row.estimate for row in summarize_benchmarks(every, 0.95)))


@pytest.mark.parametrize(("unit", "odd"), [("s", 1000.0), ("1/s", 0.001)])
def test_few_runs_that_took_many_times_as_long_are_told(unit: Kind, odd: float) -> None:
    usual = [1.0 + i / 1000 for i in range(9)]
    slowed = runs("a", *usual, odd, unit=unit)
    assert outlier_sentence([slowed, runs("b", *usual)]).startswith("Outliers: a (1 of 10 runs took ")
    assert "outliers" in cases_of(benchmark_claim([slowed]))
    assert summarize_benchmark(slowed, 0.95).flags and not outlier_sentence([runs("c", *usual, *[odd] * 9)])


def test_benchmarks_of_one_name_are_numbered() -> None:
    told = benchmark_claim([runs("x", 2.0, 2.1, 2.2), runs("x", 1.0, 1.1, 1.05), runs("y", 9.0, 9.1, 9.2)])
    assert (told.cases[0].values["best"], told.cases[0].values["next"]) == ("x (2)", "x (1)")
    assert told.matrix is not None and [row.label for row in told.matrix.rows] == ["x (2)", "x (1)", "y"]


def test_a_command_that_failed_is_never_the_fastest(tmp_path: Path) -> None:
    def command(name: str, seconds: float, code: int = 0) -> dict[str, object]:
        return timed(name, [seconds * (1 + i % 3 / 1000) for i in range(6)], exit_codes=[code] * 6)

    every = read("hyperfine", exported(tmp_path, command("a", 2.0), command("broken", 0.001, 127), command("b", 3.0)))
    claim, alone = benchmark_claim(every), cases_of(benchmark_claim(every[1::-1]))["alone"]
    fastest = cases_of(claim)["fastest"]
    assert claim.answered and (fastest["best"], fastest["next"]) == ("a", "b") and fastest["gain"].contains(1.5)
    assert [*cells_of(claim)] == ["a", "b"] and alone["value"].estimate.contains(2.002)


def test_a_run_keeps_the_figure_that_the_harness_measured() -> None:
    assert printed_score(SYSBENCH, "sysbench", None, "1/s") == pytest.approx(2276 / 1.0002)
    assert printed_score(GO, "gobench", "example.org/sum.Sum n=64 gomaxprocs=2", "s") == pytest.approx(60.28e-9)
    first = read("pyperf", FILES["pyperf"])[0]
    typical = median(median(fork.values) for fork in first.forks)
    assert len(first.forks) > 1
    assert printed_score(text_of("pyperf"), "pyperf", first.name, "s") == pytest.approx(typical)
    assert captured(SYSBENCH).values[-1].values == {"output_rate": [pytest.approx(2276 / 1.0002)]}
    failed = captured("no harness").run
    assert failed.status == "failed" and "response rate: found no such output" in str(failed.reason)
    refuses(ValueError, "nothing to read it with", PrintedResponses, parse(RATED))


@pytest.mark.parametrize(("output", "reader", "benchmark", "unit", "words"), [
    ("", "sysbench", None, "1/s", "found no such output, expected a file of sysbench"),
    (SYSBENCH, "sysbench", None, "s", "found figures in 1/s, expected s"),
    (SYSBENCH, "sysbench", "sysbench memory", "1/s", 'found 0 benchmarks "sysbench memory".*sysbench cpu thread'),
    (GO, "gobench", None, "s", "found 4 benchmarks .*expected one; name it"),
    (GO, "gobench", "example.org/sum.Sum", "s", "found 4 benchmarks"),
    ("{", "hyperfine", None, "s", "expected a file of hyperfine"),
    ("\udcff", "hyperfine", None, "s", "expected a file of hyperfine"),
])  # fmt: skip
def test_what_is_no_figure_of_a_harness(output: str, reader: str, benchmark: str | None, unit: str, words: str) -> None:
    refuses(ValueError, words, printed_score, output, reader, benchmark, unit)


RATED = VALID + '[responses.rate]\nfrom = "output"\nreader = "sysbench"\nunit = "1/s"\nbetter = "higher"\n'


def captured(output: str) -> Record:
    run = recorded(0.5)
    run["copies"][0] |= {"stdout": output, "stdout_truncated": False}
    return PrintedResponses(parse(RATED), printed_score).read(read_record(run))


def test_studies_and_options_name_a_harness_that_prints() -> None:
    with pytest.raises(ValidationError, match=r"Input should be 'jmh', .* or 'csv'"):
        Response(source="output", reader="criterion", unit="s")
    without = Response(source="output", pattern="(x)").model_dump()
    assert "reader" not in without and "benchmark" not in without and "limit" not in without
    assert not READERS["criterion"].to_output
    rate, sort = read_response("rate:higher: @sysbench"), read_response("time:lower: @gobench Sort n=64")
    found = parse(study_text(CommandStudy(("p",), responses=(rate, sort)))).responses
    assert {name: (found[name].reader, found[name].benchmark, found[name].unit) for name in ("rate", "time")} == {
        "rate": ("sysbench", None, "1/s"),
        "time": ("gobench", "Sort n=64", "s"),
    }


CAS = {"threads": "2", "lock": "cas"}


def study(folder: Path, text: str = VALID, runs: int = 4) -> Table:
    """Six configurations; with `threads` they take 1/threads seconds, and runs differ by some percent."""
    made = [(t, recorded((1 + r / 100) / int(t["threads"]))) for t in CONFIGURATIONS for r in range(runs)]
    return load_journal(folder, made, text)


def held(
    folder: Path, forks: list[float], params: dict[str, str] = CAS, unit: str = "s/op", **more: Any
) -> BenchmarkComparison:
    mode = "thrpt" if unit.startswith("ops") else "ss"
    file = written(folder, result([[x, x, 9 * x] for x in forks], unit, mode, params))
    (found,) = compare_with_study(read("jmh", file), study(folder, **more), {}, "JMH")
    return found


def test_the_configuration_is_the_one_whose_levels_the_params_name(tmp_path: Path) -> None:
    found = held(tmp_path, [0.50, 0.51, 0.505, 0.51, 0.52], {**CAS, "size": "7"})
    assert found.configuration == {"threads": 2, "lock": "cas"} and found.unmatched_params == {"size": "7"}
    assert (found.figures.n_forks, found.n_runs, found.label) == (5, 4, "agree")
    assert found.study and found.study.value == pytest.approx(0.5075, rel=1e-3)
    (case,) = agreement_claim([found]).cases
    assert (case.case, case.values["benchmark"]) == ("agree", "Sum.run threads=2 lock=cas size=7")
    (shown,) = comparison_tables([found], "wall time")
    assert shown.rows[0][-2] == "size=7"


def test_a_difference_is_told_as_percent_and_few_forks_say_nothing(tmp_path: Path) -> None:
    slow = held(tmp_path, [0.60, 0.61, 0.605, 0.61, 0.62])
    assert slow.label == "slower" and slow.ratio and slow.ratio.value == pytest.approx(1.2, rel=0.01)
    (case,) = agreement_claim([slow]).cases
    assert (case.case, case.values["word"], case.values["gain"]) == ("differs", "slower", slow.ratio)
    fast = held(tmp_path, [0.40, 0.41, 0.405, 0.41, 0.42])
    assert fast.label == "faster" and " less time (95% CI " in sentences([fast])[0]
    one, two = held(tmp_path, [0.5]), held(tmp_path, [0.4, 0.7])
    assert one.label == two.label == "unknown"
    for found, reason, what in (
        (one, "1 fork and 4 runs give no interval", "processes"),
        (two, "the ratio may lie anywhere from", "processes"),
        (held(tmp_path, [0.5, 0.51, 0.52], runs=1), "give no interval", "runs"),
    ):
        few = cases_of(agreement_claim([found]))["few"]
        assert reason in few["reason"] and few["what"] == what


def test_levels_must_be_named_once_and_agree(tmp_path: Path) -> None:
    with pytest.raises(StudyError, match=r"--where: threads=2 and threads=4, expected one level of a factor"):
        parse_where(["threads=2", "threads=4"], study(tmp_path))
    found = match(study(tmp_path), CAS, {"threads": "4"})
    assert (found.configuration, found.why) == (None, "it has threads = 2, and --where asks for threads = 4")
    read_ = study(tmp_path)
    with pytest.raises(StudyError, match=r"no level for lock, expected one: lock has none, cas; add .* --where lock="):
        match(read_, {"threads": "2"}, {})
    assert match(read_, {"threads": "2"}, parse_where(["lock=none"], read_)).configuration == CONFIGURATIONS[2]


def test_a_rate_is_held_against_a_rate_only_in_the_unit_of_the_study(tmp_path: Path) -> None:
    rates = [0.50, 0.51, 0.505, 0.51, 0.52]
    time = held(tmp_path, rates, unit="ops/s")
    assert time.ratio is None and 'not compared: JMH has 1/s, the study\'s wall is in "s"' in sentences([time])[0]
    text = VALID + '\n[responses.rate]\nfrom = "run.wall"\nunit = "1/s"\nbetter = "higher"\n'
    assert held(tmp_path, rates, unit="ops/s", text=text).label == "agree"
    assert held(tmp_path, [1.2 * x for x in rates], unit="ops/s", text=text).label == "faster"
    text = VALID + '\n[responses.took]\nfrom = "run.wall"\nunit = "ms"\n'
    found = held(tmp_path, [0.5, 0.51, 0.505], text=text)
    assert found.ratio and found.ratio.value == pytest.approx(1000 * 0.505 / 0.5075, rel=0.01)


@pytest.mark.parametrize(("low", "high", "word"), [
    (0.97, 1.04, "agree"), (1.01, 1.04, "agree"), (0.9, 1.2, "agree"), (0.7, 1.1, "unknown"),
    (1.01, 1.10, "slower"), (0.90, 0.99, "faster"), (None, None, "unknown"),
])  # fmt: skip
def test_the_word_follows_from_the_interval(low: float | None, high: float | None, word: str) -> None:
    assert label(Estimate(1.0, low, high, 0.95, 9, "t"), 5, 5, "s")[0] == word
    of_a_rate = {"slower": "faster", "faster": "slower"}.get(word, word)
    assert label(Estimate(1.0, low, high, 0.95, 9, "t"), 5, 5, "1/s")[0] == of_a_rate


@pytest.mark.parametrize("text", ["lock", "lock=mutex", "size=1", "=", "threads=3"])
def test_what_the_study_does_not_have_cannot_be_asked_for(tmp_path: Path, text: str) -> None:
    refuses(StudyError, r"--where: .*, expected", parse_where, [text], study(tmp_path))


def test_what_is_not_compared_or_disturbed_is_told(tmp_path: Path) -> None:
    file = written(tmp_path, result([[0.5]] * 3, "s/op", params=CAS), result([[1.0]], params={**CAS, "threads": "3"}))
    found = compare_with_study(read("jmh", file), study(tmp_path), {}, "JMH")
    assert found[1].configuration is None
    assert "not compared: no configuration of the study has threads = 3" in sentences(found)[1]
    with pytest.raises(StudyError, match="no benchmark has a configuration"):
        compare_with_study(read("jmh", file)[1:], study(tmp_path), {}, "JMH")
    made = [(CONFIGURATIONS[3], recorded(0.5 + r / 100, 0.5, neighbor_s=0.2 if r == 2 else 0.0)) for r in range(3)]
    every = read("jmh", written(tmp_path, result([[0.5]] * 3, "s/op", params=CAS)))
    (found,) = compare_with_study(every, load_journal(tmp_path, made), {}, "JMH")
    assert found.n_runs == 2 and any("1 of 3 runs disturbed" in text for text in found.flags)


def test_parameters_that_the_study_fixes_must_be_the_same(tmp_path: Path) -> None:
    use = 'use = "java-threads"\nparameters = { threads = "{threads}", units = 60, workers = "{threads}" }'
    read_ = study(tmp_path, VALID.replace('command = ["./prog", "-t", "{threads}"]', use))
    assert match(read_, {**CAS, "units": "60"}, {}).unmatched == {}
    assert match(read_, {**CAS, "units": "61"}, {}).why == "the study fixes units to 60, not 61"
    filled = match(read_, {"workers": "4", "lock": "cas"}, {})
    assert filled.configuration == {"threads": 4, "lock": "cas"} and filled.unmatched == {}


@pytest.mark.parametrize(("level", "text", "same"), [
    (3000, "3000", True), (3000, "3e3", True), (0.5, ".5", False), (0.5, "0.50", True), (1, "1_0", False),
    (1 << 62, str((1 << 62) + 1), False), (True, "true", True), (1, "true", False), ("1", "1.0", False),
])  # fmt: skip
def test_levels_are_compared_by_value(level: Any, text: str, same: bool) -> None:
    assert is_level(level, text) == same
