"""Treatments of a journal, held against its study: what estimates are grouped by is what was declared."""

from collections.abc import Mapping
from typing import Any

from scalograph.study.cross_checks import DeclaredLevels
from scalograph.study.model import Study
from scalograph.study.scalars import Level, enumerated, refuse, short


class HeldTreatments:
    """The treatments that a study can have; each is looked at once, whatever the number of its runs."""

    def __init__(self, study: Study) -> None:
        self._factors = {name: DeclaredLevels(factor.model_dump()) for name, factor in study.factors.items()}
        self._known: dict[object, Mapping[str, Level]] = {}
        self._as_written: dict[object, Mapping[str, Level]] = {}

    def of(self, written: Any) -> Mapping[str, Level]:
        """Return a treatment in the order of the study's factors; the same value for all runs of it.

        Raises:
            ValueError: a factor is missing or unknown, or does not have the level.
        """
        try:
            key = tuple(written.items()), tuple(map(type, written.values()))
            known = self._as_written.get(key)
        except (AttributeError, TypeError):  # no treatment, or a level that is none
            return self._looked_at(written)
        if known is None:
            known = self._as_written[key] = self._looked_at(written)
        return known

    def _looked_at(self, written: Any) -> Mapping[str, Level]:
        if not isinstance(written, dict) or written.keys() != self._factors.keys():
            raise ValueError(f"treatment {short(written)}, expected a level of {enumerated(self._factors)}")
        levels = tuple(map(written.__getitem__, self._factors))
        if wrong := next((refuse(level) for level in levels if not isinstance(level, Level)), None):
            raise ValueError(f"treatment: {wrong}")
        key = levels, tuple(map(type, levels))  # 1 and true are equal
        known = self._known.get(key)
        if known is None:
            known = self._known[key] = dict(zip(self._factors, levels, strict=True))
            self._refuse_unknown(known)
        return known

    def _refuse_unknown(self, treatment: Mapping[str, Level]) -> None:
        for name, level in treatment.items():
            if wrong := refuse(level):
                raise ValueError(f"treatment: {name}: {wrong}")
            if not self._factors[name].has(level):
                raise ValueError(f"treatment: {name} = {short(level)}, expected {self._factors[name].expected}")
