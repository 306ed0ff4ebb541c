"""A published claim, and how it is decided: the values, the paper's numbers, and the range where it holds."""

from collections.abc import Iterable
from typing import Annotated, Literal

from pydantic import Field, StringConstraints, model_validator

from scalograph.study.fields import FactorName, Name, Refers, Scalar, StudyPart, Text

# The kind that compares groups of factors; a question offers its figures under the same name.
CONTRAST = "contrast"
Selection = dict[FactorName, Annotated[Scalar, Refers("level", beyond=True)]]
MethodName = Annotated[str, StringConstraints(pattern=r"^[^\s.]+(\.[^\s.]+)+$", max_length=256)]
# Where a claim of this kind holds if it does not say so itself.
_HOLDS: dict[str, tuple[float | None, float | None]] = {"order": (1.0, None), "flat": (0.95, 1.05)}


class PublishedClaim(StudyPart):
    """One published claim; protocol/study.md describes its keys. An empty `response` is the primary one."""

    id: Annotated[str, StringConstraints(pattern=r"^[A-Za-z][A-Za-z0-9.-]*$", max_length=32)]
    sentence: Text
    place: Text = ""
    kind: Literal["value", "ratio", "flat", "order", "location", "count", "contrast", "profile", "machines"]
    response: Annotated[Name, Refers("response")] | None = None
    quantity: Name | None = None
    groups: Annotated[list[Text], Field(max_length=2, exclude_if=lambda listed: not listed)] = []
    stack: Annotated[list[MethodName], Field(max_length=5)] = []
    where: Selection = {}
    of: Selection = {}
    over: Selection = {}
    along: FactorName | None = None
    levels: list[Annotated[Scalar, Refers("level", factor_key="along", beyond=True)]] = []
    published: float | list[float] | None = None
    spread: Annotated[float, Field(ge=0, lt=10)] = 0.0
    said: Text = ""
    per: Annotated[Literal["", "clock"], Field(exclude_if=lambda per: not per)] = ""
    holds: Annotated[list[float | Literal["any"]], Field(min_length=2, max_length=2)] | None = None
    needs_cpus: Annotated[int, Field(ge=1)] = 1
    needs_smt: bool = False
    needs_architecture: Text = ""
    needs_cpu_accounting: bool = False
    most_gib: Annotated[float, Field(gt=0)] | None = None
    unlike: Text = ""
    exceeds: Literal["", "above", "below"] = ""
    presupposes: Text = ""
    built_in: Text = ""
    no: Annotated[dict[Literal["since", "host", "built", "contradicted"], Text], Field(max_length=1)] = {}
    like: Annotated[list[Text], Field(max_length=16)] = []

    @property
    def bounds(self) -> tuple[float | None, float | None]:
        """The range in which a value supports the claim; None for an open end."""
        if self.holds is None:
            return _HOLDS[self.kind]
        low, high = (None if isinstance(end, str) else end for end in self.holds)
        return low, high

    @model_validator(mode="after")
    def _complete(self) -> "PublishedClaim":
        if self.holds is None and self.kind not in _HOLDS and not self.unlike:
            raise ValueError(f'found no `holds` of kind "{self.kind}", expected the range that bears the claim out')
        if self.kind in ("flat", "order") and self.along is None:
            raise ValueError(f'found no `along` of kind "{self.kind}", expected the factor whose levels are compared')
        if (self.kind in ("location", "count")) != (self.quantity is not None):
            raise ValueError("found `quantity`, or none, expected one of kinds location and count, and of no other")
        if self.kind == CONTRAST and len({*self.groups}) < 2:
            raise ValueError('found no two `groups` of kind "contrast", expected those that are compared')
        if self.kind == "profile" and not self.stack:
            raise ValueError('found no `stack` of kind "profile", expected the methods on top')
        return self


def factors_of(claims: Iterable[PublishedClaim]) -> set[str]:
    """Return the factors that claims name."""
    return {name for c in claims for name in (*c.where, *c.of, *c.over, *filter(None, [c.along]))}
