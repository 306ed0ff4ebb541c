"""`find best`: its options, the grid that they name, and its answer for machines."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any

from scalograph.errors import StudyError
from scalograph.questions.asked import (
    ARGUMENTS,
    AskedFactors,
    Option,
    OptionVariables,
    OptionWords,
    check_share,
    option_words,
    read_factor,
    refuse_twice,
    varied_variables,
)
from scalograph.study.scalars import format_value, suggest

if TYPE_CHECKING:
    from scalograph.protocol.findings import Findings


@dataclass(frozen=True)
class BestOptions:
    """Which configuration is fastest? Takes 20 to 60 runs, and at most 24 fresh ones that confirm it.

    \b
    scalograph find best -v threads=1:64 -v batch=1,8,64 -- ./prog -t {threads} -b {batch}
    scalograph find best -v threads=1:16 --option -O2,-O3 --default threads=4 -- ./run {arguments} -t {threads}
    scalograph find best -v ranks=1:16 -v threads=1:16 --shape 'ranks*threads=cores' -- ./prog {ranks} {threads}
    """

    factor: Annotated[list[str] | None, Option("Values for {NAME}, as NAME=LEVELS; repeatable", short="-v")] = None
    option: OptionWords = None
    env: OptionVariables = None
    cpus: Annotated[str | None, Option("CPUs that it may use: levels such as 1:all")] = None
    shape: Annotated[
        list[str] | None, Option("Condition, such as 'ranks*threads=16' or 'threads<=cores'; repeatable")
    ] = None
    default: Annotated[
        str | None, Option("Configuration to compare with, such as threads=1,batch=8 (default: all first levels)")
    ] = None
    margin: Annotated[str, Option("Ignore differences smaller than this")] = "2%"

    def factors(self) -> AskedFactors:
        """Make the factors of the grid. Raises StudyError where there are none."""
        knobs = [*option_words(self.option), *varied_variables(self.env)]
        plain = [read_factor(text) for text in self.factor or ()] + ([("cpus", self.cpus)] if self.cpus else [])
        if not knobs and not plain:
            expected = "one or more of -v, --option, --env, --cpus"
            raise StudyError.one("find best", "nothing to vary", expected, "such as -v threads=1:64")
        names = [*(name for name, _ in plain), *(knob.name for knob in knobs)]
        refuse_twice("find best", names)
        return AskedFactors(
            levels={**dict(plain), **{knob.name: ",".join(map(format_value, knob.levels)) for knob in knobs}},
            lists={knob.name: knob.levels for knob in knobs},
            controls={knob.name: knob.control for knob in knobs if knob.control},
            titles={knob.name: knob.title for knob in knobs if knob.title != knob.name},
            baseline=_read_default(self.default, names), shapes=self.shape or (),
            fills=ARGUMENTS if self.option else None, precision=check_share(self.margin, "--margin", "2%"),
            title="Which configuration of {} is fastest?",
        )  # fmt: skip


OPTIONS = BestOptions


def figures(findings: "Findings") -> dict[str, Any]:
    """Return the winner, its equals, what fresh runs confirm, and the number of runs."""
    from scalograph.questions.best.claim import recommend
    from scalograph.questions.best.document import Best

    part = findings.document("best", Best)
    if part is None:
        return {"decided": False, "winner": None, "members": []}
    cheap = recommend(part)
    return {**part.model_dump(mode="json", exclude={"line"}), "recommended": (cheap or part.winner).levels}


def _read_default(text: str | None, names: Sequence[str]) -> Mapping[str, str]:
    pairs = [_split_default(part.strip()) for part in text.split(",")] if text else []
    refuse_twice("--default", (name for name, _ in pairs))
    for name, _ in pairs:
        if name not in names:
            expected = f"one of {', '.join(names)}"
            raise StudyError.one("--default", f'"{name}" is not varied', expected, suggest(name, names))
    return dict(pairs)


def _split_default(text: str) -> tuple[str, str]:
    name, equals, level = text.partition("=")
    if not (name and equals and level):
        raise StudyError.one("--default", f"{text[:80]!r}", "NAME=LEVEL, ...", "such as threads=1,batch=8")
    return name.strip(), level.strip()
