"""Test that a Python function scales: `@scales` makes a test of it, and `run` carries it out in a fresh process."""

import importlib
import importlib.util
import os
import sys
import time
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from types import ModuleType
from typing import Any

from scalograph.notebook.scaling_assertion import assert_scales

# A module of its own in the folder of a test may have the name of one of ours: ours are imported first.
_START = "from scalograph.notebook.scaled_function import run; run()"


def scales(
    threads: Sequence[int] = (1, 2, 4), at_least: float = 1.5, *, runs: int = 10, budget: str = "5min",
    per_worker: bool = False,
) -> Callable[[Callable[[int], object]], Callable[[], None]]:  # fmt: skip
    """Make a test of a function that does its work with so many threads, or processes.

    The function takes the count. Each run imports its module in a fresh process and calls it once; only the call is
    measured. The test passes, fails, or is skipped as `assert_scales` decides, which also names the arguments. Threads
    of Python code run at once only where Python has no global interpreter lock.
    """

    def decorate(function: Callable[[int], object]) -> Callable[[], None]:
        def test() -> None:
            path = os.pathsep.join(entry for entry in sys.path if entry)
            options = ["--events", "--env", f"PYTHONPATH={path}"]
            code = function.__code__
            command = [sys.executable, "-c", _START, code.co_filename, function.__module__, function.__qualname__]
            assert_scales(
                [*command, "{threads}"], threads, at_least, runs=runs, budget=budget, per_worker=per_worker,
                options=options,
            )  # fmt: skip

        # Not by functools.wraps: pytest would see the parameter and look for a fixture.
        test.__name__, test.__qualname__, test.__doc__ = function.__name__, function.__qualname__, function.__doc__
        test.__module__ = function.__module__
        vars(test)["scaled"] = function
        return test

    return decorate


def run() -> None:
    """Carry out the function that the arguments name, once, and write its window: file, module, name, count."""
    file, module, name, count = sys.argv[1:]
    holder: Any = _load(Path(file), module)
    for part in name.split("."):
        holder = getattr(holder, part)
    call = partial(holder.scaled if hasattr(holder, "scaled") else holder, int(count))
    events = os.environ.get("SCALOGRAPH_EVENTS")
    with Path(events or os.devnull).open("w", encoding="utf-8") as out:
        out.write("ready\n")
        out.flush()
        if go := os.environ.get("SCALOGRAPH_GO"):
            with Path(go).open("rb") as gate:
                gate.read(1)
        start, cpu = time.monotonic_ns(), time.process_time_ns()
        call()
        end = time.monotonic_ns()
        out.write(f"iteration 0 {start} {end} 1 {time.process_time_ns() - cpu}\n")


def _load(file: Path, name: str) -> ModuleType:
    """Import a module by its name, or its file where the name leads elsewhere."""
    try:
        module = importlib.import_module(name)
        if module.__file__ and Path(module.__file__).resolve() == file.resolve():
            return module
    except ImportError:
        pass
    spec = importlib.util.spec_from_file_location(name, file)
    if spec is None or spec.loader is None:
        raise ImportError(f"{file} is no Python module")
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    spec.loader.exec_module(module)
    return module
