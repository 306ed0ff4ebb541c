"""The explanation of a study in its findings: the document, and its table for people."""

from pathlib import Path

from scalograph.errors import ProtocolError
from scalograph.protocol.explanation import LEAST_SHARE, Explanation, Share, read_explanation
from scalograph.protocol.findings import Cell, Column, Findings, TableDoc
from scalograph.text.explained import cause_text
from scalograph.text.short_names import short_setting

SHOWN = 8


def explanation_table(document: Explanation) -> TableDoc:
    """Make the table of an explanation: each cause with its share of the loss, then what has none."""
    columns = [
        Column(name="share of the loss", unit="%"), Column(name="from", unit="%"), Column(name="to", unit="%"),
        Column(name="cause", kind="text"), *(Column(name=_level_name(document, i), unit="s") for i in (0, 1)),
    ]  # fmt: skip
    shown = [part for part in document.parts if abs(part.share.value) >= LEAST_SHARE]
    gained = [part for part in shown if part.share.value < 0]
    shown = [part for part in shown if part.share.value > 0][:SHOWN] + gained[-2:]
    rows: list[list[Cell]] = [
        [*_cells(part.share), cause_text(part), _digits(part.before_s), _digits(part.after_s)] for part in shown
    ]
    rest = document.unexplained or Share(value=0.0)
    rows.append([*_cells(rest), "not explained", None, None])
    note = (
        f"CPU seconds per unit of work with {document.cpus[0]:g} and {document.cpus[1]:g} CPUs, in "
        f"{min(document.n_runs)} recorded runs of each level; intervals over runs; below 1% is omitted"
    )
    return TableDoc(id="explanation", title="Where lost CPU time goes", note=note, columns=columns, rows=rows)


def _level_name(document: Explanation, index: int) -> str:
    return short_setting(document.factor, document.levels[index])


def _cells(share: Share) -> list[float | None]:
    ends = (share.value, share.low, share.high)
    return [None if end is None else round(100 * end, 1 if abs(end) < 0.1 else 0) for end in ends]


def _digits(seconds: float) -> float:
    return float(f"{seconds:.3g}")


def add_explanation(findings: Findings, folder: Path | None) -> Findings:
    """Add the explanation in `folder` to the findings; one of another study becomes a warning."""
    if folder is None:
        return findings
    try:
        document = read_explanation(folder, findings.study.hash)
    except ProtocolError as error:
        return findings.model_copy(update={"warnings": [*findings.warnings, str(error)]})
    if document is None:
        return findings
    tables = [*findings.tables, explanation_table(document)]
    return findings.model_copy(update={"tables": tables, "explanation": document})
