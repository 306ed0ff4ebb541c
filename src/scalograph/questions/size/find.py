"""`find size`: its options, the amounts that it may try, and the answer as JSON."""

import re
from dataclasses import dataclass
from math import exp, log
from typing import TYPE_CHECKING, Annotated, Any

from scalograph.errors import StudyError
from scalograph.questions.asked import AskedFactors, Option
from scalograph.text.units import parse_duration, parse_mib

if TYPE_CHECKING:
    from scalograph.protocol.findings import Findings

# Levels lie closer together than an interval is wide, and no more of them tell more.
STEP, MOST = 1.02, 150
_RANGE = re.compile(r"([^:]+):([^:]+)")


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
        given = {"quota": (self.quota, float, "CPU quota", "CPUs"), "memory": (self.memory, parse_mib, "memory", "MiB")}
        levels = {name: amount_levels(text, f"--{name}", read) for name, (text, read, *_) in given.items() if text}
        if not levels:
            raise StudyError.one("find size", "no amount to search", "--quota, --memory, or both", "add --quota 0.1:2")
        return AskedFactors(
            levels={name: ",".join(f"{x:g}" for x in each) for name, each in levels.items()}, lists=levels,
            controls={name: name for name in levels}, titles={name: given[name][2] for name in levels},
            units={name: given[name][3] for name in levels}, limits={"wall": read_limit(self.within)},
            title="What does {} need at least?",
        )  # fmt: skip


OPTIONS = SizeOptions


def read_limit(text: str) -> float:
    """Return a time limit in seconds. Raises StudyError for another form."""
    try:
        seconds = parse_duration(text)
    except ValueError as error:
        raise StudyError.one("--within", str(error), "", "such as 30s") from error
    if seconds <= 0:
        raise StudyError.one("--within", f"{text!r}", "a time above 0", "such as 30s")
    return seconds


def amount_levels(text: str, option: str, read: Any) -> list[float]:
    """Spread levels over a range, at equal ratios, with three digits.

    >>> amount_levels("0.5:0.55", "--quota", float)
    [0.5, 0.51, 0.52, 0.53, 0.539, 0.55]
    """
    match = _RANGE.fullmatch(text.strip())
    try:
        low, high = (read(part) for part in match.groups()) if match else (0.0, 0.0)
    except ValueError as error:
        raise StudyError.one(option, str(error)) from error
    if not 0 < low < high < 1e9:
        raise StudyError.one(option, f"{text[:40]!r}", "LOW:HIGH, above 0", f"such as {_EXAMPLES[option]}")
    n = min(MOST, max(2, round(log(high / low) / log(STEP)) + 1))
    return sorted({float(f"{low * exp(i * log(high / low) / (n - 1)):.3g}") for i in range(n)})


_EXAMPLES = {"--quota": "0.1:2", "--memory": "16M:512M"}


def figures(findings: "Findings") -> dict[str, Any]:
    """Return the least of each amount for `--json`."""
    from scalograph.questions.size.document import Size

    part = findings.document("size", Size)
    return part.model_dump(mode="json") if part else {"needs": []}
