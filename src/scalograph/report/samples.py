"""The raw run scores behind the points of the charts and the CSV download."""

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

from scalograph.protocol.findings import Curve, Point, PointResponse, RunLog
from scalograph.text.axes import Factors
from scalograph.text.escape import escape_controls

EXACT_RUNS = 2_000  # past this, scores are rounded to DIGITS so that the page stays small
DIGITS = 5
LOGGED = ("start_s", "status", "cause", "amount", "counted")


@dataclass(slots=True)
class SampleRow:
    """One run: its configuration by level index, its verdict and its scores."""

    run: str
    configuration: dict[str, int]
    verdict: str = ""
    scores: dict[str, float] = field(default_factory=dict)
    left_out: set[str] = field(default_factory=set)


class Samples:
    """Runs as rows, in the order of the curves; a run that two curves share has one row."""

    def __init__(self, factors: Factors) -> None:
        self.factors = factors
        self.rows: list[SampleRow] = []
        self.places: dict[tuple[tuple[str, int], ...], dict[str | int, int]] = {}

    def add(self, curve: Curve, point: Point) -> list[list[int]]:
        """Add the runs of a point; return their rows as `[first, count]` stretches."""
        levels = {**curve.group, curve.factor: point.level}
        configuration = {name: self.factors[name].index(level) for name, level in levels.items()}
        places = self.places.setdefault(tuple(sorted(configuration.items())), {})
        rows: set[int] = set()
        for name, response in point.responses.items():
            rows.update(self._score(name, response, i, configuration, places) for i in range(len(response.scores)))
        return stretches(sorted(rows))

    def _score(
        self, name: str, response: PointResponse, i: int, configuration: dict[str, int], places: dict[str | int, int]
    ) -> int:
        run = response.runs[i] if i < len(response.runs) else ""
        index = places.setdefault(run or i, len(self.rows))
        if index == len(self.rows):
            self.rows.append(SampleRow(escape_controls(run), configuration))
        row = self.rows[index]
        row.scores[name] = response.scores[i]
        if run in response.left_out:
            row.left_out.add(name)
        row.verdict = response.verdicts[i] if i < len(response.verdicts) else row.verdict
        return index

    def take(self, log: RunLog) -> dict[str, Any]:
        """Add runs that no point has, the failed ones; return the log columns of all rows."""
        by_run = {row.run: i for i, row in enumerate(self.rows)}
        kept: dict[str, list[Any]] = {name: [None] * len(self.rows) for name in LOGGED}
        for i, (run, configuration) in enumerate(zip(log.run, log.configuration, strict=True)):
            index = by_run.get(escape_controls(run), len(self.rows))
            if index == len(self.rows):
                levels = log.configurations[configuration].items()
                at = {name: self.factors[name].index(level) for name, level in levels}
                self.rows.append(SampleRow(escape_controls(run), at, log.verdict[i]))
                for column in kept.values():
                    column.append(None)
            for name, column in kept.items():
                column[index] = getattr(log, name)[i]
        return {"log": kept}

    def columns(self, responses: Iterable[str]) -> dict[str, Any]:
        """Return all rows as columns: a third of the JSON, and it packs better."""
        verdicts = list(dict.fromkeys(row.verdict for row in self.rows))
        codes = {verdict: i for i, verdict in enumerate(verdicts)}
        names = list(dict.fromkeys(name for row in self.rows for name in row.configuration))
        exact = len(self.rows) <= EXACT_RUNS
        return {
            "run": [row.run for row in self.rows],
            "verdicts": [escape_controls(verdict) for verdict in verdicts],
            "verdict": [codes[row.verdict] for row in self.rows],
            "levels": {name: [row.configuration.get(name, -1) for row in self.rows] for name in names},
            "scores": {
                name: [x if exact or x is None else float(f"{x:.{DIGITS}g}") for x in scores]
                for name, scores in ((name, [row.scores.get(name) for row in self.rows]) for name in responses)
            },
            "left_out": {name: [i for i, row in enumerate(self.rows) if name in row.left_out] for name in responses},
            "digits": None if exact else DIGITS,
        }


def stretches(rows: list[int]) -> list[list[int]]:
    """Group ascending numbers into `[first, count]` of consecutive ones.

    >>> stretches([3, 4, 5, 9])
    [[3, 3], [9, 1]]
    """
    groups: list[list[int]] = []
    for row in rows:
        if groups and row == sum(groups[-1]):
            groups[-1][1] += 1
        else:
            groups.append([row, 1])
    return groups
