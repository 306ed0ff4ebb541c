"""Values of the protocol from JSON, checked: the first mistake is told by its place, what was found and expected."""

import re
from typing import Any, TypeVar

import msgspec

from scalograph.errors import ProtocolError

FIX = "install scalograph anew: it brings a scalograph-probe of its own release"
Checked = TypeVar("Checked")
# What `msgspec.json.decode` raises for what is no JSON: bad syntax, bytes that are no text, endless nesting.
UNREADABLE = (ValueError, RecursionError)
# What msgspec says: `Expected `int`, got `str` - at `$.run.wall_ns``.
_MESSAGE = re.compile(r"(?P<text>.*?)(?: - at (?:`key` in )?`\$(?P<path>.*)`)?", re.DOTALL)
_STEP = re.compile(r"\.(\w+)|\[(\d+)\]")


def checked(document: Any, kind: type[Checked], where: str) -> Checked:
    """Make a value of the protocol from what JSON held.

    Raises:
        ProtocolError: a field that does not follow protocol/probe.md or journal.md; `where` begins the message.
    """
    try:
        return msgspec.convert(document, kind)
    except msgspec.ValidationError as error:
        raise explained(error, document, where) from None


def explained(error: msgspec.ValidationError, document: Any, where: str) -> ProtocolError:
    """The mistake in the house's form."""
    told = _MESSAGE.fullmatch(str(error))
    text, path = (told["text"], told["path"] or "") if told else (str(error), "")
    if missing := re.fullmatch(r"Object missing required field `(\w+)`", text):
        return ProtocolError(f"{where}{path}.{missing[1]}", "nothing", "this field", FIX)
    expected = "a word of the protocol" if text.startswith("Invalid enum value") else text.removeprefix("Expected ")
    return ProtocolError(where + path, f"{_at(document, path)!r:.80}", expected.partition(", got ")[0], FIX)


def _at(document: Any, path: str) -> Any:
    """What stands at a place, as far as the place is told."""
    for name, index in _STEP.findall(path.partition("[...]")[0]):
        document = document[name] if name else document[int(index)]
    return document
