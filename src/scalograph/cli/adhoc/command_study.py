"""What a command line asks to be measured, before it is a study."""

import re
from dataclasses import dataclass, field

from scalograph.errors import StudyError
from scalograph.study.levels import SOME_HOST, LevelsError, needs_host, parse_levels

# Options of their own, in the order in which the curve is looked for: what counts workers before what they run on.
WORKERS = ("threads", "jobs", "copies")
# Names of factors that count what works at once.
COUNTED = (
    *WORKERS, "processes", "procs", "workers", "clients", "users", "tasks", "connections", "forks", "jvms", "nodes",
    "parallelism", "concurrency", "p", "n_threads", "num_threads", "nproc", "np",
)  # fmt: skip
_RESPONSE = re.compile(r"([a-z][a-z0-9_]*)(?:\(([^()]*)\))?(?::(higher|lower|none))?:\s*(.+)", re.DOTALL)
_NO_DIRECTION = re.compile(r"[a-z][a-z0-9_]*(?:\([^()]*\))?:([A-Za-z]\w*):")
_FACTOR = re.compile(r"([a-z][a-z0-9_-]*)=(.+)", re.DOTALL)


@dataclass(frozen=True)
class Printed:
    """A figure to read from the output: `place` is a pattern, or a JSON pointer where it begins with /."""

    name: str
    unit: str
    better: str
    place: str


@dataclass(frozen=True)
class Wish:
    """A command and what is to vary; `factors` are levels as text by name.

    `copies` is a count; levels of copies stand among the factors. Texts with units are as people write them. `asked` is
    the command that asked, and `question` the one that the study answers; `roles` of factors and the `baseline` are of
    one that compares two versions.
    """

    command: tuple[str, ...]
    factors: dict[str, str] = field(default_factory=dict)
    copies: int = 1
    per_worker: bool = False
    responses: tuple[Printed, ...] = ()
    steps: dict[str, tuple[str, ...]] = field(default_factory=dict)
    env: dict[str, str] = field(default_factory=dict)
    protocol: dict[str, str | int] = field(default_factory=dict)
    question: str = "sweep"
    asked: str = "measure"
    roles: dict[str, str] = field(default_factory=dict)
    baseline: tuple[str, str] | None = None

    @property
    def along(self) -> tuple[str, int] | None:
        """The factor that counts workers in more than one level, else CPUs, and the smallest of these counts.

        Other numbers may be a size, of which more is more work: they have no speedup.
        """
        for name in sorted(self.factors, key=lambda name: name == "cpus"):
            counts = _counts(self.factors[name]) if name in (*COUNTED, "cpus") else []
            if len(counts) > 1:
                return name, min(counts)
        return None


def _counts(text: str) -> list[int]:
    """Levels that are all counts; "all" is many."""
    try:
        levels = parse_levels(text, SOME_HOST if needs_host(text) else None)
    except LevelsError:
        return []  # told where the study is checked
    return [n for n in levels if type(n) is int] if all(type(n) is int and n >= 1 for n in levels) else []


def read_response(text: str) -> Printed:
    """`NAME(UNIT):DIRECTION: PLACE`; unit and direction may be left out.

    Raises:
        StudyError: it has another form.

    >>> read_response("ops:higher: ([0-9.]+) ops/s")
    Printed(name='ops', unit='', better='higher', place='([0-9.]+) ops/s')
    """
    found = _RESPONSE.fullmatch(text)
    if found and not found[3] and (word := _NO_DIRECTION.match(text)):
        fix = f"a pattern that begins with it has a space before: '{found[1]}: {word[1]}:...'"
        raise StudyError.one("--response", f'direction "{word[1]}"', "higher, lower or none", fix)
    if found is None:
        expected = "NAME(UNIT):DIRECTION: PLACE, such as 'ops:higher: ([0-9.]+) ops/s' or 'iops:higher: /jobs/0/iops'"
        raise StudyError.one("--response", f"{text[:80]!r}", expected, "the place is a pattern or a JSON pointer")
    return Printed(found[1], found[2] or "", found[3] or "none", found[4].strip())


def read_factor(text: str) -> tuple[str, str]:
    """`NAME=LEVELS`.

    Raises:
        StudyError: it has another form.
    """
    found = _FACTOR.fullmatch(text)
    if found is None:
        raise StudyError.one("--factor", f"{text[:80]!r}", "NAME=LEVELS, such as size=1:512:*2 or gc=serial,g1")
    return found[1], found[2]


def read_variable(text: str) -> tuple[str, str]:
    """`NAME=VALUE`.

    Raises:
        StudyError: it has another form.
    """
    name, equals, value = text.partition("=")
    if not name or not equals:
        raise StudyError.one("--env", f"{text[:80]!r}", "NAME=VALUE")
    return name, value
