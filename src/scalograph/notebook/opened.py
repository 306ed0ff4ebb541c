"""Results of a study as an object: verdict, claim, frames, curves, figure. Reads files only; runs nothing."""

import os
from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import Any

from scalograph.analysis.estimate import Estimate
from scalograph.cli.analyze_steps import figures, learned
from scalograph.cli.comparing import compare_sources
from scalograph.exchange import export
from scalograph.exchange.export import Columns, frame
from scalograph.findings import table
from scalograph.findings.table import Table
from scalograph.notebook.drawn import Drawn, curve_plot
from scalograph.protocol import results
from scalograph.protocol.compared_results import ResultComparison
from scalograph.protocol.findings import Claim, Curve, Findings, LawDoc, Point, StudyDoc, Trust
from scalograph.protocol.plain import is_number
from scalograph.report.standalone_picture import first_picture, fragment
from scalograph.study.scalars import as_text


class OpenedCurve:
    """Responses along one factor, all others fixed.

    Attributes:
        document: the curve of the findings (protocol/findings.md).
        factor: along which it runs.
    """

    def __init__(self, document: Curve, study: StudyDoc) -> None:
        self.document, self.factor, self._study = document, document.factor, study

    @property
    def points(self) -> list[Point]:
        """The points in order: `level`, `speedup`, `efficiency`, `responses` by name."""
        return self.document.points

    @property
    def law(self) -> LawDoc | None:
        """The scaling law of the curve: `sigma`, `kappa`, `gamma`, `optimum`; None where there is none."""
        return self.document.law

    def frame(self) -> Any:
        """Return a frame with a row for each point: its level, and of each estimate the value and both ends."""
        return frame(self.columns())

    def columns(self) -> Columns:
        """Return the points as columns: NAME, NAME_low, NAME_high of each response and of speedup and efficiency."""
        rows = [self._estimates(point) for point in self.points]
        names = list(dict.fromkeys(name for row in rows for name in row))
        made: Columns = {self.factor: [point.level for point in self.points]}
        for name in names:
            every = [row.get(name) or Estimate() for row in rows]
            made |= {name: [e.value for e in every], f"{name}_low": [e.low for e in every]}
            made |= {f"{name}_high": [e.high for e in every]}
        return made

    def plot(self, name: str = "speedup") -> Drawn:
        """Return a picture of the speedup, the efficiency or a response over the levels, with intervals.

        Raises:
            ValueError: the levels are no numbers, or no point has such an estimate; with the names that there are.
        """
        known = [(point.level, found) for point in self.points if (found := self._estimates(point).get(name))]
        shown = [(float(level), e) for level, e in known if is_number(level) and e.value is not None]
        if not shown:
            names = ", ".join(dict.fromkeys(one for point in self.points for one in self._estimates(point)))
            raise ValueError(f'no "{name}" over numbers along {self.factor}, expected one of: {names}')
        points = [level for level, _ in shown], [float(e) for _, e in shown]
        return Drawn(curve_plot(points, None, (self.factor, name), [(e.low, e.high) for _, e in shown]))

    def _estimates(self, point: Point) -> dict[str, Estimate]:
        named = {
            one.name: point.responses[one.name].estimate for one in self._study.responses if one.name in point.responses
        }
        own = {"speedup": point.speedup, "efficiency": point.efficiency}
        return named | {name: found for name, found in own.items() if found is not None}

    def __repr__(self) -> str:
        return f"<curve along {self.factor}: {len(self.points)} points>"

    def _repr_svg_(self) -> str | None:
        try:
            return self.plot().svg
        except ValueError:
            return None


def open_results(path: str | os.PathLike[str]) -> "Opened":
    """Open the results of a study.

    Args:
        path: a folder of results, or a journal (.jsonl, .jsonl.gz).

    Raises:
        ProtocolError: there is no such path, or it is neither.
    """
    source = Path(path).expanduser()
    results.at(source)
    return Opened(source)


class Opened:
    """The results of a study; each part is read or made when it is first asked for.

    Attributes:
        path: the folder, or the journal.
    """

    def __init__(self, path: Path) -> None:
        self.path = path

    @cached_property
    def findings(self) -> Findings:
        """All that was learned: the document that `report` reads (protocol/findings.md)."""
        return learned(self.path)

    @property
    def verdict(self) -> Trust:
        """Whether to believe it: `level` is believe, doubt or reject, `sentence` and `points` say why."""
        return self.findings.trust

    @property
    def claim(self) -> Claim | None:
        """The answer to the study's title: `sentences`, whether it is `answered`, and the `matrix` that carries it."""
        return self.findings.claim

    @cached_property
    def curves(self) -> "Curves":
        """Curves by what they have fixed: `r.curves["cpus=2"]`, `r.curves["cpus=2 lock=cas"]`."""
        return Curves(self.findings)

    @cached_property
    def table(self) -> Table:
        """The journal as rows (`findings.table.Table`), with every observation."""
        return table.load(results.journal_of(self.path))

    def runs(self) -> Any:
        """Return a frame with a row for each run: treatment, verdict, gravest cause, and its score of each response."""
        return frame(export.runs(self.table))

    def observations(self) -> Any:
        """Return a frame with a row for each observation: run, treatment, verdict, response, iteration, value, unit."""
        return frame(export.observations(self.table))

    def figure(self, width: float = 760, height: float = 340) -> Drawn | None:
        """Return the first figure of the report as a picture of so many pixels; None where there is none."""
        plot = first_picture(self.findings, figures(self.findings))
        return Drawn(plot, width, height) if plot else None

    def __repr__(self) -> str:
        claim = self.claim
        return (
            f"<{self.findings.study.name}: {' '.join(claim.sentences) if claim else 'no claim'} ({self.verdict.level})>"
        )

    def _repr_html_(self) -> str:
        return fragment(self.findings, first_picture(self.findings, figures(self.findings)))


class Curves(Mapping[str, OpenedCurve]):
    """Curves by name: the levels that they have fixed, as `factor=level` with blanks between, or `all`.

    A part of a name is enough where only one curve has it.
    """

    def __init__(self, findings: Findings) -> None:
        groups = [curve.group for curve in findings.curves]
        varied = {name for group in groups for name in group if any(one.get(name) != group[name] for one in groups)}
        self._found = {_name(curve, varied): OpenedCurve(curve, findings.study) for curve in findings.curves}

    def __getitem__(self, name: str) -> OpenedCurve:
        if name in self._found:
            return self._found[name]
        asked = set(name.split(" "))
        alike = [one for full, one in self._found.items() if asked <= set(full.split(" "))]
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
    return " ".join(f"{name}={as_text(level)}" for name, level in curve.group.items() if name in varied) or "all"


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
    """Compare a result with another one, treatment by treatment.

    Args:
        reference: a results folder, a journal, a file of findings, a published table such as "published:15", or a file
            of another instrument, whose format is found or named before it: "hyperfine:old.json".
        other: the same.
        margin: differences within it are none, such as "5%"; None for 2 %, or the noise floor of
            this machine where that is more.
        response: that is compared; None for the one that the studies are about.
        where: texts such as "lock=none", of the treatments that are compared; none for all.
        allow_missing: names of treatments of the reference that may have failed, or be missing, in the other.

    Returns:
        `answer` is faster, slower, same or not measurable; `treatments` has each ratio with its interval.

    Raises:
        StudyError: they have no treatment in common, or an argument has another form.
        ProtocolError: one cannot be read.
    """
    sources = [os.fspath(path) for path in (reference, other)]
    return compare_sources(sources, margin, response, where=where, allow_missing=allow_missing).results[0]
