"""Record which functions each test executes: every function of src marks itself when it is called.

Imported by `seeded_faults.py` in the process of the tests, and as `sitecustomize` by Python processes the tests start.
"""

import ast
import atexit
import builtins
import json
import os
import sys
import time
from collections.abc import Generator, Iterator
from importlib.abc import MetaPathFinder
from importlib.machinery import ModuleSpec, PathFinder, SourceFileLoader
from pathlib import Path
from types import CodeType
from typing import Any

HITS: set[str] = set()
ENDED = "SEEDED_FAULTS_ENDED"  # the folder where a process that ends leaves its functions
Function = ast.FunctionDef | ast.AsyncFunctionDef


def functions(node: ast.AST, prefix: str = "") -> Iterator[tuple[str, Function]]:
    """Yield every function below a node with its qualified name."""
    for child in ast.iter_child_nodes(node):
        name = f"{prefix}{child.name}." if isinstance(child, Function | ast.ClassDef) else prefix
        if isinstance(child, Function):
            yield name[:-1], child
        yield from functions(child, name)


def first_statement(function: Function) -> int:
    """Return the index of the first statement after the docstring."""
    return int(ast.get_docstring(function, clean=False) is not None)


class Marked(SourceFileLoader):
    """Compile a module so that each function adds its name to HITS."""

    def get_code(self, fullname: str) -> CodeType:
        tree = ast.parse(self.get_data(self.path))
        file = self.path.rpartition("/scalograph/")[2]
        for name, function in list(functions(tree)):
            call = ast.Call(ast.Name("__seeded_fault_hit__", ast.Load()), [ast.Constant(f"{file}:{name}")], [])
            at = first_statement(function)
            function.body.insert(at, ast.copy_location(ast.Expr(call), function.body[-1]))
        return compile(ast.fix_missing_locations(tree), self.path, "exec", dont_inherit=True)


class Finder(MetaPathFinder):
    """Load the project's modules by Marked."""

    def find_spec(self, fullname: str, path: Any = None, target: Any = None) -> ModuleSpec | None:
        if fullname.partition(".")[0] != "scalograph":
            return None
        spec = PathFinder.find_spec(fullname, path, target)
        if spec and isinstance(spec.loader, SourceFileLoader):
            spec.loader = Marked(spec.loader.name, spec.loader.path)
        return spec


def install() -> None:
    """Mark everything imported from now on."""
    builtins.__seeded_fault_hit__ = HITS.add  # type: ignore[attr-defined]
    sys.meta_path.insert(0, Finder())


class Recorder:
    """Plugin of pytest: write what each test of one file executes, and its cost in seconds."""

    def __init__(self, out: Path, ended: Path) -> None:
        self.out, self.ended = out, ended
        self.shared: set[str] = set()
        self.tests: dict[str, dict[str, Any]] = {}
        self.not_passed: set[str] = set()

    def _taken(self) -> set[str]:
        hits = set(HITS)
        HITS.clear()
        for file in self.ended.glob("*.json"):
            hits.update(json.loads(file.read_text()))
            file.unlink()
        return hits

    def pytest_collection_finish(self) -> None:
        self.shared |= self._taken()

    def around(self, nodeid: str, is_call: bool) -> Generator[None, object, object]:
        begin, cpu = time.monotonic(), sum(os.times()[:4])
        try:
            return (yield)
        finally:
            hits, wall = self._taken(), time.monotonic() - begin
            test = self.tests.setdefault(nodeid, {"cpu": 0.0, "wall": 0.0, "hits": set()})
            test["cpu"] += sum(os.times()[:4]) - cpu
            test["wall"] += wall
            # What a fixture executes may be executed for every test of its file.
            if is_call:
                test["hits"] = hits
            else:
                self.shared |= hits

    def pytest_runtest_logreport(self, report: Any) -> None:
        if report.outcome != "passed":
            self.not_passed.add(report.nodeid)

    def pytest_sessionfinish(self) -> None:
        names = sorted(set().union(self.shared, *(test["hits"] for test in self.tests.values())))
        numbers = {name: i for i, name in enumerate(names)}
        tests = {
            nodeid: {**test, "hits": sorted(numbers[name] for name in test["hits"])}
            for nodeid, test in self.tests.items()
            if nodeid not in self.not_passed
        }
        shared = sorted(numbers[name] for name in self.shared)
        answer = {"names": names, "shared": shared, "tests": tests, "not_passed": sorted(self.not_passed)}
        self.out.write_text(json.dumps(answer))


def _leave(folder: str) -> None:
    if HITS:
        (Path(folder) / f"{os.getpid()}.json").write_text(json.dumps(sorted(HITS)))


if __name__ == "sitecustomize" and ENDED in os.environ:
    install()
    atexit.register(_leave, os.environ[ENDED])
