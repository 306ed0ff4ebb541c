#!/usr/bin/env python3
"""Print the page of the Python interface in Markdown: every public name with its arguments and its docstring.

Reads the sources, and imports nothing of them: it needs the standard library only. Usage: scripts/api_page.py
"""

import ast
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

SOURCES = Path(__file__).resolve().parents[1] / "src"
# What the functions of a notebook return, in the order of the page.
RETURNED = (
    "scalograph.notebook.opened_results:OpenedResults",
    "scalograph.notebook.opened_results:Curves",
    "scalograph.notebook.opened_results:OpenedCurve",
    "scalograph.notebook.picture:Picture",
    "scalograph.notebook.fitted_law:FittedLaw",
    "scalograph.protocol.compared_results:ResultComparison",
)
# What a class does where it is called, made a number, or taken apart.
SPOKEN = ("__call__", "__float__", "__format__", "__iter__", "__getitem__")
_HEAD = """# Python interface

Everything that a notebook or a program of yours may rely on; other names may change with any release. What is opened or
compared is described in [notebooks](howto/notebook.md), the documents behind it in [protocol](../protocol/README.md).
"""
_PART = re.compile(r"(Args|Attributes|Returns|Raises|Yields|Source):\s*(.*)")
_ITEM = re.compile(r"(\*{0,2}\w[\w, ]*): (.*)")
Definition = ast.FunctionDef | ast.ClassDef


def main() -> None:
    """Print the page."""
    print("\n".join(page()))


def page() -> Iterator[str]:
    """Yield the lines of the page."""
    yield _HEAD
    yield "## scalograph\n"
    for name, place in offered().items():
        yield from _entry(f"scalograph.{name}", place)
    yield "## What they return\n"
    for place in RETURNED:
        yield from _entry(place.partition(":")[2], place)
    yield "## scalograph.analysis\n\nEstimates from arrays of numbers.\n"
    for name, place in statistics().items():
        if place not in offered().values():
            yield from _entry(f"scalograph.analysis.{name}", place)


def offered() -> dict[str, str]:
    """Return what `scalograph` offers: name -> "module:name"."""
    return {name: ":".join(place) for name, place in _table("scalograph", "_OFFERED").items()}


def statistics() -> dict[str, str]:
    """Return what `scalograph.analysis` offers: name -> "module:name"."""
    modules = _table("scalograph.analysis", "_MODULES")
    return {name: f"scalograph.analysis.{home}:{name}" for home, names in modules.items() for name in names}


def _table(module: str, name: str) -> dict[str, Any]:
    """Read a table that a face assigns."""
    for node in _tree(module).body:
        if isinstance(node, ast.Assign) and [ast.unparse(target) for target in node.targets] == [name]:
            found: dict[str, Any] = ast.literal_eval(node.value)
            return found
    raise SystemExit(f"{module}: found no {name}, expected the table of what it offers")


def _tree(module: str) -> ast.Module:
    path = SOURCES.joinpath(*module.split("."))
    file = path / "__init__.py" if path.is_dir() else path.with_suffix(".py")
    return ast.parse(file.read_text(encoding="utf-8"))


def _entry(shown: str, place: str) -> Iterator[str]:
    """Yield a heading, the call and the docstring of one name, and of a class its methods."""
    module, _, name = place.partition(":")
    node = next((one for one in _tree(module).body if isinstance(one, Definition) and one.name == name), None)
    if node is None:
        raise SystemExit(f"{place}: found no such function or class")
    yield f"### {shown}\n"
    if isinstance(node, ast.FunctionDef):
        yield from _call(node, shown)
    yield from _text(node)
    for member in node.body if isinstance(node, ast.ClassDef) else ():
        yield from _member(member)


def _member(node: ast.stmt) -> Iterator[str]:
    """Yield a field, a property or a method of a class, as far as it is public."""
    if isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name) and node.target.id[0] != "_":
        meaning = next((key.value for key in getattr(node.value, "keywords", ()) if key.arg == "description"), None)
        told = f": {ast.literal_eval(meaning)}" if meaning else ""
        yield f"- `{node.target.id}: {ast.unparse(node.annotation)}`{told}\n"
    if isinstance(node, ast.FunctionDef) and (node.name[0] != "_" or node.name in SPOKEN):
        is_property = any("property" in ast.unparse(one) for one in node.decorator_list)
        if is_property:
            yield f"#### `{node.name}`: {_type(node.returns)}\n"
        else:
            yield f"#### `{node.name}`\n"
            yield from _call(node, node.name)
        yield from _text(node)


def _call(node: ast.FunctionDef, shown: str) -> Iterator[str]:
    yield f"```python\n{shown}({_arguments(node.args)}) -> {_type(node.returns)}\n```\n"


def _arguments(arguments: ast.arguments) -> str:
    if arguments.args and arguments.args[0].arg == "self":
        rest = arguments.args[1:]
        arguments = ast.arguments(
            arguments.posonlyargs, rest, arguments.vararg, arguments.kwonlyargs, arguments.kw_defaults,
            arguments.kwarg, arguments.defaults,
        )  # fmt: skip
    return ast.unparse(arguments)


def _type(annotation: ast.expr | None) -> str:
    return ast.unparse(annotation).strip("'") if annotation else "None"


def _text(node: Definition) -> Iterator[str]:
    """Yield a docstring as Markdown: its parts as lists, its examples as code."""
    part, is_code = "", False
    for line in (ast.get_docstring(node) or "").splitlines():
        if is_code != (is_code := line.startswith(">>>") or (is_code and bool(line.strip()))):
            yield "```python" if is_code else "```"
        if is_code:
            yield line
        elif found := _PART.fullmatch(line):
            part = found[1]
            yield f"**{part}** {found[2]}\n"
        elif part in ("Args", "Attributes", "Raises") and (item := _ITEM.fullmatch(line[4:])):
            yield f"- `{item[1]}`: {item[2]}"
        else:
            yield line.strip()
    if is_code:
        yield "```"
    yield ""


if __name__ == "__main__":
    main()
