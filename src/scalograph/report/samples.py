"""The raw run scores: what the points of the figures and the CSV download are made of."""

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

from scalograph.protocol.findings import Curve, Point, PointResponse, RunLog
from scalograph.text.axes import Factors
from scalograph.text.escape import visible

EXACT_RUNS = 2_000  # past this, scores are rounded to DIGITS so that the page stays small
DIGITS = 5
SAID = {"contaminated": "disturbed", "undecided": "unverified"}
LOGGED = ("start_s", "status", "cause", "amount", "counted")


@dataclass(slots=True)
class SampleRow:
    """One run: its treatment by level index, its verdict and its scores."""

    run: str
    treatment: dict[str, int]
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
        """Take in the runs of a point; returns their rows as `[first, count]` stretches."""
        levels = {**curve.group, curve.factor: point.level}
        treatment = {name: self.factors[name].index(level) for name, level in levels.items()}
        places = self.places.setdefault(tuple(sorted(treatment.items())), {})
        rows: set[int] = set()
        for name, response in point.responses.items():
            rows.update(self._score(name, response, i, treatment, places) for i in range(len(response.scores)))
        return stretches(sorted(rows))

    def _score(
        self, name: str, response: PointResponse, i: int, treatment: dict[str, int], places: dict[str | int, int]
    ) -> int:
        """Scores of one run meet in its row; runs without a name meet by their order within the treatment."""
        run = response.runs[i] if i < len(response.runs) else ""
        place = places.setdefault(run or i, len(self.rows))
        if place == len(self.rows):
            self.rows.append(SampleRow(visible(run), treatment))
        row = self.rows[place]
        row.scores[name] = response.scores[i]
        if run in response.left_out:
            row.left_out.add(name)
        row.verdict = response.verdicts[i] if i < len(response.verdicts) else row.verdict
        return place

    def take(self, log: RunLog) -> dict[str, Any]:
        """Add runs that no point has, the failed ones; returns what else is known of each row."""
        known = {row.run: i for i, row in enumerate(self.rows)}
        kept: dict[str, list[Any]] = {name: [None] * len(self.rows) for name in LOGGED}
        for i, (run, treatment) in enumerate(zip(log.run, log.treatment, strict=True)):
            place = known.get(visible(run), len(self.rows))
            if place == len(self.rows):
                levels = log.treatments[treatment].items()
                at = {name: self.factors[name].index(level) for name, level in levels}
                self.rows.append(SampleRow(visible(run), at, log.verdict[i]))
                for column in kept.values():
                    column.append(None)
            for name, column in kept.items():
                column[place] = getattr(log, name)[i]
        return {"log": kept}

    def columns(self, responses: Iterable[str]) -> dict[str, Any]:
        """All rows as columns: JSON a third the size of rows, and it packs better."""
        verdicts = list(dict.fromkeys(row.verdict for row in self.rows))
        codes = {verdict: i for i, verdict in enumerate(verdicts)}
        names = list(dict.fromkeys(name for row in self.rows for name in row.treatment))
        exact = len(self.rows) <= EXACT_RUNS
        return {
            "run": [row.run for row in self.rows],
            "verdicts": [visible(SAID.get(verdict, verdict)) for verdict in verdicts],
            "verdict": [codes[row.verdict] for row in self.rows],
            "levels": {name: [row.treatment.get(name, -1) for row in self.rows] for name in names},
            "scores": {name: [_short(row.scores.get(name), exact) for row in self.rows] for name in responses},
            "left_out": {name: [i for i, row in enumerate(self.rows) if name in row.left_out] for name in responses},
            "digits": None if exact else DIGITS,
        }


def stretches(rows: list[int]) -> list[list[int]]:
    """Ascending numbers as runs of neighbors.

    >>> stretches([3, 4, 5, 9])
    [[3, 3], [9, 1]]
    """
    found: list[list[int]] = []
    for row in rows:
        if found and row == sum(found[-1]):
            found[-1][1] += 1
        else:
            found.append([row, 1])
    return found


def _short(x: float | None, exact: bool) -> float | None:
    return x if x is None or exact else float(f"{x:.{DIGITS}g}")
