"""Which treatments of the full grid a study leaves out: thousands of exclusions cost each treatment one look."""

from collections.abc import Mapping, Sequence

from scalograph.study.scalars import Level
from scalograph.study.treatment import Treatment


class Exclusions:
    """Exclusions as bits of a number: a level has those that it does not contradict, a treatment those of its levels.

    An exclusion without a factor leaves nothing out.
    """

    def __init__(self, exclude: Sequence[Mapping[str, Sequence[Level]]]) -> None:
        self._met: dict[str, dict[Level, int]] = {}
        every = [exclusion for exclusion in exclude if exclusion]
        self._silent = dict.fromkeys((name for exclusion in every for name in exclusion), (1 << len(every)) - 1)
        for index, exclusion in enumerate(every):
            for name in exclusion:
                self._silent[name] &= ~(1 << index)
        for index, exclusion in enumerate(every):
            for name, levels in exclusion.items():
                met = self._met.setdefault(name, {})
                for level in levels:
                    met[level] = met.get(level, self._silent[name]) | 1 << index

    def hold(self, treatment: Treatment) -> bool:
        """Tell whether a treatment is left out: all factors that some exclusion names have one of its levels."""
        left = -1
        for name, met in self._met.items():
            left &= met.get(treatment[name], self._silent[name])
            if not left:
                return False
        return bool(self._met)
