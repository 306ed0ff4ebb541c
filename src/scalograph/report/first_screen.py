"""The first screen of a page without its chart: matrix as texts, verdict, date; and how the page is packed."""

import base64
import gzip
import hashlib
import json
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from scalograph.protocol.findings import Matrix, MatrixCell, RunsDoc
from scalograph.report.terminal_first import matrix_legend, matrix_title
from scalograph.text.cell_numbers import cell_number, matrix_scale
from scalograph.text.scale import Scale

WORDS = {"reliable": "RELIABLE", "caution": "CAUTION", "unusable": "UNUSABLE"}


@dataclass(frozen=True, slots=True)
class MatrixText:
    """The matrix as texts: each cell has its value, its interval, and its flag."""

    caption: str
    head: list[str]
    rows: list[tuple[str, list[tuple[str, str, str]]]]
    note: str


def matrix_text(matrix: Matrix) -> MatrixText:
    scale = matrix_scale(matrix)
    rows = [(row.label, [_cell(cell, scale) for cell in row.cells]) for row in matrix.rows]
    head = [matrix.rows_are or "configuration", *matrix.columns]
    return MatrixText(matrix_title(matrix, scale), head, rows, matrix_legend(matrix))


def _cell(cell: MatrixCell, scale: Scale) -> tuple[str, str, str]:
    text = cell.text or cell_number(cell.estimate, scale)
    value, blank, interval = text.partition(" ")
    return (value, interval, cell.doubt) if blank and value[-1:].isdigit() else (text, "", cell.doubt)


def day(runs: RunsDoc) -> str:
    """Return the date on which the runs began; empty where unknown."""
    try:
        return f"{datetime.fromisoformat(runs.started or '').astimezone(UTC):%d %b %Y}".removeprefix("0")
    except (ValueError, OverflowError):
        return ""


GLOSSARY = (
    ("run", "One launch of the program under one configuration."),
    ("configuration", "One level for each factor."),
    ("factor, level", "A variable of the study, and one of its values."),
    ("block", "A stretch of time in which every configuration runs once, in random order."),
    ("clean", "No interference was measured."),
    ("disturbed", "Interference, such as CPU steal, exceeded what a run may lose. Its mark is a cross."),
    ("corrected", "The time that other processes took is subtracted. The run is included."),
    ("undisturbed time", "The time that a run would have taken had nobody else used its CPUs."),
    ("unverified", "The run could not be checked for interference. It is counted."),
    ("counted", "The estimates include this run. Its mark is full, as is that of a conclusive estimate."),
    ("excluded", "The estimates do not include this run. Its mark is a cross."),
    ("inconclusive", "Too wide an interval to say: its ends differ more than 2-fold. Its mark is hollow."),
    ("interval", "95% confidence interval (CI), unless a chart says otherwise. In charts: the bars."),
    ("band", "An interval that holds for all levels of a curve at once. In charts: the shading around a line."),
    ("holds", "Of a published claim: the interval of each of its values lies within the range that supports it."),
    ("does not hold", "Of a published claim: the interval of one of its values lies outside that range."),
    ("published", "A value that a paper reports. In charts: bars, on dotted lines in the color of our own."),
    ("baseline", "The level that a speedup is relative to."),
    ("cliff", "A place along a factor where the time jumps by 20% or more."),
    ("break-even", "The levels at which two versions take equally long."),
    ("speedup", "Time at the baseline over time at this level; for work per worker, the ratio of the rates."),
    ("ideal", "A speedup proportional to the CPUs in use. In charts: the dashed gray line."),
    ("efficiency", "Speedup over the growth of the CPUs in use."),
    ("serial fraction", "The share of the work that only one worker can do, after Karp and Flatt."),
    ("scaling law", "A thin line fitted to a speedup, dotted beyond the data. The diamond N* is its maximum."),
)


# Higher levels take up to eight times as long, and pack numbers no smaller.
LEVEL = 6


def pack(text: str) -> str:
    """Return a text as gzip in base64; deterministic."""
    return letters(gzip.compress(text.encode(), compresslevel=LEVEL, mtime=0))


def letters(packed: bytes) -> str:
    """Return compressed bytes in base64, which browsers decode by themselves."""
    return base64.b64encode(packed).decode()


def json_text(value: Any) -> str:
    r"""Return JSON of plain values and dataclasses that is safe inside a script element.

    >>> json_text({"a": "</script>"})
    '{"a":"\\u003c/script>"}'
    """
    text = json.dumps(value, default=vars, allow_nan=False, separators=(",", ":"))
    return text.replace("<", "\\u003c")


def nonce(*parts: str) -> str:
    """Return a nonce derived from the page's content: the same findings give the same file.

    A page opened from a disk is not visited twice; what matters is that text in it cannot know its own digest.
    """
    digest = hashlib.sha256()
    for part in parts:
        digest.update(f"{len(part)}:".encode() + part.encode("utf-8", "backslashreplace"))
    return base64.b64encode(digest.digest()[:18]).decode()
