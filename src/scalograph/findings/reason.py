"""Why a study is doubted, or a reader should know: what was seen, and what that does to the result."""

import re
from typing import NamedTuple

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


def as_sentence(text: str) -> str:
    """Begin with a capital and end with a stop, after twenty words at most.

    >>> as_sentence("1 of 3 runs failed")
    '1 of 3 runs failed.'
    """
    words = text.split()
    cut = " ".join(words[:MOST_WORDS]) + ("" if len(words) <= MOST_WORDS else " ..")
    return f"{cut[:1].upper()}{cut[1:]}."


def counted(n: int, noun: str) -> str:
    """Count things, in the singular or the plural.

    >>> counted(1, "run"), counted(12000, "run")
    ('1 run', '12,000 runs')
    """
    return f"{n:,} {noun}{'s' * (n != 1)}"
