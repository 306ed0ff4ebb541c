"""Every place of a tree where a fault can be seeded, and what stands there then."""

import ast
import copy
import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import seeded_faults_map as recording

PACKAGE = "src/scalograph"
COMPARISONS: dict[type, type] = {
    ast.Lt: ast.LtE, ast.LtE: ast.Lt, ast.Gt: ast.GtE, ast.GtE: ast.Gt, ast.Eq: ast.NotEq, ast.NotEq: ast.Eq,
    ast.In: ast.NotIn, ast.NotIn: ast.In, ast.Is: ast.IsNot, ast.IsNot: ast.Is,
}  # fmt: skip
ARITHMETIC: dict[type, type] = {ast.Add: ast.Sub, ast.Sub: ast.Add, ast.Mult: ast.Div, ast.Div: ast.Mult}
SKIPPED = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.JoinedStr, ast.Import, ast.ImportFrom)
TEXT = (ast.JoinedStr, ast.List, ast.ListComp, ast.Tuple)
SPOKEN = re.compile(r"^(log|logger|logging|warn|warnings|print|echo|debug|info)\b")
TRUTH = (ast.Compare, ast.BoolOp)


@dataclass(frozen=True)
class Fault:
    """A change of one function; `ordinal` counts changes of this function that read the same."""

    room: str
    file: str
    function: str
    kind: str
    statement: str
    old: str
    new: str
    ordinal: int = 0


@dataclass(frozen=True)
class Site:
    """A fault and the bytes of its file that it replaces."""

    fault: Fault
    begin: int
    end: int
    text: str

    def apply(self, source: bytes) -> bytes:
        """Return the file with the fault in it."""
        return source[: self.begin] + self.text.encode() + source[self.end :]


def sites_of(tree: Path) -> list[Site]:
    """Return every place of a tree where a fault can be."""
    return [site for file in sorted((tree / PACKAGE).rglob("*.py")) for site in sites_in(file, tree / PACKAGE)]


def sites_in(file: Path, package: Path) -> Iterator[Site]:
    """Yield the places of one file."""
    source, name = file.read_bytes(), file.relative_to(package).as_posix()
    starts = [0]
    for line in source.splitlines(keepends=True):
        starts.append(starts[-1] + len(line))
    room = name.partition("/")[0] if "/" in name else "(root)"
    for function, definition in recording.functions(ast.parse(source)):
        seen = Counter[tuple[str, ...]]()
        for statement, node in _own(definition):
            for kind, changed in _changes(node):
                words = kind, _header(statement), ast.unparse(node), ast.unparse(changed)
                fault = Fault(room, name, function, *words, ordinal=seen[words])
                seen[words] += 1
                text = words[3] if isinstance(node, ast.stmt | ast.Slice) else f"({words[3]})"
                begin, end = (
                    starts[line - 1] + column
                    for line, column in ((node.lineno, node.col_offset), (node.end_lineno, node.end_col_offset))
                )
                yield Site(fault, begin, end, text)


def _own(function: recording.Function) -> Iterator[tuple[ast.stmt, Any]]:
    """Yield the nodes of a function, without docstring, annotations, inner functions and texts."""
    for statement in function.body[recording.first_statement(function) :]:
        yield from _below(statement, statement)


def _below(node: ast.AST, statement: ast.stmt) -> Iterator[tuple[ast.stmt, Any]]:
    if isinstance(node, SKIPPED) or (isinstance(node, ast.Expr) and SPOKEN.match(ast.unparse(node))):
        return
    statement = node if isinstance(node, ast.stmt) else statement
    yield statement, node
    for field, value in ast.iter_fields(node) if not isinstance(node, ast.Raise) else ():
        for child in value if isinstance(value, list) else [value]:
            if isinstance(child, ast.AST) and field != "annotation":
                yield from _below(child, statement)


def _header(statement: ast.stmt) -> str:
    """Return a statement without the statements in it."""
    shallow: Any = copy.copy(statement)
    for field in ("body", "orelse", "finalbody", "handlers", "cases"):
        if hasattr(shallow, field):
            setattr(shallow, field, [ast.Pass()] if field == "body" else [])
    return ast.unparse(shallow)


def _with(node: Any, **fields: Any) -> Any:
    changed = copy.copy(node)
    for name, value in fields.items():
        setattr(changed, name, value)
    return changed


def _changes(node: Any) -> Iterator[tuple[str, ast.AST]]:
    """Yield the faults of one node: their kinds, and what stands there instead."""
    match node:
        case ast.Compare(ops=[operator]) if type(operator) in COMPARISONS:
            yield "comparison", _with(node, ops=[COMPARISONS[type(operator)]()])
        case ast.BinOp(left, operator, right) if type(operator) in ARITHMETIC:
            if not any(isinstance(x, TEXT) or isinstance(getattr(x, "value", 0), str) for x in (left, right)):
                yield "arithmetic", _with(node, op=ARITHMETIC[type(operator)]())
        case ast.Constant(value=value) if type(value) in (int, float):
            yield "constant", ast.Constant(value + 1)
        case ast.BoolOp(op=operator):
            yield "and/or", _with(node, op=ast.Or() if isinstance(operator, ast.And) else ast.And())
        case ast.UnaryOp(op=ast.Not(), operand=operand):
            yield "not", operand
        case ast.Return(value=value) if value is not None and not isinstance(value, ast.Constant):
            is_truth = isinstance(value, TRUTH)
            yield "return", _with(node, value=ast.UnaryOp(ast.Not(), value) if is_truth else ast.Constant(None))
        case ast.Return(value=ast.Constant(value=bool(value))):
            yield "return", _with(node, value=ast.Constant(not value))
        case ast.Expr(value=ast.Call()) | ast.AugAssign() | ast.Raise():
            yield "dropped", ast.Pass()
        case ast.Assign(targets=[ast.Attribute() | ast.Subscript()]):
            yield "dropped", ast.Pass()
        case ast.Call(args=[_, _, *_] as args) if not any(isinstance(x, ast.Starred) for x in args):
            for i in range(len(args) - 1):
                if ast.dump(args[i]) != ast.dump(args[i + 1]):
                    yield "arguments", _with(node, args=[*args[:i], args[i + 1], args[i], *args[i + 2 :]])
        case ast.Slice(lower=lower, upper=upper):
            if lower:
                yield "slice", _with(node, lower=ast.BinOp(lower, ast.Add(), ast.Constant(1)))
            if upper:
                yield "slice", _with(node, upper=ast.BinOp(upper, ast.Sub(), ast.Constant(1)))


def compiles(site: Site, tree: Path) -> bool:
    """Whether the file with the fault is a program, and another one."""
    source = (tree / PACKAGE / site.fault.file).read_bytes()
    try:
        return ast.dump(ast.parse(site.apply(source))) != ast.dump(ast.parse(source))
    except SyntaxError:
        return False
