"""What the first screen says beside its figure: claim, matrix, whether to believe it, where it was measured."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime

from scalograph.protocol.claim import Matrix, MatrixCell
from scalograph.protocol.findings import Findings
from scalograph.text import wording
from scalograph.text.compact import compact
from scalograph.text.scale import Scale, scale_for
from scalograph.text.units import format_duration

WORDS = {"believe": "Believe it", "doubt": "Use with care", "reject": "Do not believe it"}
BETTER = {"lower": "lower is better", "higher": "higher is better", "none": ""}
MOST_POINTS = 3


@dataclass(frozen=True, slots=True)
class MatrixText:
    """The matrix as a table of texts: cells have a text, its interval, and why they are marked."""

    caption: str
    head: list[str]
    rows: list[tuple[str, list[tuple[str, str, str]]]]
    note: str


def matrix_text(matrix: Matrix | None) -> MatrixText | None:
    """Format the matrix; None where there is none."""
    if matrix is None:
        return None
    scale = scale_for(matrix.unit, [c.estimate.value for row in matrix.rows for c in row.cells if c.estimate])
    caption = ", ".join(
        filter(None, [matrix.title + (f" ({scale.unit})" if scale.unit else ""), BETTER[matrix.better]])
    )
    rows = [(row.label, [_cell(cell, scale) for cell in row.cells]) for row in matrix.rows]
    marked = sorted({cell.doubt for row in matrix.rows for cell in row.cells if cell.doubt})
    notes = ["\N{PLUS-MINUS SIGN}: 95 % interval" if any(c[1] for _, cells in rows for c in cells) else "", matrix.note]
    return MatrixText(
        caption,
        [matrix.rows_are, *matrix.columns],
        rows,
        "; ".join(filter(None, [*notes, *(f"!: {why}" for why in marked)])),
    )


def _cell(cell: MatrixCell, scale: Scale) -> tuple[str, str, str]:
    text, _, interval = (cell.text or compact(cell.estimate, scale)).partition(" \N{PLUS-MINUS SIGN}")
    return text, f"\N{PLUS-MINUS SIGN}{interval}" if interval else "", cell.doubt


def said(findings: Findings) -> list[str]:
    """The sentences of the claim; of findings without one, the first of the answer."""
    return list(findings.claim.sentences if findings.claim else findings.answer[:1])


def points(findings: Findings) -> Sequence[str]:
    """What the verdict does to the result, worst first; of older findings the causes."""
    return findings.trust.points or wording.causes(findings.trust)[:MOST_POINTS]


def facts_line(findings: Findings) -> str:
    """Where and when it was measured."""
    doc, runs = findings.machine, findings.runs
    cpus = doc.get("n_cpus")
    where = " ".join([doc.get("cpu_model") or "", f"({doc['hypervisor']})" if doc.get("hypervisor") else ""]).strip()
    jvms = " and ".join(map(str, (doc.get("jvms_used") or {}).values()))
    began, ended = (_moment(text) for text in (runs.started, runs.ended))
    took = f" in {format_duration(round((ended - began).total_seconds()))}" if began and ended and ended > began else ""
    parts = [
        where, f"{cpus} CPU{'' if cpus == 1 else 's'}" if cpus else "", f"JDK {jvms}" if jvms else "",
        f"{runs.n_done:,} run{'' if runs.n_done == 1 else 's'}{took}",
        f"{began:%d %b %Y}".removeprefix("0") if began else "",
    ]  # fmt: skip
    return wording.DOT.join(filter(None, parts))


def _moment(text: str | None) -> datetime | None:
    try:
        return datetime.fromisoformat(text).astimezone(UTC) if text else None
    except ValueError:
        return None
