"""The answer of a question to a study: its document, claim, tables, caveats, and curves."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from scalograph.findings.published.published_quantities import Lookup
from scalograph.findings.sample import Sample
from scalograph.protocol.findings import Claim, Curve, Part, TableDoc
from scalograph.protocol.plain import Level, Model

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
    doubts: Sequence[str] = ()
    warnings: Sequence[str] = ()
    curves: Sequence[Curve] | None = None
    at_levels: Lookup | None = None

    def part(self) -> Part:
        """Return the part of the findings document that holds this answer."""
        data = None if self.document is None else self.document.model_dump(mode="json")
        return Part(decided=self.decided, data=data)


MAX_WORDS = 20  # of the verdict's sentence


class Caveat(NamedTuple):
    """A reason to doubt a study.

    Attributes:
        reason: what was seen, in at most twenty words.
        effect: on the result; may be empty.
        whole: whether it doubts the study; else it is listed among the causes only.
    """

    reason: str
    effect: str = ""
    whole: bool = True

    @property
    def text(self) -> str:
        """Return reason and effect as one text."""
        return f"{self.reason}: {self.effect}" if self.effect else self.reason


def parse_caveat(text: str) -> Caveat:
    """Split a caveat of a question at its first colon or semicolon.

    >>> parse_caveat("not decided at 2 points; 8 more pairs would do").effect
    '8 more pairs would do'
    """
    reason, *effect = re.split(r"[:;] ", text, maxsplit=1)
    return Caveat(reason, "".join(effect))


def format_sentence(text: str, most: int | None = None) -> str:
    """Capitalize the text and end it with a period, cut after `most` words.

    >>> format_sentence("1 of 3 runs failed"), format_sentence("one two three", 2)
    ('1 of 3 runs failed.', 'One two ..')
    """
    words = text.split()
    cut = " ".join([*words[:most], ".."]) if most and len(words) > most else " ".join(words) + "."
    return cut[:1].upper() + cut[1:]
