"""What every step asks of a study: its primary response, the factors that vary, names for people."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Literal

from scalograph.protocol.findings import Column
from scalograph.protocol.plain import Level
from scalograph.questions.registry import Basis, basis, is_search
from scalograph.study.model import Response, Study
from scalograph.study.responses import CPU_TIMES, CPU_USAGE, primary_response
from scalograph.text.format import level_text
from scalograph.text.scale import SECONDS
from scalograph.text.short_names import short_setting

CORRECTED = ("window.undisturbed", "run.undisturbed")
ELAPSED_SOURCES = ("window.wall", "run.wall", "run.wall_outer", "run.tree_wall", *CORRECTED)
Kind = Literal["time", "rate"]


@dataclass(frozen=True)
class StudyView:
    """A study with the planned configurations; what is computed of them is kept."""

    study: Study
    configurations: Sequence[Mapping[str, Level]]

    @cached_property
    def primary(self) -> str:
        """Return the name of the primary response, by which searches go and studies are judged."""
        return primary_response(self.study)

    @property
    def response(self) -> Response:
        return self.study.responses[self.primary]

    @property
    def primary_title(self) -> str:
        """Return the display name of the primary response."""
        return self.title(self.primary)

    @property
    def matrix_texts(self) -> dict[str, str]:
        """Return title, unit and direction of the primary response, as fields of a matrix."""
        return {"title": self.primary_title, "unit": self.response.unit, "better": self.response.better}

    @property
    def kind(self) -> Kind | None:
        """Return whether the primary response is an elapsed time or a rate; None for others."""
        return speedup_kind(self.response)

    @property
    def confidence(self) -> float:
        """Return the confidence of intervals, as a share."""
        return self.study.protocol.confidence

    @cached_property
    def basis(self) -> Basis:
        """Return what the answer to the question rests on."""
        return basis(self.study.question)

    @property
    def is_search(self) -> bool:
        """Return whether runs are decided by those before them, rather than by the design."""
        return is_search(self.study.question)

    @cached_property
    def cpu_responses(self) -> frozenset[str]:
        """Return the responses that read CPU time, if the study continues by CPU time on a busy machine."""
        # A search looks at clean runs alone.
        if self.study.protocol.when_busy != "cpu-time" or self.is_search:
            return frozenset()
        return frozenset(name for name, response in self.study.responses.items() if response.source in CPU_TIMES)

    @cached_property
    def raw_responses(self) -> frozenset[str]:
        """Return the responses that include interference, if the study uses undisturbed time; else none."""
        responses = self.study.responses
        if not any(response.source in CORRECTED for response in responses.values()):
            return frozenset()
        return frozenset(name for name, r in responses.items() if r.source not in (*CORRECTED, *CPU_TIMES, CPU_USAGE))

    def current_response(self, name: str | None) -> str:
        """Return a response, else the primary one; undisturbed time in the place of the response that it replaces."""
        names = list(self.study.responses)
        is_replaced = name in names[1:] and self.response.source in CORRECTED
        return self.primary if not name or (is_replaced and names[names.index(name) - 1] == self.primary) else name

    @cached_property
    def varying(self) -> list[str]:
        """Return the factors with more than one level among the planned configurations."""
        return [name for name in self.study.factors if len({levels[name] for levels in self.configurations}) > 1]

    @cached_property
    def curve_factor(self) -> str:
        """Return the factor of the curves: the baseline's, else the first one with the most levels."""
        if self.study.baseline:
            return next(iter(self.study.baseline))
        return max(self.study.factors, key=lambda name: len(self.study.factors[name].levels))

    @cached_property
    def cpu_factor(self) -> str | None:
        """Return the first factor that sets the CPUs of a run."""
        return next((name for name, factor in self.study.factors.items() if factor.control == "cpus"), None)

    def find_response(self, source: str) -> str:
        """Return the first response that reads a source; empty if none does."""
        return next((name for name, response in self.study.responses.items() if response.source == source), "")

    def title(self, name: str) -> str:
        """Return the display name of a factor or response."""
        part = self.study.factors.get(name) or self.study.responses.get(name)
        return (part.title if part else "") or name.replace("_", " ")

    def unit(self, factor: str) -> str:
        """Return the unit of a factor's levels."""
        return self.study.factors[factor].unit

    def varying_levels(self, levels: Mapping[str, Level]) -> dict[str, Level]:
        """Return those levels whose factors vary in the study."""
        return {name: levels[name] for name in self.varying if name in levels}

    def levels_text(self, levels: Mapping[str, Level]) -> str:
        """Return levels with the names and units of their factors."""
        return ", ".join(f"{self.title(n)} {level_text(x, self.unit(n))}" for n, x in levels.items())

    def short_levels(self, levels: Mapping[str, Level]) -> str:
        """Return levels in short form: "2 CPUs, lock method, 512 threads"."""
        return ", ".join(short_setting(self.title(n), x, self.unit(n)) for n, x in levels.items())

    def typed_levels(self, levels: Mapping[str, Level]) -> str:
        """Return levels as people type them: "-O2", "order=g"; in short form where a study gives titles."""
        return ", ".join(self._typed_level(name, level) for name, level in levels.items())

    def _typed_level(self, name: str, level: Level) -> str:
        factor, short = self.study.factors[name], self.short_levels({name: level})
        if isinstance(level, str) and level.startswith("-"):
            return level
        is_set = (factor.control or "").startswith(("env:", "sysctl:"))
        is_named = factor.title in ("", name) and short != level and not short[:1].isdigit()
        return f"{factor.title or name}={level_text(level).replace(',', '')}" if is_set or is_named else short

    def group_prefix(self, group: Mapping[str, Level]) -> str:
        """Return the varying levels of a group and a colon; empty if there is only one group."""
        named = self.levels_text(self.varying_levels(group))
        return f"{named}: " if named else ""

    def factor_columns(self, names: Iterable[str]) -> list[Column]:
        return [Column(name=self.title(name), unit=self.unit(name), kind="label") for name in names]


def speedup_kind(response: Response) -> Kind | None:
    """Return the kind of response: elapsed time or rate; None for memory, shares and CPU time."""
    if response.source in ELAPSED_SOURCES:
        return "time"
    if response.better == "higher":
        return None if response.unit in ("%", "percent", "ratio", "fraction") else "rate"
    reported = response.source.startswith("value.") and response.unit in SECONDS
    return "time" if reported and response.better == "lower" else None
