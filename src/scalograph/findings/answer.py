"""What a question adds to the findings of a study, and its part of the document."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from scalograph.findings.published.published_quantities import Lookup
from scalograph.findings.sample import Sample
from scalograph.protocol.findings import Claim, Curve, Part, TableDoc
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


MOST_WORDS = 20  # of the verdict's sentence


class Doubt(NamedTuple):
    """A reason.

    Attributes:
        why: what was seen, in at most twenty words.
        does: what it does to the result; may be empty.
        whole: whether the study is doubted for it; else it is told among the causes only.
    """

    why: str
    does: str = ""
    whole: bool = True

    @property
    def text(self) -> str:
        """Both halves."""
        return f"{self.why}: {self.does}" if self.does else self.why


def from_text(text: str) -> Doubt:
    """Take the reason of a question, which ends its first half with a colon or a semicolon.

    >>> from_text("not decided at 2 points; 8 more pairs would do").does
    '8 more pairs would do'
    """
    why, *does = re.split(r"[:;] ", text, maxsplit=1)
    return Doubt(why, "".join(does))


def as_sentence(text: str, most: int | None = None) -> str:
    """Begin with a capital and end with a stop, after so many words at most.

    >>> as_sentence("1 of 3 runs failed"), as_sentence("one two three", 2)
    ('1 of 3 runs failed.', 'One two ..')
    """
    words = text.split()
    cut = " ".join([*words[:most], ".."]) if most and len(words) > most else " ".join(words) + "."
    return cut[:1].upper() + cut[1:]
