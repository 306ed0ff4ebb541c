"""Results of a study as an object: verdict, claim, frames, curves, chart. It only reads files."""

import os
from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import Any

from scalograph.analysis.estimate import Estimate
from scalograph.cli.analyze_steps import draw_charts, load_findings
from scalograph.cli.comparing import compare_sources
from scalograph.exchange import export
from scalograph.exchange.export import Columns, frame
from scalograph.findings import table
from scalograph.findings.table import Table
from scalograph.notebook.picture import Picture, curve_plot
from scalograph.protocol import results
from scalograph.protocol.compared_results import ResultComparison
from scalograph.protocol.findings import Claim, Curve, Findings, LawDoc, Point, StudyDoc, Trust
from scalograph.protocol.plain import is_number
from scalograph.report.standalone_picture import first_picture, fragment
from scalograph.study.scalars import format_value


class OpenedCurve:
    """Responses along one factor, all others fixed.

    Attributes:
        document: the curve of the findings (protocol/findings.md).
    """

    def __init__(self, document: Curve, study: StudyDoc) -> None:
        self.document, self.factor, self._study = document, document.factor, study

    @property
    def points(self) -> list[Point]:
        """Return the points in order: `level`, `speedup`, `efficiency`, `responses` by name."""
        return self.document.points

    @property
    def law(self) -> LawDoc | None:
        """Return the scaling law: `sigma`, `kappa`, `gamma`, `optimum`; None if there is none."""
        return self.document.law

    def frame(self) -> Any:
        """Return a frame with a row per point: level, and value and interval of each estimate."""
        return frame(self.columns())

    def columns(self) -> Columns:
        """Return the points as columns: NAME, NAME_low, NAME_high of each estimate."""
        rows = [self._estimates(point) for point in self.points]
        columns: Columns = {self.factor: [point.level for point in self.points]}
        for name in dict.fromkeys(name for row in rows for name in row):
            every = [row.get(name) or Estimate() for row in rows]
            columns |= {name: [e.value for e in every], f"{name}_low": [e.low for e in every]}
            columns |= {f"{name}_high": [e.high for e in every]}
        return columns

    def plot(self, name: str = "speedup") -> Picture:
        """Draw speedup, efficiency or a response over the levels, with intervals.

        Raises:
            ValueError: the levels are no numbers, or no point has such an estimate; with the names that there are.
        """
        estimates = [(point.level, estimate) for point in self.points if (estimate := self._estimates(point).get(name))]
        shown = [(float(level), e) for level, e in estimates if is_number(level) and e.value is not None]
        if not shown:
            names = ", ".join(dict.fromkeys(each for point in self.points for each in self._estimates(point)))
            raise ValueError(f'no "{name}" over numbers along {self.factor}, expected one of: {names}')
        points = [level for level, _ in shown], [float(e) for _, e in shown]
        return Picture(curve_plot(points, None, (self.factor, name), [(e.low, e.high) for _, e in shown]))

    def _estimates(self, point: Point) -> dict[str, Estimate]:
        names = [response.name for response in self._study.responses if response.name in point.responses]
        named = {name: point.responses[name].estimate for name in names}
        own = {"speedup": point.speedup, "efficiency": point.efficiency}
        return named | {name: estimate for name, estimate in own.items() if estimate is not None}

    def __repr__(self) -> str:
        return f"<curve along {self.factor}: {len(self.points)} points>"

    def _repr_svg_(self) -> str | None:
        try:
            return self.plot().svg
        except ValueError:
            return None


def open_results(path: str | os.PathLike[str]) -> "OpenedResults":
    """Open the results of a study.

    Args:
        path: a folder of results, or a journal (.jsonl, .jsonl.gz).

    Raises:
        ProtocolError: there is no such path, or it is neither.
    """
    source = Path(path).expanduser()
    results.locate_results(source)
    return OpenedResults(source)


class OpenedResults:
    """The results of a study; each part is read or made when it is first asked for.

    Attributes:
        path: the folder, or the journal.
    """

    def __init__(self, path: Path) -> None:
        self.path = path

    @cached_property
    def findings(self) -> Findings:
        """Return the findings: the document that `report` reads (protocol/findings.md)."""
        return load_findings(self.path)

    @property
    def verdict(self) -> Trust:
        """Return the verdict: `level` is believe, doubt or reject; `sentence` and `points` say why."""
        return self.findings.trust

    @property
    def claim(self) -> Claim | None:
        """Return the answer of the study: its `sentences`, whether it is `answered`, and its `matrix`."""
        return self.findings.claim

    @cached_property
    def curves(self) -> "Curves":
        """Return the curves by their fixed levels: `r.curves["cpus=2"]`, `r.curves["cpus=2 lock=cas"]`."""
        return Curves(self.findings)

    @cached_property
    def table(self) -> Table:
        """Return the journal as rows (`findings.table.Table`), with every observation."""
        return table.load(results.locate_journal(self.path))

    def runs(self) -> Any:
        """Return a frame with a row per run: configuration, verdict, gravest cause, and scores."""
        return frame(export.runs(self.table))

    def observations(self) -> Any:
        """Return a frame with a row per observation: run, verdict, response, iteration, value, unit."""
        return frame(export.observations(self.table))

    def figure(self, width: float = 760, height: float = 340) -> Picture | None:
        """Draw the first chart of the report, sizes in pixels; None if there is none."""
        plot = first_picture(self.findings, draw_charts(self.findings))
        return Picture(plot, width, height) if plot else None

    def __repr__(self) -> str:
        claim = self.claim
        return (
            f"<{self.findings.study.name}: {' '.join(claim.sentences) if claim else 'no claim'} ({self.verdict.level})>"
        )

    def _repr_html_(self) -> str:
        return fragment(self.findings, first_picture(self.findings, draw_charts(self.findings)))


class Curves(Mapping[str, OpenedCurve]):
    """Curves by name: their fixed levels as `factor=level`, separated by spaces, or `all`.

    A part of a name is enough where only one curve has it.
    """

    def __init__(self, findings: Findings) -> None:
        groups = [curve.group for curve in findings.curves]
        varied = {name for group in groups for name in group if any(other.get(name) != group[name] for other in groups)}
        self._found = {_name(curve, varied): OpenedCurve(curve, findings.study) for curve in findings.curves}

    def __getitem__(self, name: str) -> OpenedCurve:
        if name in self._found:
            return self._found[name]
        asked = set(name.split(" "))
        alike = [curve for full, curve in self._found.items() if asked <= set(full.split(" "))]
        if len(alike) != 1:
            raise KeyError(f'{len(alike)} curves are "{name}"; there are: {", ".join(self._found)}')
        return alike[0]

    def __iter__(self) -> Iterator[str]:
        return iter(self._found)

    def __len__(self) -> int:
        return len(self._found)

    def __repr__(self) -> str:
        return f"<curves: {', '.join(self._found)}>"


def _name(curve: Curve, varied: set[str]) -> str:
    return " ".join(f"{name}={format_value(level)}" for name, level in curve.group.items() if name in varied) or "all"


Comparable = str | os.PathLike[str]


def compare_results(
    reference: Comparable,
    other: Comparable,
    *,
    margin: str | None = None,
    response: str | None = None,
    where: Sequence[str] = (),
    allow_missing: Sequence[str] = (),
) -> ResultComparison:
    """Compare a result with another one, configuration by configuration.

    Args:
        reference: a results folder, a journal, a file of findings, a published table such as "published:15", or a file
            of another instrument, whose format is found or named before it: "hyperfine:old.json".
        other: the same.
        margin: the largest difference to ignore, such as "5%"; None for 2%.
        response: that is compared; None for the one that the studies are about.
        where: texts such as "lock=none", of the configurations that are compared; none for all.
        allow_missing: names of configurations of the reference that may have failed, or be missing, in the other.

    Returns:
        `answer` is faster, slower, equivalent or inconclusive; `configurations` has each ratio with its interval.

    Raises:
        StudyError: they have no configuration in common, or an argument has another form.
        ProtocolError: one cannot be read.
    """
    sources = [os.fspath(path) for path in (reference, other)]
    return compare_sources(sources, margin, response, where=where, allow_missing=allow_missing).results[0]
