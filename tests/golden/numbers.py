"""Every figure of a findings document by what it is of, whatever the layout of the document.

`SECTIONS` and `_parts` are all that knows the layout: where it changes on purpose, they change, and the goldens stay.
"""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

Path = tuple[str, ...]
Figure = tuple[Path, Any]

# Of these null is an answer too; elsewhere it is a field that has nothing to say.
_ESTIMATE = ("value", "low", "high")
# Texts that are one of a few codes. All other texts are words: the golden of the terminal holds those.
_CODES = ("kind", "level", "limit", "verdicts", "end_reason")


def numbers(findings: Mapping[str, Any]) -> dict[str, Any]:
    """What a figure is of -> the figure. Of several of one name, the later ones end in #2, #3, ..."""
    seen: Counter[str] = Counter()
    every: dict[str, Any] = {}
    for section in SECTIONS:
        for path, value in section(findings):
            name = " | ".join(path)
            seen[name] += 1
            every[name if seen[name] == 1 else f"{name} #{seen[name]}"] = value
    return every


def _whole(findings: Mapping[str, Any]) -> Iterator[Figure]:
    yield from _figures(("runs",), findings["runs"])
    yield from _figures(("trust",), findings["trust"])
    yield from _figures(("noise",), findings["noise"])


def _curves(findings: Mapping[str, Any]) -> Iterator[Figure]:
    for curve in findings["curves"]:
        of = ("curve", *_labels(curve["group"]))
        for point in curve["points"]:
            yield from _figures((*of, f"{curve['factor']}={point['level']}"), point)
        yield from _figures((*of, "law"), curve["law"])


def _parts(findings: Mapping[str, Any]) -> Iterator[Figure]:
    """Answers of the questions, and of readings of a sweep."""
    parts = {name: part["data"] for name, part in findings["parts"].items()}
    yield from _figures(("cliff",), parts.get("cliff"))
    for kind in ("break-even", "throughput", "tunables"):
        yield from _figures((kind,), parts.get(kind))
    for kind, several in (("effective-cpus", "groups"), ("surface", "surfaces")):
        for part in (parts[kind] or {several: []})[several] if kind in parts else []:
            yield from _figures((kind, *_labels(part["group"])), part)


def _tables(findings: Mapping[str, Any]) -> Iterator[Figure]:
    for table in findings["tables"]:
        columns = table["columns"]
        for row in table["rows"]:
            cells = list(zip(columns, row, strict=True))
            of = (f"table {table['id']}", *(f"{c['name']}={cell}" for c, cell in cells if c["kind"] == "label"))
            for column, cell in cells:
                if column["kind"] in ("number", "estimate"):
                    yield from _figures((*of, column["name"]), cell if cell is not None else {"value": None})


SECTIONS = (_whole, _curves, _parts, _tables)


def _labels(group: Mapping[str, Any]) -> Path:
    return tuple(f"{name}={level}" for name, level in group.items())


def _figures(path: Path, node: Any) -> Iterator[Figure]:
    """Numbers, codes and lists of them, as deep as they lie."""
    if isinstance(node, Mapping):
        for name, value in node.items():
            yield from _figures((*path, str(name)), value)
    elif isinstance(node, Sequence) and not isinstance(node, str):
        yield from _listed(path, node)
    elif isinstance(node, (bool, int, float)) or path[-1] in (_ESTIMATE if node is None else _CODES):
        yield path, node


def _listed(path: Path, nodes: Sequence[Any]) -> Iterator[Figure]:
    """A plain list is one figure, so that a golden has a line for it."""
    if not any(isinstance(node, (Mapping, list)) for node in nodes):
        if path[-1] in _CODES or not any(isinstance(node, str) for node in nodes):
            yield path, list(nodes)
        return
    for at, node in enumerate(nodes):
        yield from _figures((*path, str(at)), node)
