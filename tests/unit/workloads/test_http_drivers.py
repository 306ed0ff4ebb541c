"""What wrk, oha and k6 print becomes lines that a probe takes; what they do not tell is absent; what they cannot do is said."""

import importlib
import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from scalograph.run.hosts.python_probe.lines import Limits, Speech
from scalograph.study.workload import load, shipped

HERE = shipped("http-drivers")
SAMPLES = Path(__file__).parents[2] / "recorded" / "drivers"
# Names of modules in the workload's folder; no other test may find them.
MODULES = ("asked", "told", "wrk", "oha", "k6", "drive")


@pytest.fixture(scope="module")
def module() -> Iterator[Callable[[str], ModuleType]]:
    sys.path.insert(0, str(HERE))
    yield importlib.import_module
    sys.path.remove(str(HERE))
    for name in MODULES:
        sys.modules.pop(name, None)


def started(*arguments: str, path: str = "") -> subprocess.CompletedProcess[str]:
    argv = [sys.executable, "-B", str(HERE / "drive.py"), *arguments]
    return subprocess.run(argv, capture_output=True, text=True, check=False, env={"PATH": path})


def sample(name: str) -> str:
    return (SAMPLES / name).read_text()


def lines(module: Callable[[str], ModuleType], tool: str, name: str, **asked: Any) -> list[str]:
    wanted = module("asked").parse([f"tool={tool}", *(f"{key}={value}" for key, value in asked.items())])
    return [*module("told").lines(module(tool).read(sample(name)), wanted, 20 * 10**9, 1.25)]


def values(said: list[str]) -> dict[str, float]:
    return {words[1]: float(words[2]) for words in map(str.split, said) if words[0] == "value"}


def test_wrk_tells_answers_quantiles_and_threads(module: Callable[[str], ModuleType]) -> None:
    found = values(lines(module, "wrk", "wrk.txt", clients=16))
    assert found == {
        "requests": 0, "errors": 0, "rate": pytest.approx(0), "p50_ns": 0, "p90_ns": 0, "p99_ns": 0, "max_ns": 0,
        "clients": 16, "threads": 1, "driver_cpu_ns": 1.25e9,
    }  # fmt: skip
