#!/usr/bin/env python3
"""Print the house in figures: rooms, floors, arrows, sizes. Needs the standard library only.

Usage: scripts/house.py [FOLDER]   (a folder that holds the package, `src` if left out)
"""

import ast
import sys
from collections import defaultdict
from collections.abc import Mapping
from pathlib import Path
from statistics import median, quantiles

PACKAGE = "scalograph"
# From the ground up. A file imports lower floors and its own room; rooms of one floor do not know each other.
FLOORS = (
    ("errors",),
    ("analysis", "simulate"),
    ("protocol",),
    ("text",),
    ("study", "report"),
    ("verdict", "system"),
    ("control",),
    ("design",),
    ("findings",),
    ("run", "questions"),
    ("machine", "profile", "exchange"),
    ("cli",),
    ("notebook",),
)
FLOOR = {room: i for i, rooms in enumerate(FLOORS) for room in rooms}
# Names of questions and where they lie: it imports nothing, so every floor may read it.
STRINGS = {f"{PACKAGE}.questions.registry", f"{PACKAGE}.questions"}
# What imports a module that a string names.
BY_STRING = {"import_module", "imported", "__import__"}


def modules(folder: Path) -> dict[str, Path]:
    """Return every module of the package by its name."""
    paths = (path.relative_to(folder) for path in sorted((folder / PACKAGE).rglob("*.py")))
    return {".".join(path.with_suffix("").parts).removesuffix(".__init__"): folder / path for path in paths}


def imports(tree: ast.AST, known: set[str]) -> set[str]:
    """Return the modules that a file imports, in functions too; with the faces that Python runs on the way."""
    named = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            named |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            named |= {node.module, *(f"{node.module}.{alias.name}" for alias in node.names)}
    parents = {name.rsplit(".", k)[0] for name in named for k in range(name.count("."))}
    return (named | parents) & known


def by_string(name: str, trees: Mapping[str, ast.AST]) -> set[str]:
    """Return the modules that a file may import by a string: its own strings, and those of tables that it imports."""
    calls = {getattr(node, "id", getattr(node, "attr", "")) for node in ast.walk(trees[name])}
    if not calls & BY_STRING:
        return set()
    read = {name} | {other for other in imports(trees[name], trees.keys()) if room(other)}
    texts = {node.value for other in read for node in ast.walk(trees[other]) if isinstance(node, ast.Constant)}
    return {text.partition(":")[0] for text in texts if isinstance(text, str)} & trees.keys()


def room(name: str) -> str:
    """Return the room of a module: the entry of the package that it lies in."""
    return [*name.split("."), ""][1]


def arrows(graph: dict[str, set[str]]) -> set[tuple[str, str]]:
    """Return who imports whom, from room to room."""
    pairs = {(room(a), room(b)) for a, found in graph.items() for b in found}
    return {(a, b) for a, b in pairs if a and b and a != b}


def up(graph: dict[str, set[str]]) -> list[str]:
    """Return the imports of a file that lead to no lower floor, nor stay in its room."""
    pairs = ((a, b) for a, found in graph.items() for b in found if room(a) and room(b) and room(a) != room(b))
    return sorted(f"{a} -> {b}" for a, b in pairs if FLOOR.get(room(b), 99) >= FLOOR.get(room(a), -1))


def depth(pairs: set[tuple[str, str]]) -> int:
    """Return the rooms of the longest chain of arrows; those that import each other count as one."""
    below = defaultdict(set)
    for a, b in pairs:
        below[a].add(b)
    found: dict[str, int] = {}

    def of(name: str, seen: frozenset[str]) -> int:
        if name not in found:
            found[name] = 1 + max((of(b, seen | {b}) for b in below[name] - seen), default=0)
        return found[name]

    return max((of(a, frozenset({a})) for a in list(below)), default=0)


def sizes(values: list[int]) -> str:
    """Return median, 90th percentile and maximum in words."""
    return (
        f"{len(values)}, lines: median {median(values):.0f}, p90 {quantiles(values, n=10)[-1]:.0f}, most {max(values)}"
    )


def main() -> None:
    """Print the figures."""
    folder = Path(sys.argv[1] if len(sys.argv) > 1 else "src")
    files = modules(folder)
    trees = {name: ast.parse(path.read_text(encoding="utf-8")) for name, path in files.items()}
    graph = {name: imports(tree, files.keys()) - {name} - STRINGS for name, tree in trees.items()}
    graph.pop(f"{PACKAGE}.__main__", None)
    functions = [
        node.end_lineno - node.lineno + 1 for tree in trees.values() for node in ast.walk(tree)
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and node.end_lineno
    ]  # fmt: skip
    lines = [len(path.read_text(encoding="utf-8").splitlines()) for path in files.values()]
    scripts = [p for p in (folder / PACKAGE).rglob("*.js") if "vendor" not in p.parts]
    entries = [p for p in (folder / PACKAGE).iterdir() if p.suffix == ".py" or (p / "__init__.py").exists()]
    print(f"entries at the root: {len(entries)}, of them {sum(p.suffix == '.py' for p in entries)} files")
    print(f"floors (longest chain of rooms): {depth(arrows(graph))}")
    print(f"arrows between rooms: {len(arrows(graph))}, imports that lead up: {len(up(graph))}")
    print(f"Python: {sum(lines)} lines; files: {sizes(lines)}")
    print(f"functions: {sizes(functions)}")
    n_script = sum(len(p.read_text(encoding="utf-8").splitlines()) for p in scripts)
    print(f"JavaScript: {n_script} lines in {len(scripts)} files")
    for line in up(graph):
        print(f"  up: {line}")


if __name__ == "__main__":
    main()
