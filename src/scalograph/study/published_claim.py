"""A published claim, and how it is decided: the values, the paper's numbers, and the range where it holds."""

from typing import Annotated, Literal

from pydantic import Field, StringConstraints, model_validator

from scalograph.study.fields import Name, Scalar, StudyPart, Text

ClaimKind = Literal["value", "ratio", "flat", "order", "location", "count", "contrast", "profile"]
# The kind that compares groups of factors; a question offers its figures under the same name.
CONTRAST = "contrast"
Selection = dict[Name, Scalar]
MethodName = Annotated[str, StringConstraints(pattern=r"^[^\s.]+(\.[^\s.]+)+$", max_length=256)]
# Where a claim of this kind holds if it does not say so itself.
_HOLDS: dict[str, tuple[float | None, float | None]] = {"order": (1.0, None), "flat": (0.95, 1.05)}


class PublishedClaim(StudyPart):
    """One claim of a paper.

    Attributes:
        id: short name, such as `S0-1`.
        sentence: what the paper says, in our words.
        place: where it says so, such as `table 7`.
        kind: how the deciding figures are made: `value` of a response; `ratio` of one selection over another; `flat`,
            the ratio of every level over the first; `order`, of each level over the one before; `location` and
            `count`, a figure of the study's question, named by `quantity`; `contrast`, how many times as much the first
            of two `groups` of factors matters as the second; `profile`, the share of the samples of a profile that have
            `stack`.
        response: of which the figures are; the primary one where empty.
        quantity: of `location` and `count`: a figure that the question offers.
        groups: of `contrast`: the two that are compared.
        stack: of `profile`: the methods on top, innermost first, each `package.Class.method`.
        where: levels that all selections share.
        of: further levels of the numerator, or of the value.
        over: further levels of the denominator.
        along: factor of which each of `levels` gives one figure.
        levels: of `along`; all planned ones, in their order, where empty.
        published: what the paper has: one number for all figures, or one for each.
        spread: how far each published number may be off, as a share: half of its last digit, or its printed error.
        said: what the paper has, in words, where it is no number.
        holds: the range in which a figure bears the claim out; an end may be left out as text "any".
        needs_cpus: CPUs without which the claim cannot be seen.
        needs_architecture: instruction set without which it cannot be seen, as the kernel names it, such as `sparc64`.
        needs_smt: it cannot be seen without hardware threads that share a core.
        unlike: why what is measured here is not what was published; the claim is then not comparable.
    """

    id: Annotated[str, StringConstraints(pattern=r"^[A-Za-z][A-Za-z0-9.-]*$", max_length=32)]
    sentence: Text
    place: Text = ""
    kind: ClaimKind
    response: Name | None = None
    quantity: Name | None = None
    groups: Annotated[list[Text], Field(max_length=2, exclude_if=lambda listed: not listed)] = []
    stack: Annotated[list[MethodName], Field(max_length=5)] = []
    where: Selection = {}
    of: Selection = {}
    over: Selection = {}
    along: Name | None = None
    levels: list[Scalar] = []
    published: float | list[float] | None = None
    spread: Annotated[float, Field(ge=0, lt=10)] = 0.0
    said: Text = ""
    holds: Annotated[list[float | Literal["any"]], Field(min_length=2, max_length=2)] | None = None
    needs_cpus: Annotated[int, Field(ge=1)] = 1
    needs_smt: bool = False
    needs_architecture: Text = ""
    unlike: Text = ""

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
