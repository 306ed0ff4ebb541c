"""One curve of a study: its points as a frame, its law, its picture."""

from typing import Any

from scalograph.analysis.estimate import Estimate
from scalograph.exchange.export import Columns
from scalograph.exchange.frames import frame
from scalograph.notebook.drawn import Drawn, curve_plot
from scalograph.protocol.findings import Curve, LawDoc, Point, StudyDoc
from scalograph.protocol.plain import is_number


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
