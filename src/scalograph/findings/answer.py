"""The answer of a question to a study: its document, claim, tables, caveats, and curves."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from scalograph.findings.published.published_quantities import Lookup
from scalograph.findings.sample import Sample
from scalograph.protocol.findings import Claim, Curve, Part, TableDoc
from scalograph.protocol.plain import Level, Model
from scalograph.text.warning_catalog import Caveat

SampleMap = Mapping[tuple[Level, ...], Sample]


@dataclass(frozen=True)
class Answer:
    """Hold what a question adds to the findings, for people and machines.

    Attributes:
        decided: whether a search ended; None if the question is no search.
        claim: None if another question speaks first.
        sentences: more for people, most important first.
        tables: above those that every study has.
        below: below those.
        doubts: why the answer is uncertain or missing.
        at_levels: values of a configuration where runs were compared in pairs.
    """

    document: Model | None = None
    decided: bool | None = None
    claim: Claim | None = None
    sentences: Sequence[str] = ()
    tables: Sequence[TableDoc] = ()
    below: Sequence[TableDoc] = ()
    doubts: Sequence[Caveat] = ()
    warnings: Sequence[str] = ()
    curves: Sequence[Curve] | None = None
    at_levels: Lookup | None = None

    def part(self) -> Part:
        """Return the part of the findings document that holds this answer."""
        data = None if self.document is None else self.document.model_dump(mode="json")
        return Part(decided=self.decided, data=data)


def format_sentence(text: str) -> str:
    """Capitalize the text and end it with a period.

    >>> format_sentence("1 of 3 runs  failed"), format_sentence("Rerun.")
    ('1 of 3 runs failed.', 'Rerun.')
    """
    words = " ".join(text.split()).removesuffix(".")
    return f"{words[:1].upper()}{words[1:]}."
