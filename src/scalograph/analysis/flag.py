"""What a reader must know beside a number: a code to decide by, words to read."""

from collections.abc import Iterable
from dataclasses import dataclass

# Codes of the flags of a law that does not hold on its curve.
NO_LAW = ("lack of fit", "superlinear")
# Of a law that was fitted to more workers than CPUs: its sigma is no serial share.
BEYOND_CPUS = "beyond the CPUs"


@dataclass(frozen=True, slots=True)
class Flag:
    """A remark on a point, a law or a cell.

    Attributes:
        code: the same for all remarks of a kind; empty if a document of protocol 1 has none.
        text: for people; no program reads it.
        amount: its size in the unit that the text names; None if it has no size.
    """

    code: str
    text: str
    amount: float | None = None


def in_words(flags: Iterable[Flag]) -> str:
    """Join the texts of flags, as a cell of a table shows them.

    >>> in_words([Flag("a", "one"), Flag("b", "two", 2)])
    'one; two'
    """
    return "; ".join(flag.text for flag in flags)
