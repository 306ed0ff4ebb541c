"""Claims of a paper, each decided: part of the findings."""

from collections.abc import Mapping
from typing import Literal, NamedTuple

from pydantic import Field

from scalograph.analysis.estimate import Estimate
from scalograph.protocol.plain import Level, Model, Text

# `exceeds`: more than the paper says, in its direction. `moot`: it presupposes what is not there. `demonstration`: it
# holds as the experiment was built to show it. `not measured`: this form left it out, or no run of it counts.
Decision = Literal[
    "holds", "exceeds", "does not hold", "moot", "demonstration", "inconclusive", "not testable here", "not comparable",
    "not measured",
]  # fmt: skip
# Why a claim does not hold: systems have changed since, this machine, the experiment was built otherwise here, another
# claim of the paper contradicts it, or nobody knows.
ReasonKind = Literal["since", "host", "built", "contradicted", "unknown"]


# What an offered value leaves aside that is also right where the factor of a claim has no settings here.
NOTHING = "*"


class OfferedValue(NamedTuple):
    """A figure that a question offers to claims.

    Attributes:
        estimate: of it; without an interval where the question is still open.
        group: the levels that it is of; empty where it is of the whole study.
        unseen: why these runs could not show it, whatever it is; empty where they could.
        of_groups: the groups of factors that it compares; empty where it compares none.
        narrows: whether its interval narrows with the root of the number of runs.
        without: factor that it leaves aside; `NOTHING` where it leaves none aside; empty where it is of all.
    """

    estimate: Estimate
    group: Mapping[str, Level] = {}
    unseen: str = ""
    of_groups: tuple[str, ...] = ()
    narrows: bool = False
    without: str = ""


class ClaimValue(Model):
    """One figure that decides a claim: the published number beside the measured one."""

    label: Text = Field(description="what it is of, such as `512 threads`; empty where there is one figure only")
    published: float | None = None
    published_low: float | None = Field(default=None, description="of its printed error, or half of its last digit")
    published_high: float | None = None
    here: Estimate | None = None
    none: Text = Field(default="", description="what is here instead of a number: shown to be none")
    doubt: Text = Field(default="", description="why it is to be read with care; empty: nothing")
    deciding: Estimate | None = Field(
        default=None, description="`here` with the interval that refutes the claim, where its values share a confidence"
    )
    decision: Decision


class DecidedClaim(Model):
    """One claim of a paper, and what became of it here."""

    id: str
    sentence: Text
    place: Text = ""
    quantity: Text = Field(description="what the figures are, such as `wall time, 1 over n threads`")
    unit: str = ""
    said: Text = Field(default="", description="what the paper has where it is no number")
    low: float | None = Field(default=None, description="least figure that bears it out; null: any")
    high: float | None = Field(default=None, description="largest figure that bears it out; null: any")
    figures: list[ClaimValue] = Field(default=[], max_length=4096)
    decision: Decision
    why: Text = Field(default="", description="why it cannot be seen, compared or resolved; empty where it is decided")
    doubt: Text = Field(default="", description="why the decision is to be read with care; empty: nothing")
    reason_kind: ReasonKind | None = Field(default=None, description="where it does not hold")
    reason: Text = Field(default="", description="that reason, with its evidence")
    like: list[str] = Field(default=[], max_length=16, description="claims that should come out alike")
    runs_needed: float | None = Field(
        default=None, exclude_if=lambda times: times is None,
        description="of an inconclusive one, how many times as many runs may decide it",
    )  # fmt: skip


class PublishedPoint(Model):
    """What a paper has at one level."""

    level: Level
    values: dict[str, float] = Field(
        max_length=64, description="`speedup`, or a response that is a ratio, a share or a count -> figure"
    )


class PublishedCurve(Model):
    """Figures of a paper along the factor of a measured curve.

    Times are none of them: those of another machine say nothing on the axis of this one.
    """

    label: Text = Field(default="", description="what tells it from others at the same levels, such as the system")
    group: dict[str, Level] = Field(description="of the measured curve that it stands beside")
    factor: str
    points: list[PublishedPoint] = Field(min_length=1, max_length=1000)
