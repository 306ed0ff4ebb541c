"""`find break-even`: options, the levels over which two versions are compared, and the answer as JSON."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any, NamedTuple

from scalograph.errors import StudyError
from scalograph.protocol.plain import is_number
from scalograph.questions.asked import AskedFactors, Option, check_share, is_range, spread_range
from scalograph.study.levels import SOME_HOST, LevelsError, needs_host, parse_levels

if TYPE_CHECKING:
    from scalograph.protocol.findings import Findings

# Levels of each range, by the factors that vary: a line is interpolated, so a few for each doubling will do.
_MOST = {1: 64, 2: 32, 3: 16, 4: 8}
_NAMED = re.compile(r"(?:([a-z][a-z0-9_-]*)=)?(.+)", re.DOTALL)
_EACH = "LOW:HIGH or levels; NAME=... if it does not substitute {{{}}}; repeatable"


class AxisOption(NamedTuple):
    """A factor of the command line: name, role (None: unknown), and levels as a study writes them."""

    name: str
    role: str | None
    levels: str


@dataclass(frozen=True)
class BreakEvenOptions:
    """From which size does one version win over another? Takes 8 to 24 pairs of runs for one factor.

    \b
    scalograph find break-even --size 16:65536 -- ./prog --mode {version} -n {size}
    scalograph find break-even --size n=16:65536 --workers p=1,2,4,8 -- ./prog {version} {n} {p}
    scalograph find break-even --versions ./plain,./threaded --size 1:4096 -- {version} {size}
    """

    versions: Annotated[str, Option("Baseline and challenger; both substitute {version}")] = "sequential,parallel"
    size: Annotated[list[str] | None, Option(f"Work grows with this factor: {_EACH.format('size')}")] = None
    workers: Annotated[list[str] | None, Option(f"Workers divide the work: {_EACH.format('workers')}")] = None
    clients: Annotated[list[str] | None, Option(f"Clients share the CPUs: {_EACH.format('clients')}")] = None
    factor: Annotated[list[str] | None, Option("Any other factor, as NAME=LEVELS; repeatable")] = None
    even: Annotated[str, Option("Ignore differences smaller than this")] = "10%"

    def factors(self) -> AskedFactors:
        axes = break_even_axes({"size": self.size, "workers": self.workers, "clients": self.clients, None: self.factor})
        both = parse_versions(self.versions)
        return AskedFactors(
            {"version": ",".join(both), **{axis.name: axis.levels for axis in axes}},
            roles={axis.name: axis.role for axis in axes if axis.role},
            baseline={"version": both[0]},
            precision=check_share(self.even, "--even", "10%"),
        )


OPTIONS = BreakEvenOptions


def figures(findings: "Findings") -> dict[str, Any]:
    """Return the result and the line at every configuration, for `--json`."""
    from scalograph.questions.break_even.document import BreakEven

    result = findings.document("break-even", BreakEven)
    if result is None:
        return {"decided": False, "n": 0, "lines": []}
    lines = [{**m.group, m.y or "y": line.level, **line.model_dump()} for m in result.maps for line in m.lines]
    return {**result.model_dump(mode="json", exclude={"maps"}), "lines": lines}


def break_even_axes(asked: Mapping[str | None, Sequence[str] | None]) -> list[AxisOption]:
    """Parse the factors of the command line: role -> texts NAME=LEVELS; a name may be missing where it is the role's.

    Raises StudyError: no factor, too many, one twice or without a name, or an invalid range.
    """
    given = [(role, *_parse_axis(role, text)) for role, texts in asked.items() for text in texts or ()]
    if not 1 <= len(given) <= max(_MOST):
        expected = f"one to {max(_MOST)} of --size, --workers, --clients, --factor"
        raise StudyError.one("break-even", f"{len(given)} factors", expected, "such as --size 16:65536")
    names = [name for _, name, _ in given]
    if twice := next((name for name in names if names.count(name) > 1), None):
        raise StudyError.one("break-even", f"factor {twice} is given twice", "", "name one of them: --size NAME=...")
    return [AxisOption(name, role, _levels(role, text, _MOST[len(given)])) for role, name, text in given]


def parse_versions(text: str) -> tuple[str, str]:
    """Parse the baseline and the other version; raise StudyError where these are not two."""
    parts = [part.strip() for part in text.split(",")]
    if len(parts) != 2 or not all(parts) or parts[0] == parts[1]:
        expected = "two names that differ"
        raise StudyError.one("--versions", f"{text[:60]!r}", expected, "such as sequential,parallel")
    return parts[0], parts[1]


def _parse_axis(role: str | None, text: str) -> tuple[str, str]:
    match = _NAMED.fullmatch(text.strip())
    name = (match[1] if match else None) or role
    if match is None or name is None:
        raise StudyError.one(f"--{role or 'factor'}", f"{text[:60]!r}", "NAME=LEVELS, such as grain=1:64")
    return name, match[2]


def _levels(role: str | None, text: str, most: int) -> str:
    """Thin out a plain range; check other levels."""
    option = f"--{role or 'factor'}"
    if is_range(text):
        return spread_range(text, most, option)
    try:
        levels = parse_levels(text, SOME_HOST if needs_host(text) else None)
    except LevelsError as error:
        raise StudyError.one(option, str(error)) from error
    if len(levels) < 2 or not all(is_number(level) and level > 0 for level in levels):
        expected = "two or more numbers above 0, or LOW:HIGH"
        raise StudyError.one(option, f"{text[:40]!r}", expected, "such as 16:65536 or 1,2,4")
    return text
