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


def as_sentence(text: str, most: int | None = None) -> str:
    """Begin with a capital and end with a stop, after so many words at most.

    >>> as_sentence("1 of 3 runs failed"), as_sentence("one two three", 2)
    ('1 of 3 runs failed.', 'One two ..')
    """
    words = text.split()
    cut = " ".join([*words[:most], ".."]) if most and len(words) > most else " ".join(words) + "."
    return cut[:1].upper() + cut[1:]
