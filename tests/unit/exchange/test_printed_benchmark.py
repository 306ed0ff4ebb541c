"""A harness as the program of a study: the figure of what it printed, and why there is none."""

from pathlib import Path
from statistics import median

import msgspec
import pytest
from pydantic import ValidationError

from scalograph.cli.command_line_study.declaration import CommandStudy, study_text
from scalograph.cli.command_line_study.option_texts import read_response
from scalograph.exchange.benchmark_values import printed_score
from scalograph.exchange.readers.registry import read
from scalograph.protocol.record import Record
from scalograph.run.runner import PrintedResponses
from scalograph.study.declare import declare
from scalograph.study.load import parse
from scalograph.study.model import Response
from scalograph.study.reader_names import READERS
from tests.kit import ROOT
from tests.kit.records import recorded
from tests.kit.studies import VALID

HOME = ROOT / "tests" / "recorded"
SYSBENCH = (HOME / "instruments" / "sysbench-1.0.txt").read_text()
ONE = SYSBENCH[: SYSBENCH.index("sysbench 1.0", 9)]
GO = (HOME / "instruments" / "gobench-1.26.txt").read_text()
RATE = '[responses.rate]\nfrom = "output"\nreader = "sysbench"\nunit = "1/s"\nbetter = "higher"\n'


def test_the_figure_of_a_run_is_what_the_harness_measured() -> None:
    assert printed_score(ONE, "sysbench", None, "1/s") == pytest.approx(2276 / 1.0002)
    assert printed_score(GO, "gobench", "example.org/sum.Sum n=64 gomaxprocs=2", "s") == pytest.approx(60.28e-9)


def test_of_several_processes_it_is_the_median() -> None:
    file = HOME / "instruments" / "pyperf-2.10.json"
    first = read("pyperf", file)[0]
    typical = median(median(fork.values) for fork in first.forks)
    assert len(first.forks) > 1 and printed_score(file.read_text(), "pyperf", first.name, "s") == pytest.approx(typical)


@pytest.mark.parametrize(
    ("output", "reader", "benchmark", "unit", "why"),
    [
        ("", "sysbench", None, "1/s", "found no such output, expected the output of sysbench 1"),
        (ONE, "sysbench", None, "s", "found figures in 1/s, expected s"),
        (ONE, "sysbench", "sysbench memory", "1/s", 'found 0 benchmarks "sysbench memory".*sysbench cpu threads=1'),
        (GO, "gobench", None, "s", "found 4 benchmarks .*expected one; name it"),
        (GO, "gobench", "example.org/sum.Sum", "s", "found 4 benchmarks"),
        ("{", "hyperfine", None, "s", "expected a result of hyperfine"),
        ("\udcff", "hyperfine", None, "s", "expected a result of hyperfine"),
    ],
)
def test_what_is_no_figure_of_a_harness(output: str, reader: str, benchmark: str | None, unit: str, why: str) -> None:
    with pytest.raises(ValueError, match=why):
        printed_score(output, reader, benchmark, unit)


def captured(output: str) -> Record:
    made = recorded(0.5)
    made["copies"][0] |= {"stdout": output, "stdout_truncated": False}
    return PrintedResponses(parse(VALID + RATE), printed_score).read(msgspec.convert(made, Record))


def test_a_run_keeps_the_figure_or_has_failed() -> None:
    assert captured(ONE).values[-1].values == {"output_rate": [pytest.approx(2276 / 1.0002)]}
    failed = captured("no harness").run
    assert failed.status == "failed" and "response rate: found no such output" in str(failed.reason)


def test_a_reader_without_anything_to_read_with_is_a_mistake() -> None:
    with pytest.raises(ValueError, match="nothing to read it with"):
        PrintedResponses(parse(VALID + RATE))


def test_a_study_names_a_harness_that_prints() -> None:
    with pytest.raises(ValidationError, match=r"Input should be 'jmh', .* or 'csv'"):
        Response(source="output", reader="criterion", unit="s")
    without = Response(source="output", pattern="(x)").model_dump()
    assert "reader" not in without and "benchmark" not in without and "limit" not in without
    assert not READERS["criterion"].to_output


def test_an_option_names_a_harness_and_its_benchmark(tmp_path: Path) -> None:
    rate, sort = read_response("rate:higher: @sysbench"), read_response("time:lower: @gobench Sort n=64")
    (tmp_path / "study.toml").write_text(study_text(CommandStudy(("p",), responses=(rate, sort))))
    found = declare(tmp_path / "study.toml").study.responses
    assert (found["rate"].reader, found["rate"].benchmark, found["rate"].unit) == ("sysbench", None, "1/s")
    assert (found["time"].reader, found["time"].benchmark, found["time"].unit) == ("gobench", "Sort n=64", "s")
