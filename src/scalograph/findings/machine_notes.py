"""What the journal noted of the machine, for people: many blocks that began alike are one sentence."""

from collections.abc import Iterator

from scalograph.findings.table import Table

_BUSY = " began on a busy machine"
# That one was waited for is no news any more.
_QUIET = " began on a quiet machine"


def notes(table: Table) -> Iterator[str]:
    """The notes of the journal in order, those on busy blocks together, and what became of the noise floor."""
    busy = [text for text in table.notes if _BUSY in text]
    if len(busy) > 1:
        yield f"{len(busy)} blocks and rounds of repeats{_BUSY}; first: {busy[0]}"
    yield from (text for text in table.notes if _QUIET not in text and (len(busy) < 2 or _BUSY not in text))
    if (noise := table.noise) and (noise.changed in ("higher", "lower") or noise.moved in ("slower", "faster")):
        yield noise.sentence
