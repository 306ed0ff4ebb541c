"""`find tunables`: its options, the settings that they name, and its answer for machines."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any

from scalograph.errors import StudyError
from scalograph.questions.asked import (
    ARGUMENTS,
    AskedFactors,
    Option,
    OptionVariables,
    OptionWords,
    TunableOption,
    check_share,
    name_factor,
    option_words,
    read_factor,
    refuse_twice,
    split_assignment,
    split_levels,
    varied_variables,
)
from scalograph.study.scalars import Level, format_value

if TYPE_CHECKING:
    from scalograph.protocol.findings import Findings


@dataclass(frozen=True)
class TunablesOptions:
    """Which of many settings matter, by how much, and which only seem to? The first level of each is its default.

    \b
    scalograph find tunables --option -O0,-O2 --option -ffast-math -- ./build-and-run {arguments}
    scalograph find tunables --env MALLOC_ARENA_MAX=1,2,8 --factor size=64,256,1024 -- ./prog -b {size}
    scalograph find tunables --machine-wide --sysctl vm.swappiness=60,0,100 -- ./prog
    """

    option: OptionWords = None
    env: OptionVariables = None
    sysctl: Annotated[list[str] | None, Option("Kernel setting, as NAME=LEVELS")] = None
    factor: Annotated[list[str] | None, Option("Values to substitute for {NAME}, as NAME=LEVELS")] = None
    one_at_a_time: Annotated[bool, Option("Vary one setting at a time instead, three runs each")] = False
    same: Annotated[str, Option("Ignore differences smaller than this")] = "1%"

    def factors(self) -> AskedFactors:
        """Make a factor of each setting, its first level the default. Raises StudyError where there is none."""
        knobs = [
            *option_words(self.option),
            *varied_variables(self.env),
            *_kernel(self.sysctl),
            *_templates(self.factor),
        ]
        if not knobs:
            expected = "one or more of --option, --env, --sysctl, --factor"
            raise StudyError.one("tunables", "no setting to vary", expected, "such as --env MALLOC_ARENA_MAX=1,2,8")
        refuse_twice("tunables", (knob.name for knob in knobs))
        return AskedFactors(
            levels={knob.name: ",".join(format_value(level) for level in knob.levels) for knob in knobs},
            lists={knob.name: knob.levels for knob in knobs},
            controls={knob.name: knob.control for knob in knobs if knob.control},
            titles={knob.name: knob.title for knob in knobs if knob.title != knob.name},
            fills=ARGUMENTS if self.option else None, precision=check_share(self.same, "--same", "1%"),
            plan="one-at-a-time" if self.one_at_a_time else None, runs=3 if self.one_at_a_time else None,
            title="Which settings matter to {}?",
        )  # fmt: skip


OPTIONS = TunablesOptions


def figures(findings: "Findings") -> dict[str, Any]:
    """Return what is known of each setting, and the names of those that matter."""
    from scalograph.questions.tunables.document import Tunables

    part = findings.document("tunables", Tunables)
    if part is None:
        return {"decided": False, "matter": [], "settings": []}
    return {"matter": [factor.factor for factor in part.matter], **part.model_dump(mode="json", exclude={"factors"})}


def _kernel(texts: Sequence[str] | None) -> Iterator[TunableOption]:
    for text in texts or ():
        name, levels = split_assignment("--sysctl", text)
        values: list[Level] = [format_value(level) for level in levels]
        yield TunableOption(name_factor(name.rpartition(".")[2]), f"sysctl:{name}", name, values)


def _templates(texts: Sequence[str] | None) -> Iterator[TunableOption]:
    for text in texts or ():
        name, levels = read_factor(text)
        yield TunableOption(name, None, name, split_levels("--factor", levels))
