"""An argv template: `{name}` is replaced by a level or a parameter. No shell, no format specification, one pass."""

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from scalograph.errors import StudyError
from scalograph.study.known_names import no_such
from scalograph.study.scalars import as_text

_PLACE = re.compile(r"\{\{|\}\}|\{([^{}]*)\}|[{}]")


class Template(str):
    """A value that is a template itself: it is filled before it is inserted."""

    __slots__ = ()


def places(template: Sequence[str]) -> Iterator[tuple[str | None, str]]:
    """Yield every `{name}` with its item, in order; None for the name of a lone brace.

    >>> list(places(["run", "-n{n}", "{{}}", "}"]))
    [('n', '-n{n}'), (None, '}')]
    """
    for item in template:
        for place in _PLACE.finditer(item):
            if place[0] not in ("{{", "}}"):
                yield place[1], item


def fill(template: Sequence[str], values: Mapping[str, Any]) -> list[str]:
    """Return an argv with every `{name}` replaced; `{{` and `}}` are braces. Inserted text is not expanded again.

    Raises:
        StudyError: an unknown name, a lone brace, or a list inside an item.

    >>> fill(["run", "-n{n}", "{more}", "{{}}"], {"n": 2, "more": ["a", "b"]})
    ['run', '-n2', 'a', 'b', '{}']
    """
    filled: list[str] = []
    for item in template:
        whole = _PLACE.fullmatch(item)
        value = _lookup(whole[1], item, values) if whole and whole[1] is not None else None
        if isinstance(value, list | tuple):
            filled += [as_text(part) for part in value]
        else:
            filled.append(_PLACE.sub(lambda place, item=item: _put(place, item, values), item))  # type: ignore[misc]
    return filled


def _put(place: re.Match[str], item: str, values: Mapping[str, Any]) -> str:
    if place[0] in ("{{", "}}"):
        return place[0][0]
    if place[1] is None:
        raise StudyError.one("argv", f'a lone "{place[0]}" in "{item}"', "{name}", "write {{ or }} for a brace")
    value = _lookup(place[1], item, values)
    if isinstance(value, list | tuple):
        fix = f'make "{{{place[1]}}}" an item of its own'
        raise StudyError.one("argv", f'the list {place[1]} inside "{item}"', "a single value", fix)
    return as_text(value)


def _lookup(name: str, item: str, values: Mapping[str, Any]) -> Any:
    if name not in values:
        found = f'unknown name {{{name}}} in "{item}"'
        raise no_such("argv", found, name, sorted(values), "or {{ for a brace", "no name at all")
    return values[name]
