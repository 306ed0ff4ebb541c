"""Claims of a paper, each decided: part of the findings."""

from typing import Literal

from pydantic import Field

from scalograph.analysis.estimate import Estimate
from scalograph.protocol.plain import Model, Text

# `not measured`: this form of the study left it out, or no run of it counts.
Decision = Literal["holds", "does not hold", "not resolved", "cannot be seen here", "not comparable", "not measured"]
DECISIONS: tuple[Decision, ...] = (
    "holds", "does not hold", "not resolved", "cannot be seen here", "not comparable", "not measured",
)  # fmt: skip


class ClaimFigure(Model):
    """One figure that decides a claim: the published number beside the measured one."""

    label: Text = Field(description="what it is of, such as `512 threads`; empty where there is one figure only")
    published: float | None = None
    published_low: float | None = Field(default=None, description="of its printed error, or half of its last digit")
    published_high: float | None = None
    here: Estimate | None = None
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
    figures: list[ClaimFigure] = Field(default=[], max_length=64)
    decision: Decision
    why: Text = Field(default="", description="why it cannot be seen, compared or resolved; empty where it is decided")
