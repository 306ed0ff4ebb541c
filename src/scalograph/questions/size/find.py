"""`find size`: its options, the amounts that it may try, and the answer as JSON."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import ceil
from typing import TYPE_CHECKING, Annotated, Any

from scalograph.errors import StudyError
from scalograph.questions.asked import AskedFactors, Option, RequestOptions, Words, amount_levels
from scalograph.text.units import parse_duration

if TYPE_CHECKING:
    from scalograph.protocol.findings import Findings


@dataclass(frozen=True)
class SizeOptions(RequestOptions):
    """What is the least CPU quota, and memory, with which it keeps its limit? Takes about 15 runs for each.

    \b
    scalograph find size --within 30s --quota 0.1:2 -- ./prog
    scalograph find size --within 30s --quota 0.1:2 --memory 16M:512M -- ./prog
    scalograph find size --serve './app {port}' --get http://127.0.0.1:{port}/ --rate 99 --limit 'p99<1s' --quota 0.1:1
    """

    command: Annotated[list[str] | None, Words("-- COMMAND...", "The command, after --; or use --serve")] = None
    within: Annotated[str | None, Option("Time that a run may take, such as 30s", metavar="TIME")] = None
    serve: Annotated[str | None, Option("Command that starts a server; {port} is a free port", metavar="COMMAND")] = (
        None
    )
    rate: Annotated[int | None, Option("With --serve, requests per second", min=1)] = None
    limit: Annotated[
        list[str] | None,
        Option("With --serve, what must hold at that rate: p99<50ms, errors<0.1%, ...; repeatable", metavar="RULE"),
    ] = None
    cpus: Annotated[int | None, Option("With --serve, CPUs of the server (default: as many as --quota needs)")] = None
    quota: Annotated[str | None, Option("CPU time to try, in CPUs", metavar="LOW:HIGH")] = None
    memory: Annotated[str | None, Option("Memory to try, such as 16M:512M", metavar="LOW:HIGH")] = None

    def factors(self) -> AskedFactors:
        given = {"quota": (self.quota, "CPU quota", "CPUs"), "memory": (self.memory, "memory", "MiB")}
        levels = {name: amount_levels(text, name) for name, (text, *_) in given.items() if text}
        if not levels:
            raise StudyError.one("find size", "no amount to search", "--quota, --memory, or both", "add --quota 0.1:2")
        if self.serve:
            return AskedFactors({}, service=self._service(levels))
        if not self.command:
            raise StudyError.one("find size", "no command", "one after --, or --serve", "add -- COMMAND")
        alone = next((name for name in ("rate", "limit", "cpus") if getattr(self, name)), self.first_given())
        if alone:
            raise StudyError.one(
                f"--{alone.replace('_', '-')}", "there is no server", "", "add --serve COMMAND, or leave it out"
            )
        if self.within is None:
            raise StudyError.one("--within", "missing", "the time that a run may take", "such as --within 30s")
        return AskedFactors(
            levels={name: ",".join(f"{x:g}" for x in each) for name, each in levels.items()}, lists=levels,
            controls={name: name for name in levels}, titles={name: given[name][1] for name in levels},
            units={name: given[name][-1] for name in levels}, limits={"wall": read_limit(self.within)},
            title="What does {} need at least?",
        )  # fmt: skip

    def _service(self, levels: Mapping[str, Sequence[float]]) -> dict[str, Any]:
        """Return the options of `load` that ask for the same. Raises StudyError: one is missing, or too much."""
        required = {"get": self.get or self.post, "rate": self.rate, "limit": self.limit}
        if missing := next((name for name, value in required.items() if not value), ""):
            raise StudyError.one(f"--{missing}", "missing", "with --serve", "add it; see find size --help")
        if beside := "--within" if self.within else "a command" if self.command else "":
            raise StudyError.one("", f"--serve and {beside} exclude each other", "", "leave one out")
        cpus = self.cpus or (ceil(levels["quota"][-1]) if "quota" in levels else None)
        return {
            **self.request_values(), "serve": self.serve, "rate": str(self.rate), "limit": self.limit,
            "quota": self.quota, "memory": self.memory, "cpus": None if cpus is None else str(cpus),
        }  # fmt: skip


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
