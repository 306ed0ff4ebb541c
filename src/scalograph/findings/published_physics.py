"""The physics gates on a paper's own figures: a scaling factor above the CPUs was none when it was printed, too."""

from collections.abc import Mapping, Sequence

from scalograph.analysis.estimate import Estimate
from scalograph.analysis.physics import Observed, objections
from scalograph.findings.published_file import PublishedRow, level, number
from scalograph.study.model import Published, Study

HEADING = "physics"


def objected(study: Study, published: Published, others: Sequence[str], rows: Sequence[PublishedRow]) -> list[str]:
    """For each published row what the gates have against it; empty texts where they have nothing.

    Args:
        study: whose baseline and work the rows share.
        published: which column is which factor or response.
        others: columns that hold no figure; rows that differ in the curve's factor alone are one curve.
        rows: of the file.
    """
    texts = [""] * len(rows)
    along = _column(published.match, next(iter(study.baseline), None))
    baseline = next(iter(study.baseline.values()), None)
    if along is None or type(baseline) is not int:
        return texts
    curves: dict[tuple[str | None, ...], dict[int, int]] = {}
    for index, row in enumerate(rows):
        n = level(published, along, row[along])
        if type(n) is int and n >= 1:
            curves.setdefault(tuple(row[name] for name in others if name != along), {})[n] = index
    for curve in curves.values():
        seen = [found for n, index in curve.items() if (found := _observed(study, published, rows[index], n))]
        for objection in objections(seen, baseline, study.work):
            texts[curve[objection.n]] = "; ".join(filter(None, [texts[curve[objection.n]], objection.gate]))
    return texts


def _column(meanings: Mapping[str, str], wanted: str | None) -> str | None:
    return next((column for column, meaning in meanings.items() if meaning == wanted), None)


def _observed(study: Study, published: Published, row: PublishedRow, n: int) -> Observed | None:
    """A row as the gates see it; None where it does not say how many CPUs there were."""
    control = next((name for name, factor in study.factors.items() if factor.control == "cpus"), None)
    column = _column(published.match, control)
    n_cpus = level(published, column, row[column]) if column else None
    if type(n_cpus) is not int or n_cpus < 1:
        return None
    wall, cpu = (_read(study, published, row, source) for source in ("window.wall", "window.cpu"))
    factor = _column(published.values, "speedup")
    return Observed(n, n_cpus, wall, cpu, _printed(row[factor]) if factor else None)


def _read(study: Study, published: Published, row: PublishedRow, source: str) -> Estimate | None:
    named = next((name for name, response in study.responses.items() if response.source == source), None)
    column = _column(published.values, named)
    return _printed(row[column]) if column else None


def _printed(text: str | None) -> Estimate | None:
    """A printed figure, and half of its last digit to either side."""
    value = number(text)
    if value is None or text is None:
        return None
    half = 0.5 * 10.0 ** -len(text.strip().partition(".")[2]) if "e" not in text.lower() else 0.0
    return Estimate(value, value - half, value + half, 1.0, 1, "printed")
