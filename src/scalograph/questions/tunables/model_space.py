"""The factors of a study as an array has them: the default first, by their places."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from scalograph.questions.tunables.model_array import Settings
from scalograph.study.model import Study
from scalograph.study.scalars import Level, alike


@dataclass(frozen=True)
class Tuned:
    """What is varied, and how a place in an array becomes a treatment.

    Attributes:
        names: factors that have several levels.
        levels: of each, the default first.
        fixed: levels of the others.
        order: all factors, as the study has them.
    """

    names: tuple[str, ...]
    levels: tuple[tuple[Level, ...], ...]
    fixed: Mapping[str, Level]
    order: tuple[str, ...]

    @cached_property
    def n_levels(self) -> list[int]:
        """Return how many levels each factor has."""
        return [len(levels) for levels in self.levels]

    @property
    def default(self) -> Settings:
        """Return all factors at their defaults."""
        return tuple(0 for _ in self.names)

    @property
    def settings(self) -> list[tuple[int, int]]:
        """Return every setting that is no default, by the places of its factor and its level."""
        return [(j, level) for j, n in enumerate(self.n_levels) for level in range(1, n)]

    def alone(self, factor: int, level: int) -> Settings:
        """Return one setting with all other factors at their defaults."""
        return tuple(level if j == factor else 0 for j in range(len(self.names)))

    def treatment(self, settings: Sequence[int]) -> dict[str, Level]:
        """Return the levels of all factors of the study, in its order."""
        found = {name: levels[k] for name, levels, k in zip(self.names, self.levels, settings, strict=True)}
        return {name: found.get(name, self.fixed.get(name, "")) for name in self.order}


def tuned(study: Study) -> Tuned:
    """Read what is varied from a study whose levels are spelled out; a factor without a baseline has its first one."""
    varied = {name: list(factor.levels) for name, factor in study.factors.items() if len(factor.levels) > 1}
    return Tuned(
        names=tuple(varied),
        levels=tuple(_default_first(levels, study.baseline.get(name, levels[0])) for name, levels in varied.items()),
        fixed={name: factor.levels[0] for name, factor in study.factors.items() if name not in varied},
        order=tuple(study.factors),
    )


def _default_first(levels: Sequence[Level], default: Level) -> tuple[Level, ...]:
    return (default, *(level for level in levels if not alike(level, default)))
