"""`find cliff`: its options, and its answer for machines."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any

from scalograph.questions.asked import AskedFactors, Option, search_levels

if TYPE_CHECKING:
    from scalograph.protocol.findings import Findings


@dataclass(frozen=True)
class CliffOptions:
    """Where does the time of a command jump, if it does? About 21 runs instead of hundreds; keeps a study.toml.

    \b
    scalograph find cliff --factor threads --range 1:512 -- ./prog -t {threads}
    scalograph find cliff --factor size --range 1:65536 --json -- ./prog {size}
    """

    factor: Annotated[str, Option("What is counted: fills its {NAME} in the command.")] = "threads"
    range: Annotated[str, Option("Where it is searched.", metavar="LOW:HIGH")] = "1:512"
    per_worker: Annotated[bool, Option("Each worker does the same work.")] = False

    def factors(self) -> AskedFactors:
        """The one factor along which the time may jump."""
        return AskedFactors({self.factor: search_levels(self.range)}, per_worker=self.per_worker)


OPTIONS = CliffOptions


def figures(found: "Findings") -> dict[str, Any]:
    """The most probable cliff by itself, and all that was found."""
    from scalograph.questions.cliff.document import Cliffs

    one = found.document("cliff", Cliffs)
    first = max(one.cliffs, key=lambda cliff: cliff.probability, default=None) if one else None
    return {
        "location": first.location if first else None,
        "interval": [first.low, first.high] if first else None,
        "runs": one.n if one else 0,
        "probability": one.probability if one else None,
        **(one.model_dump(mode="json") if one else {"decided": False, "cliffs": []}),
    }
