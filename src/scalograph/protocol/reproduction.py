"""What came of published studies on a machine: the document between their runs and the page (reproduction.md)."""

from collections import Counter
from typing import Annotated, Any, Literal

from pydantic import Field, StringConstraints, model_validator

from scalograph.protocol.findings import RunsDoc, Trust
from scalograph.protocol.old_names import rename_in_document
from scalograph.protocol.plain import Model, Text
from scalograph.protocol.published_claim import DecidedClaim

# What became of a published claim. `not yet`: no study decides it so far.
Outcome = Literal[
    "holds", "exceeds", "does not hold", "moot", "demonstration", "inconclusive", "not testable here", "not comparable",
    "not yet", "not measured",
]  # fmt: skip
# The first of these that any part of a claim came to is what the claim came to.
OUTCOMES: tuple[Outcome, ...] = (
    "does not hold", "inconclusive", "not measured", "not yet", "not testable here", "not comparable", "moot",
    "exceeds", "demonstration", "holds",
)  # fmt: skip
# Of a part, beside the page: a document that somebody sent links nowhere else.
PartPage = Annotated[str, StringConstraints(pattern=r"^([a-z][a-z0-9-]*/report\.html)?$", max_length=128)]
PartState = Literal["done", "failed", "skipped", "begun", "not run"]


class ReproducedPart(Model):
    """One study that put claims to the test."""

    study: Text = Field(description="its name, and that of its folder of results")
    title: Text = ""
    of: Text = Field(description="id of the published study that lists it")
    state: PartState = Field(default="not run", description="`begun`: it was interrupted; `--resume` goes on with it")
    why: Text = Field(default="", description="why it was skipped, failed or did not run; else empty")
    code: int | None = Field(default=None, description="exit code, as of `study`; null where it did not end")
    page: PartPage = Field(
        default="", description="its own report, relative to this document; empty where there is none"
    )
    report: Text = Field(default="", description="the command that makes that, where it does not lie there")
    command: Text = Field(default="", description="the command that runs it alone")
    further_blocks: int = Field(
        default=0, ge=0, exclude_if=lambda n: not n, description="blocks beyond those of its form (`--more`)"
    )
    trust: Trust | None = None
    runs: RunsDoc | None = None


class ReproducedClaim(Model):
    """One id of a claim: a published claim may be decided in several."""

    id: Text
    number: Text = Field(description="of the published claim that it belongs to")
    sentence: Text
    place: Text = ""
    outcome: Outcome
    why: Text = ""
    part: Text = Field(default="", description="the study that decides it; empty where none does")
    decided: DecidedClaim | None = Field(default=None, description="its figures; null where it was not measured")
    machine: Text = Field(
        default="",
        exclude_if=lambda text: not text,
        description="the other machine whose results decide it; empty: this one",
    )
    contradicts: list[str] = Field(default=[], max_length=16, description="ids of claims that should come out alike")


class ReproducedStudy(Model):
    """One published study."""

    id: Text
    name: Text
    title: Text
    year: int | None = None
    line: Text = ""
    outcomes: dict[str, Outcome] = Field(max_length=256, description="number of each claim -> what it came to")
    claims: list[ReproducedClaim] = Field(default=[], max_length=1024)


class Reproduction(Model):
    """The whole document."""

    protocol: Literal[1, 2, 3, 4] = 4
    quick: bool = Field(description="whether the parts were run in their quick forms")
    catalogue: Text = Field(
        default="",
        exclude_if=lambda path: not path,
        description="absolute path of its catalogue; absent: the built-in one",
    )
    others: list[Text] = Field(
        default=[],
        max_length=16,
        exclude_if=lambda paths: not paths,
        description="absolute paths of results of other machines",
    )
    started: Text
    ended: Text | None = Field(default=None, description="when the last part ended; null where parts are left to run")
    machine: dict[str, Any] = Field(default={}, description="as in a journal")
    parts: list[ReproducedPart] = Field(default=[], max_length=256)
    studies: list[ReproducedStudy] = Field(max_length=64)

    @model_validator(mode="before")
    @classmethod
    def _read_earlier_protocol(cls, raw: Any) -> Any:
        return rename_in_document(raw) if isinstance(raw, dict) and raw.get("protocol") in (1, 2, 3) else raw

    def counts(self) -> Counter[Outcome]:
        """How many claims came to what."""
        return Counter(outcome for study in self.studies for outcome in study.outcomes.values())


def worst_outcome(outcomes: list[Outcome]) -> Outcome:
    """What a claim came to of which several parts were decided.

    >>> worst_outcome(["holds", "does not hold"]), worst_outcome(["holds", "holds"]), worst_outcome([])
    ('does not hold', 'holds', 'not yet')
    """
    return min(outcomes, key=OUTCOMES.index, default="not yet")
