"""Define how `find QUESTION` asks: its options, and the factors that they become.

A question's `find.py` has `OPTIONS`, a dataclass whose docstring is the command's help and whose `factors()` makes the
factors of the study, and `figures(findings)`, the answer for machines.
"""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields
from math import exp, log
from pathlib import Path
from typing import Annotated, Any, NamedTuple, Protocol

from scalograph.errors import StudyError
from scalograph.study.levels import LevelsError, parse_levels
from scalograph.study.scalars import Level, format_value
from scalograph.text.units import parse_mib, parse_percent

# Options of their own, in the order in which the curve is looked for: what counts workers before what they run on.
WORKERS = ("threads", "jobs", "copies")
# Names of factors that count what works at once.
COUNTED = (
    *WORKERS, "processes", "procs", "workers", "clients", "users", "tasks", "connections", "forks", "jvms", "nodes",
    "parallelism", "concurrency", "p", "n_threads", "num_threads", "nproc", "np", "ranks",
)  # fmt: skip
ARGUMENTS = "arguments"  # what the words of `--option` fill
_FACTOR = re.compile(r"([a-z][a-z0-9_-]*)=(.+)", re.DOTALL)
_CONTROLLED = re.compile(r"([^=]+)=(.+)", re.DOTALL)


@dataclass(frozen=True)
class AskedRevisions:
    """Commits of a git repository from a good one to a bad one, and the command that builds each; empty for none."""

    good: str
    bad: str
    build: str


@dataclass(frozen=True)
class AskedFactors:
    """Factors of a search, from a command line.

    Attributes:
        levels: levels as text, by the name of the factor.
        baseline: levels that others are compared with, as text, by factor.
        per_worker: whether each worker does the same work.
        precision: difference that counts as none, as text.
        lists: levels in place of the text, where they may hold what divides it.
        fills: the name that the command is to hold; put behind the program where it does not.
        plan: of the question, by name; None for its own.
        units: of levels, by factor.
        limits: what a response must not exceed, by its name, in its unit.
        runs: of each configuration, where the plan leaves that open.
        shapes: conditions that configurations keep.
        title: of the study, with {} for the command; empty for what varies.
        vary: what is drawn anew for each block.
        revisions: they become the levels of `version`.
        service: options of `load`, by name, where a server is asked about; empty for a command.
    """

    levels: dict[str, str]
    roles: dict[str, str] = field(default_factory=dict)
    baseline: Mapping[str, str] = field(default_factory=dict)
    per_worker: bool = False
    precision: str | None = None
    lists: Mapping[str, Sequence[Level]] = field(default_factory=dict)
    controls: Mapping[str, str] = field(default_factory=dict)
    titles: Mapping[str, str] = field(default_factory=dict)
    units: Mapping[str, str] = field(default_factory=dict)
    limits: Mapping[str, float] = field(default_factory=dict)
    fills: str | None = None
    plan: str | None = None
    runs: int | None = None
    shapes: Sequence[str] = ()
    title: str = ""
    vary: Sequence[str] = ()
    revisions: AskedRevisions | None = None
    service: Mapping[str, Any] = field(default_factory=dict)


class Option(NamedTuple):
    """Texts of an option: its help, the name of its value, the least value, and a short name."""

    help: str
    metavar: str | None = None
    min: int | None = None
    short: str | None = None


class Words(NamedTuple):
    """Texts of the words after `--`, which are optional: the name of their value, and its help."""

    metavar: str
    help: str


_READY = "When the server is ready: it answers this URL, listens on this port, or prints line:TEXT (default: port)"


@dataclass(frozen=True, kw_only=True)
class RequestOptions:
    """What is sent to a server, when, and what a right answer is: options of every command that loads one."""

    get: Annotated[str | None, Option("URL to request, such as http://127.0.0.1:{port}/", metavar="URL")] = None
    post: Annotated[str | None, Option("URL to send a POST request to", metavar="URL")] = None
    body: Annotated[str | None, Option("Body of the request; @FILE reads a file", metavar="TEXT")] = None
    header: Annotated[list[str] | None, Option("Header of the request; repeatable", metavar="'NAME: VALUE'")] = None
    mix: Annotated[
        Path | None, Option("Operations to draw requests from, in place of one path", metavar="FILE")
    ] = None  # fmt: skip
    insecure: Annotated[bool, Option("With https, accept any certificate")] = False
    ca: Annotated[
        Path | None, Option("With https, certificates to trust (PEM), also the server's own", metavar="FILE")
    ] = None  # fmt: skip
    status: Annotated[int, Option("Expected HTTP status")] = 200
    contains: Annotated[str | None, Option("Text that a right answer contains")] = None
    arrivals: Annotated[
        str, Option("With --rate, gaps between requests: poisson, or constant", metavar="KIND")
    ] = "poisson"  # fmt: skip
    connections: Annotated[int, Option("With --rate, maximum requests in flight", min=1)] = 16
    ready: Annotated[str | None, Option(_READY, metavar="WHEN")] = None
    ready_timeout: Annotated[str, Option("Time limit for the server to become ready")] = "60s"
    warmup: Annotated[int, Option("Warm-up requests to each server before each run", min=0)] = 100
    ramp: Annotated[str, Option("Load before the measured window")] = "1s"
    steady: Annotated[str, Option("Measured window of each run")] = "5s"

    def request_values(self) -> dict[str, Any]:
        """Return these options by name, as `load` takes them."""
        return {field.name: getattr(self, field.name) for field in fields(RequestOptions)}

    def first_given(self) -> str:
        """Return the first of them that has another value than its default; empty for none."""
        given = (field.name for field in fields(RequestOptions) if getattr(self, field.name) != field.default)
        return next(given, "")


class QuestionOptions(Protocol):
    """The options of one question: a dataclass whose fields are annotated with an `Option`."""

    def factors(self) -> AskedFactors:
        """Make the factors of the study. Raises StudyError where the options make none."""


def check_share(text: str, option: str, example: str) -> str:
    """Check a difference that does not count, as text. Raises StudyError where it is no percentage."""
    try:
        share = parse_percent(text)
    except ValueError as error:
        raise StudyError.one(option, str(error)) from error
    if not 0 < share < 1:
        raise StudyError.one(option, f"{text!r}", "a share between 0 and 100%", f"such as {example}")
    return text


MOST = 1000  # a place is told within 5%: of levels that lie closer than 0.5% to each other, some are enough
_RANGE = re.compile(r"(\d{1,9}):(\d{1,9})", re.ASCII)


def is_range(text: str) -> bool:
    """Tell whether a text is a plain range, LOW:HIGH.

    >>> is_range("1:512"), is_range("1:512:*2")
    (True, False)
    """
    return _RANGE.fullmatch(text.strip()) is not None


def spread_range(text: str, most: int, option: str) -> str:
    """Spread at most so many counts over a range, at equal ratios.

    Raises StudyError: no range of counts, told of the option.

    >>> spread_range("1:64", 7, "--size"), spread_range("1:512", MOST, "--range")
    ('1,2,4,8,16,32,64', '1:512')
    """
    match = _RANGE.fullmatch(text.strip())
    low, high = (int(match[1]), int(match[2])) if match else (0, 0)
    if not 1 <= low < high:
        raise StudyError.one(option, f"{text[:40]!r}", "LOW:HIGH with counts from 1", "such as 1:512")
    if high - low < most:
        return f"{low}:{high}"
    step = log(high / low) / (most - 1)
    return ",".join(map(str, sorted({round(low * exp(i * step)) for i in range(most)})))


OptionWords = Annotated[
    list[str] | None, Option("Words of the command, such as -O0,-O2; one word is tested against its absence")
]
OptionVariables = Annotated[
    list[str] | None, Option("Environment variable, as NAME=LEVELS; with one level or NAME alone it is only passed")
]


class TunableOption(NamedTuple):
    """A tunable: its factor, what sets it (None: the template), its title, its levels."""

    name: str
    control: str | None
    title: str
    levels: list[Level]


def option_words(texts: Sequence[str] | None) -> Iterator[TunableOption]:
    """Read words of the command from `--option`; a single one is tested against its absence."""
    for text in texts or ():
        levels = split_levels("--option", text)
        levels = levels if len(levels) > 1 else ["", *levels]
        words = [level if isinstance(level, str) else format_value(level) for level in levels]
        title = words[-1] if words[0] == "" else " or ".join(words)
        yield TunableOption(name_factor(words[-1]), ARGUMENTS, title, [*words])


def varied_variables(texts: Sequence[str] | None) -> Iterator[TunableOption]:
    """Read environment variables of several levels from `--env`."""
    for text in (text for text in texts or () if "=" in text):
        name, levels = split_assignment("--env", text)
        if len(levels) > 1:
            yield TunableOption(name_factor(name), f"env:{name}", name, levels)


def read_factor(text: str) -> tuple[str, str]:
    """Parse `NAME=LEVELS` of a factor; raises StudyError for another form."""
    match = _FACTOR.fullmatch(text)
    if match is None:
        raise StudyError.one("--factor", f"{text[:80]!r}", "NAME=LEVELS, such as size=1:512:*2")
    return match[1], match[2]


def split_assignment(option: str, text: str) -> tuple[str, list[Level]]:
    """Split NAME=LEVELS. Raises StudyError for another form."""
    match = _CONTROLLED.fullmatch(text)
    if match is None:
        raise StudyError.one(option, f"{text[:80]!r}", "NAME=LEVELS, the default first", "such as NAME=1,2")
    return match[1].strip(), split_levels(option, match[2])


def split_levels(option: str, text: str) -> list[Level]:
    """Parse levels that need no host. Raises StudyError where these are none."""
    try:
        return parse_levels(text)
    except LevelsError as error:
        raise StudyError.one(option, str(error)) from error


def name_factor(text: str) -> str:
    """Name a factor after what it sets.

    >>> name_factor("-XX:+UseParallelGC"), name_factor("MALLOC_ARENA_MAX")
    ('xx-useparallelgc', 'malloc_arena_max')
    """
    plain = re.sub(r"[^a-z0-9_]+", "-", text.lower()).strip("-_")
    return (plain if plain[:1].isalpha() else f"option-{plain}")[:64].rstrip("-")


def refuse_twice(what: str, names: Iterable[str]) -> None:
    """Raise StudyError for a factor that is given twice."""
    every = [*names]
    if twice := next((name for name in every if every.count(name) > 1), None):
        raise StudyError.one(what, f"{twice} is given twice", "", "give all its levels together")


# Levels of an amount lie closer together than an interval is wide, and no more of them tell more.
STEP, MOST_AMOUNTS = 1.02, 150
_AMOUNTS = re.compile(r"([^:]+):([^:]+)")
# What a program can be given less of: how an amount is read, and an example.
_READ: Mapping[str, tuple[Callable[[str], float], str]] = {"quota": (float, "0.1:2"), "memory": (parse_mib, "16M:512M")}


def amount_levels(text: str, amount: str) -> list[float]:
    """Spread levels of an amount over a range, LOW:HIGH, at equal ratios, with three digits.

    Raises StudyError: no such range.

    >>> amount_levels("0.5:0.55", "quota"), amount_levels("1M:1.04M", "memory")
    ([0.5, 0.51, 0.519, 0.529, 0.54, 0.55], [1.0, 1.02, 1.04])
    """
    match, (read, example) = _AMOUNTS.fullmatch(text.strip()), _READ[amount]
    try:
        low, high = (read(part) for part in match.groups()) if match else (0.0, 0.0)
    except ValueError as error:
        raise StudyError.one(f"--{amount}", f"{text[:40]!r}", "LOW:HIGH", f"such as {example}") from error
    if not 0 < low < high < 1e9:
        raise StudyError.one(f"--{amount}", f"{text[:40]!r}", "LOW:HIGH, above 0", f"such as {example}")
    n = min(MOST_AMOUNTS, max(2, round(log(high / low) / log(STEP)) + 1))
    return sorted({float(f"{low * exp(i * log(high / low) / (n - 1)):.3g}") for i in range(n)})
