"""Results of a study as an object: verdict, claim, frames, curves, figure. Reads files only; runs nothing."""

import os
from collections.abc import Iterator, Mapping
from functools import cached_property
from pathlib import Path
from typing import Any

from scalograph.cli.last_stops import figures, learned
from scalograph.exchange import export
from scalograph.exchange.frames import frame
from scalograph.findings import table
from scalograph.findings.table import Table
from scalograph.notebook.drawn import Drawn
from scalograph.notebook.opened_curve import OpenedCurve
from scalograph.protocol import results
from scalograph.protocol.claim import Claim
from scalograph.protocol.findings import Curve, Findings, Trust
from scalograph.report.fragment import fragment
from scalograph.report.standalone_picture import first_picture
from scalograph.study.scalars import as_text


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
