"""What a question adds to the findings of a study, and its part of the document."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from scalograph.findings.published import Lookup
from scalograph.findings.sample import Sample
from scalograph.protocol.claim import Claim
from scalograph.protocol.findings import Curve, Part, TableDoc
from scalograph.protocol.plain import Level, Model

Taken = Mapping[tuple[Level, ...], Sample]


@dataclass(frozen=True)
class Answer:
    """An answer, as people and machines read it.

    Attributes:
        document: for machines; None where nothing is known.
        decided: whether a search came to its answer; None for what is no search.
        claim: what it says of the study, in three sentences and a few numbers; None where another one speaks first.
        sentences: more for people, most important first.
        tables: above those that every study has.
        below: tables below those.
        doubts: why the answer is not to be believed, or is none.
        warnings: about the whole.
        curves: all of them, where the question has something to add to them.
        at_levels: what is known of a treatment, where runs were compared in pairs and none has figures of its own.
    """

    document: Model | None = None
    decided: bool | None = None
    claim: Claim | None = None
    sentences: Sequence[str] = ()
    tables: Sequence[TableDoc] = ()
    below: Sequence[TableDoc] = ()
    doubts: Sequence[str] = ()
    warnings: Sequence[str] = ()
    curves: Sequence[Curve] | None = None
    at_levels: Lookup | None = None

    def part(self) -> Part:
        """Return what the findings keep of it."""
        data = None if self.document is None else self.document.model_dump(mode="json")
        return Part(decided=self.decided, data=data)
