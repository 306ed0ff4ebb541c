#!/usr/bin/env python3
"""Print the house in figures: rooms, floors, arrows, sizes. Needs the standard library only.

Usage: scripts/house.py [FOLDER]               the figures of a folder that holds the package; default `src`
       scripts/house.py [FOLDER] -- ARGUMENT...  which files `scalograph ARGUMENT...` passes on its way
"""

import ast
import io
import sys
import tokenize
from collections import defaultdict
from collections.abc import Mapping
from graphlib import CycleError, TopologicalSorter
from pathlib import Path
from statistics import median, quantiles

PACKAGE = "scalograph"
# From the ground up. A file imports lower floors and its own room; rooms of one floor do not know each other.
FLOORS = (
    ("errors",),
    ("analysis",),
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
# The five steps, each with what stands beside it: none imports a later one.
STEPS = (("study",), ("design",), ("run",), ("findings", "questions"), ("report",))
# Names of questions and where they lie: it imports nothing, so every floor may read it.
STRINGS = {f"{PACKAGE}.questions.registry", f"{PACKAGE}.questions"}
# What imports a module that a string names.
BY_STRING = {"import_module", "load_object", "__import__"}


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


def late(graph: dict[str, set[str]]) -> list[str]:
    """Return the imports of a step that lead to a later one."""
    step = {name: n for n, rooms in enumerate(STEPS) for name in rooms}
    pairs = ((a, b) for a, found in graph.items() for b in found - STRINGS)
    return sorted(f"{a} -> {b}" for a, b in pairs if step.get(room(b), -1) > step.get(room(a), len(STEPS)))


def circle(graph: dict[str, set[str]]) -> list[str]:
    """Return the modules of a circle of imports, none where there is none."""
    try:
        TopologicalSorter({name: found - {name} for name, found in graph.items()}).prepare()
    except CycleError as error:
        return list(error.args[1])
    return []


def importers(graph: dict[str, set[str]]) -> dict[str, set[str]]:
    """Return who imports each module."""
    by: dict[str, set[str]] = {name: set() for name in graph}
    for name, found in graph.items():
        for other in found & graph.keys():
            by[other].add(name)
    return by


def n_text_lines(source: str) -> int:
    """Return how many lines hold nothing but a comment or a docstring."""
    lines = set()
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) and isinstance(node.value.value, str):
            lines |= set(range(node.lineno, (node.end_lineno or 0) + 1))
    for token in tokenize.generate_tokens(io.StringIO(source).readline):
        if token.type == tokenize.COMMENT and not token.line[: token.start[1]].strip():
            lines.add(token.start[0])
    return len(lines)


def passed(folder: Path, arguments: list[str]) -> set[str]:
    """Return the files of which a command runs a function, in this process."""
    home, files = str((folder / PACKAGE).resolve()), set()
    sys.path.insert(0, str(folder))
    from scalograph.cli.main import main as command

    def look(frame: object, event: str, _: object) -> None:
        if event == "call" and (code := frame.f_code).co_name != "<module>" and code.co_filename.startswith(home):  # type: ignore[attr-defined]
            files.add(code.co_filename)

    sys.argv = ["scalograph", *arguments]
    sys.setprofile(look)
    try:
        command()
    except SystemExit:
        pass
    finally:
        sys.setprofile(None)
    return files


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
    own, _, command = " ".join(sys.argv[1:]).partition("--")
    folder = Path(own.strip() or "src")
    if command:
        print(f"files passed: {len(passed(folder, sys.argv[sys.argv.index('--') + 1 :]))}")
        return
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
    texts = [n_text_lines(path.read_text(encoding="utf-8")) for path in files.values()]
    print(f"lines of comments and docstrings: {sum(texts)}, others: {sum(lines) - sum(texts)}")
    print(f"functions: {sizes(functions)}")
    single = [name for name, others in importers(graph).items() if len(others) == 1]
    print(f"files with one importer: {len(single)}, imports of later steps: {len(late(graph))}")
    print(f"circle of imports: {' -> '.join(circle(graph)) or 'none'}")
    n_script = sum(len(p.read_text(encoding="utf-8").splitlines()) for p in scripts)
    print(f"JavaScript: {n_script} lines in {len(scripts)} files")
    for line in up(graph):
        print(f"  up: {line}")


if __name__ == "__main__":
    main()
