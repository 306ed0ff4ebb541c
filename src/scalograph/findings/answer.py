"""The answer of a question to a study: its document, claim, tables, caveats, and curves."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from scalograph.findings.published.published_quantities import Lookup
from scalograph.findings.sample import Sample
from scalograph.protocol.findings import Claim, Curve, Part, TableDoc
from scalograph.protocol.plain import Level, Model

Samples = Mapping[tuple[Level, ...], Sample]


@dataclass(frozen=True)
class Answer:
    """Hold what a question adds to the findings, for people and machines.

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
        """Return the part of the findings document that holds this answer."""
        data = None if self.document is None else self.document.model_dump(mode="json")
        return Part(decided=self.decided, data=data)


MAX_WORDS = 20  # of the verdict's sentence


class Caveat(NamedTuple):
    """A reason to doubt a study.

    Attributes:
        why: what was seen, in at most twenty words.
        effect: what it does to the result; may be empty.
        whole: whether the study is doubted for it; else it is told among the causes only.
    """

    why: str
    effect: str = ""
    whole: bool = True

    @property
    def text(self) -> str:
        """Return reason and effect as one text."""
        return f"{self.why}: {self.effect}" if self.effect else self.why


def parse_caveat(text: str) -> Caveat:
    """Split a caveat of a question at its first colon or semicolon.

    >>> parse_caveat("not decided at 2 points; 8 more pairs would do").does
    '8 more pairs would do'
    """
    reason, *does = re.split(r"[:;] ", text, maxsplit=1)
    return Caveat(reason, "".join(does))


def format_sentence(text: str, most: int | None = None) -> str:
    """Capitalize the text and end it with a period, cut after `most` words.

    >>> format_sentence("1 of 3 runs failed"), format_sentence("one two three", 2)
    ('1 of 3 runs failed.', 'One two ..')
    """
    words = text.split()
    cut = " ".join([*words[:most], ".."]) if most and len(words) > most else " ".join(words) + "."
    return cut[:1].upper() + cut[1:]
