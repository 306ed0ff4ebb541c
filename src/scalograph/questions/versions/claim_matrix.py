"""The numbers behind the claim: what each version takes, and its ratio over the reference."""

from collections.abc import Mapping, Sequence

from scalograph.analysis.estimate import Estimate
from scalograph.findings.curves import estimated
from scalograph.findings.names import short, title, varying
from scalograph.findings.sample import Sample, is_open
from scalograph.findings.speedup_rule import primary
from scalograph.findings.table import Table
from scalograph.protocol.claim import Matrix, MatrixCell, MatrixRow
from scalograph.protocol.plain import Level
from scalograph.questions.versions.model import Version, ratio
from scalograph.text.compact import compact

MOST_ROWS = 24
_NOTE = "ratio: over the reference above it, paired within blocks, all intervals at once"


def matrix(table: Table, versions: Sequence[Version], noun: str, odd: Mapping[str, str]) -> Matrix | None:
    """Lay out a row for each version, its reference above; None where there are too many.

    Args:
        table: the study.
        versions: all that are compared.
        noun: what their figures are.
        odd: why a version is marked, by its name.
    """
    references = list({id(version.base): version.base for version in versions}.values())
    if len(versions) + len(references) > MOST_ROWS:
        return None
    response = table.study.responses[primary(table)]
    rows = []
    for base in references:
        rows.append(_row(table, base, None, odd))
        rows += [
            _row(table, version.sample, ratio(table, version), odd) for version in versions if version.base is base
        ]
    return Matrix(
        title=title(table, primary(table)), unit=response.unit, better=response.better,
        columns=[noun, "ratio"], rows=rows, note=_NOTE,
    )  # fmt: skip


def version_name(table: Table, treatment: Mapping[str, Level]) -> str:
    """Name what differs from the reference, and what varies beside; texts first: "stream, 8 threads"."""
    levels = varying(table, treatment)
    return short(table, dict(sorted(levels.items(), key=lambda item: not isinstance(item[1], str))))


def _row(table: Table, sample: Sample, over: Estimate | None, odd: Mapping[str, str]) -> MatrixRow:
    name = version_name(table, sample.treatment)
    doubt = "disturbed runs only" if sample.falls_back else "most runs unverified" if is_open(sample) else ""
    cell = MatrixCell(estimate=estimated(table, sample, primary(table)), doubt=odd.get(name) or doubt)
    return MatrixRow(label=name, cells=[cell, MatrixCell(text="1" if over is None else compact(over))])
