"""Read and compare the sources named on a command line."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from scalograph.cli.options import ForeignOptions
from scalograph.cli.overrides import parse_option
from scalograph.errors import ProtocolError, StudyError
from scalograph.study.scalars import unknown_name_error
from scalograph.text.quantities import exact_percent
from scalograph.text.units import parse_percent

if TYPE_CHECKING:
    from scalograph.exchange.compare.measured_source import MeasuredSource
    from scalograph.exchange.readers.registry import ImportedFiles
    from scalograph.protocol.compared_results import ResultComparisons
    from scalograph.report.screen import Screen


_NO_OPTIONS, _JSON = ForeignOptions(), "json:"
# A longer name of a source is none to say in a sentence: letters then.
LONGEST = 32


def compare_sources(
    sources: Sequence[str], margin: str | None = None, response: str | None = None, per: str | None = None,
    mhz: str | None = None, where: Sequence[str] = (), allow_missing: Sequence[str] = (),
    foreign: ForeignOptions = _NO_OPTIONS, needs_files: bool = False,
) -> "ResultComparisons":  # fmt: skip
    """Compare sources with the first of them, given the texts of the options of `compare`.

    `margin` is such as "5%", None 2%; `response` None is the primary one; `per` is clock (with `mhz`, such as
    "2000,2330") or cpu. `where` are texts FACTOR=LEVEL that select; `foreign` says how files of other tools are read;
    with `needs_files` a result lacks what a file of it that cannot be read may hold.
    """
    from scalograph.exchange.compare.measured_source import PER, divide_scores, select_levels
    from scalograph.exchange.compare.result_answer import compare_sources

    if per is not None and per not in PER:
        raise unknown_name_error("--per", f'"{per}"', per, PER)
    clocks = _clocks(mhz, len(sources), per)
    opened = _read_all(sources, response, foreign)
    opened = select_levels(opened, where)
    if per:
        opened = [divide_scores(item, per, clock) for item, clock in zip(opened, clocks, strict=True)]
    comparisons = compare_sources(
        opened[0], opened[1:], share_of("--margin", margin), floor=_floor(opened), allow_missing=allow_missing,
        needs_files=needs_files,
    )  # fmt: skip
    for item in comparisons.results:
        item.per = per or ""
    return comparisons


def _read_all(sources: Sequence[str], response: str | None, foreign: ForeignOptions) -> "list[MeasuredSource]":
    named = [*zip(sources, labels(sources), strict=True)]
    if foreign.layout() and not any(text.startswith(_JSON) for text in sources):
        raise StudyError.one("", "--value is for JSON files", "", f"name them so: {_JSON}FILE")
    return read_alike(
        lambda correct: [read_source(text, label, response, correct, foreign) for text, label in named], response
    )


def read_alike(read: "Callable[[bool | None], list[MeasuredSource]]", response: str | None) -> "list[MeasuredSource]":
    """Read sources by undisturbed time, or none of them: a ratio never mixes it with wall time.

    `read` takes whether studies use it; None: those with a corrected run. `response` is the requested one.
    """
    from scalograph.study.responses import UNDISTURBED

    opened = read(True if response == UNDISTURBED else None)
    are_corrected = [source.response.name == UNDISTURBED for source in opened]
    if response is not None or all(are_corrected) or not any(are_corrected):
        return opened
    corrected = read(True)
    return corrected if all(source.response.name == UNDISTURBED for source in corrected) else read(False)


def _floor(sources: "Sequence[MeasuredSource]") -> float:
    from scalograph.protocol.noise_floor import read_noise

    kept = read_noise()
    if kept is None or not all(kept.is_of_machine(source.machine) for source in sources):
        return 0.0
    return kept.minimum_detectable_percent / 100


def comparison_screen(comparisons: "ResultComparisons", sources: Sequence[str]) -> "Screen":
    """Lay out a comparison; `sources` are as they were named."""
    from scalograph.exchange.compare.compare_claim import compare_claim, compare_tables, compare_trust, differences
    from scalograph.questions.claims import add_varied
    from scalograph.report.screen import Screen

    named = [f"{label}: {text}" for label, text in zip(labels(sources), sources, strict=True) if len(label) == 1]
    causes = list(dict.fromkeys(text for result in comparisons.results for text in result.causes))
    return Screen(
        title=comparisons.results[0].title or "Is it faster?",
        machine="; ".join([*named, differences(comparisons), f"margin {exact_percent(comparisons.results[0].margin)}"]),
        claim=add_varied(compare_claim(comparisons), comparisons.results[0].varied),
        trust=compare_trust(comparisons), tables=compare_tables(comparisons),
        remarks={"Excluded or unverified": causes} if causes else {},
    )  # fmt: skip


def labels(sources: Sequence[str]) -> list[str]:
    """Label sources by the shortest distinct end of their paths; by letters where that is long.

    >>> labels(["results/a/latest", "results/b/latest"]), labels(["published:8", "old.json"])
    (['a/latest', 'b/latest'], ['published:8', 'old.json'])
    >>> labels(["results", "results"])
    ['A', 'B']
    """
    parts = [[text] if "," in text else text.rstrip("/").split("/") for text in sources]  # of several files: no end
    for n in range(1, max(map(len, parts)) + 1):
        ends = ["/".join(part[-n:]) for part in parts]
        if len({*ends}) == len(ends) and max(map(len, ends)) <= LONGEST:
            return ends
    return [chr(ord("A") + i) if i < 26 else f"result {i + 1}" for i in range(len(sources))]


def _clocks(mhz: str | None, n: int, per: str | None) -> list[float | None]:
    if mhz is None:
        return [None] * n
    if per != "clock":
        raise StudyError.one("", "--mhz is for --per clock only", "", "add --per clock")
    try:
        clocks = [float(part) for part in mhz.split(",")]
    except ValueError:
        clocks = []
    if len(clocks) != n or not all(0 < clock < 1e9 for clock in clocks):
        raise StudyError.one("--mhz", f'"{mhz}"', f"{n} clocks in MHz, such as 2000,2330")
    return [*clocks]


def share_of(option: str, text: str | None) -> float | None:
    """Parse a percentage as a share; None for none."""
    return None if text is None else parse_option(option, text, parse_percent)


# What nobody but us writes.
_OURS, _OUR_NAME = (".jsonl", ".gz"), "findings.json"


def read_source(
    text: str, label: str, response: str | None, correct: bool | None = None, foreign: ForeignOptions = _NO_OPTIONS
) -> "MeasuredSource":
    """Read a source under a label; the format of other tools' files is detected.

    `correct`: whether a study uses undisturbed time; None: only if a run was corrected.
    """
    from scalograph.exchange.benchmark import assume_spread
    from scalograph.exchange.compare.benchmark_source import benchmark_source
    from scalograph.exchange.compare.published_source import is_published, published_source
    from scalograph.exchange.readers.registry import ImportedFiles, read
    from scalograph.study.reader_names import READERS

    if is_published(text):
        return published_source(text, response, foreign.share()).relabel(label)
    name, colon, files = text.partition(":")
    if colon and name in READERS:
        layout = foreign.layout() if text.startswith(_JSON) else None
        source: MeasuredSource | ImportedFiles = read(name, *map(Path, files.split(",")), options=layout)
    else:
        source = _read_path(Path(text), label, response, correct)
    if not isinstance(source, ImportedFiles):
        return source
    every = assume_spread(source.benchmarks, foreign.share())
    return benchmark_source(replace(source, benchmarks=every), label, response)


def _read_path(path: Path, label: str, response: str | None, correct: bool | None) -> "MeasuredSource | ImportedFiles":
    from scalograph.cli.analyze_steps import load_findings
    from scalograph.exchange.compare.measured_source import findings_source
    from scalograph.exchange.readers.registry import recognize
    from scalograph.study.reader_names import READERS

    try:
        findings = load_findings(path, correct)
    except ProtocolError:
        is_ours = path.suffix in _OURS or path.name == _OUR_NAME or not path.exists()
        recognized_file = None if is_ours else recognize(path)
        if recognized_file:
            return recognized_file
        if is_ours or path.is_dir():
            raise
    else:
        return findings_source(findings, label, response, correct)
    what = f"results, or a file of {', '.join(READERS)}"
    raise ProtocolError(str(path), "none of the known formats", what, f"name one to see why it is none: FORMAT:{path}")
