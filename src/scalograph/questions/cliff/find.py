"""`find cliff`: its options, and the answer as JSON."""

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any

from scalograph.errors import StudyError
from scalograph.questions.asked import MOST, AskedFactors, Option, spread_range

if TYPE_CHECKING:
    from scalograph.protocol.findings import Findings


@dataclass(frozen=True)
class CliffOptions:
    """At which level does performance collapse? Takes about 21 runs.

    \b
    scalograph find cliff --factor threads --range 1:512 -- ./prog -t {threads}
    scalograph find cliff --factor size --range 1:65536 --json -- ./prog {size}
    """

    factor: Annotated[str, Option("Factor to vary; substitutes {NAME} in the command")] = "threads"
    range: Annotated[str, Option("Range to search", metavar="LOW:HIGH")] = "1:512"
    per_worker: Annotated[bool, Option("Treat the work as per worker, not as a total")] = False

    def factors(self) -> AskedFactors:
        if not re.fullmatch(r"[a-z][a-z0-9_]*", self.factor):
            fix = "such as --factor threads --range 1:512"
            raise StudyError.one("--factor", f"{self.factor[:80]!r}", "a name; its levels belong to --range", fix)
        return AskedFactors({self.factor: spread_range(self.range, MOST, "--range")}, per_worker=self.per_worker)


OPTIONS = CliffOptions


def figures(findings: "Findings") -> dict[str, Any]:
    """Return the most probable cliff and the whole result, for `--json`."""
    from scalograph.questions.cliff.document import Cliffs

    result = findings.document("cliff", Cliffs)
    first = max(result.cliffs, key=lambda cliff: cliff.probability, default=None) if result else None
    return {
        "location": first.location if first else None,
        "interval": [first.low, first.high] if first else None,
        "runs": result.n if result else 0,
        "probability": result.probability if result else None,
        **(result.model_dump(mode="json") if result else {"decided": False, "cliffs": []}),
    }
