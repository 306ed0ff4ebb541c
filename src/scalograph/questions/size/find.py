"""`find size`: its options, the amounts that it may try, and the answer as JSON."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any

from scalograph.errors import StudyError
from scalograph.questions.asked import AskedFactors, Option, amount_levels
from scalograph.text.units import parse_duration

if TYPE_CHECKING:
    from scalograph.protocol.findings import Findings


@dataclass(frozen=True)
class SizeOptions:
    """What is the least CPU quota, and memory, with which it keeps its time? Takes about 10 runs for each.

    \b
    scalograph find size --within 30s --quota 0.1:2 -- ./prog
    scalograph find size --within 30s --quota 0.1:2 --memory 16M:512M -- ./prog
    """

    within: Annotated[str, Option("Time that a run may take, such as 30s", metavar="TIME")]
    quota: Annotated[str | None, Option("CPU time to try, in CPUs", metavar="LOW:HIGH")] = None
    memory: Annotated[str | None, Option("Memory to try, such as 16M:512M", metavar="LOW:HIGH")] = None

    def factors(self) -> AskedFactors:
        given = {"quota": (self.quota, "CPU quota", "CPUs"), "memory": (self.memory, "memory", "MiB")}
        levels = {name: amount_levels(text, name) for name, (text, *_) in given.items() if text}
        if not levels:
            raise StudyError.one("find size", "no amount to search", "--quota, --memory, or both", "add --quota 0.1:2")
        return AskedFactors(
            levels={name: ",".join(f"{x:g}" for x in each) for name, each in levels.items()}, lists=levels,
            controls={name: name for name in levels}, titles={name: given[name][1] for name in levels},
            units={name: given[name][-1] for name in levels}, limits={"wall": read_limit(self.within)},
            title="What does {} need at least?",
        )  # fmt: skip


OPTIONS = SizeOptions


def read_limit(text: str) -> float:
    """Return a time limit in seconds. Raises StudyError for another form."""
    try:
        seconds = parse_duration(text)
    except ValueError as error:
        raise StudyError.one("--within", f"{text[:40]!r}", "a time with its unit", "such as 30s") from error
    if seconds <= 0:
        raise StudyError.one("--within", f"{text!r}", "a time above 0", "such as 30s")
    return seconds


def figures(findings: "Findings") -> dict[str, Any]:
    """Return the least of each amount for `--json`."""
    from scalograph.questions.size.document import Size

    part = findings.document("size", Size)
    return part.model_dump(mode="json") if part else {"needs": []}
