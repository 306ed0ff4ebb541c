"""What the journal noted of the machine, for people: many blocks that began alike are one sentence."""

from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from scalograph.protocol.noise_floor import Recheck

# How a block began, in the words of releases whose notes do not say what they are about.
_EARLIER = {"busy": " began on a busy machine", "quiet": " began on a quiet machine"}
# What many notes have in common.
MANY = {
    "busy": "blocks and rounds of repeats began on a busy machine",
    "disturbed": "blocks had mostly disturbed runs",
}


class Note(NamedTuple):
    """Something that a person should know; `about` is "busy" or "quiet" if it says how a block began.

    "disturbed" says that most runs of a block were.
    """

    text: str
    about: str = ""


def note(event: Mapping[str, Any]) -> Note:
    """Read a note of the journal. Raises KeyError if it has no text."""
    text = str(event["text"])
    found = next((about for about, words in _EARLIER.items() if words in text), "")
    return Note(text, str(event.get("about", found)))


def notes(every: list[Note], noise: Recheck | None) -> Iterator[str]:
    """Yield what was noted in order, busy blocks together, and what became of the noise floor."""
    by = {about: [one.text for one in every if one.about == about] for about in MANY}
    for about, found in by.items():
        if len(found) > 1:
            yield f"{len(found)} {MANY[about]}; first: {found[0]}"
    # That a quiet machine was waited for is no news any more.
    yield from (one.text for one in every if one.about != "quiet" and len(by.get(one.about, ())) < 2)
    if noise and (noise.changed in ("higher", "lower") or noise.moved in ("slower", "faster")):
        yield noise.sentence
