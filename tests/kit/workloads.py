"""Workloads that ship, alone: built once, started as the probe starts them, and what they say."""

import os
import re
import subprocess
import sys
from collections.abc import Iterator, Sequence
from functools import cache
from pathlib import Path

import pytest

from scalograph.errors import HostError
from scalograph.protocol.facts import Jvm
from scalograph.run.build import build
from scalograph.study.processes import fill
from scalograph.study.shipped import shipped_workload
from scalograph.study.workload import load_workload
from scalograph.system.platform_facts import find_jvms

JVMS = find_jvms()
FORMS = re.compile(r"ready|iteration \d+ \d+ \d+ \d+( \d+)?|value [a-z][a-z0-9_]{0,63} -?\d+(\.\d+)?", re.ASCII)
MASK, START = (1 << 64) - 1, 0x9E3779B97F4A7C15
# What is counted is the same however it was compiled, and these JVMs end before the second compiler pays off.
QUICK = ["-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC"]


@cache
def built(name: str, builds: Path) -> Path | None:
    """Return where a workload is built, once; None where there is nothing to build. Skips without a compiler."""
    try:
        return build(shipped_workload(name), load_workload(shipped_workload(name)), JVMS, builds)
    except HostError as error:
        pytest.skip(f"needs a compiler: {error}")


def jvm(wanted: range = range(11, 1000)) -> Jvm:
    """Return the first JVM of these releases, or skip."""
    found = next((jvm for jvm in JVMS if jvm.release in wanted), None)
    if found is None:
        pytest.skip(f"needs a JVM of release {wanted.start} to {wanted.stop - 1}")
    return found


def words(name: str, builds: Path, **values: object) -> list[str]:
    """Fill the command of a workload; its parameters are the usual ones of two quick iterations where none is given."""
    workload = load_workload(shipped_workload(name))
    known = {parameter: each.default for parameter, each in workload.parameters.items()}
    host = {"build": built(name, builds) or "", "here": shipped_workload(name), "python": sys.executable}
    if "{java}" in workload.argv and "java" not in values:
        host["java"] = jvm().java
    own = {"iterations": 2, "think_ns": 0, "jvm_options": QUICK, **{key: str(value) for key, value in host.items()}}
    return fill(workload.argv, {**known, **own, **values})


def start(argv: Sequence[object], **env: str) -> "subprocess.CompletedProcess[str]":
    """Run a program with nothing but PATH."""
    env = {"PATH": os.environ["PATH"], **env}
    return subprocess.run([*map(str, argv)], env=env, capture_output=True, text=True, timeout=120, check=False)


class Said:
    """The lines of a run that went well."""

    def __init__(self, done: "subprocess.CompletedProcess[str]") -> None:
        assert done.returncode == 0, done.stderr
        lines = done.stdout.splitlines()
        assert lines[0] == "ready"
        assert [line for line in lines if not FORMS.fullmatch(line) or len(line) > 511] == []
        self.iterations = [[int(word) for word in line.split()[1:]] for line in lines if line.startswith("iteration")]
        self.values: dict[str, list[float]] = {}
        for _, name, number in (line.split() for line in lines if line.startswith("value")):
            self.values.setdefault(name, []).append(float(number))
        assert [i for i, *_ in self.iterations] == list(range(len(self.iterations)))
        assert all(start < end for _, start, end, *_ in self.iterations)

    @property
    def work(self) -> list[int]:
        """The work of each iteration."""
        return [work for _, _, _, work, *_ in self.iterations]

    def value(self, name: str) -> float:
        """Return the only value of this name."""
        (value,) = self.values[name]
        return value


def said(name: str, builds: Path, **values: object) -> Said:
    """Run a workload, which goes well."""
    return Said(start(words(name, builds, **values)))


def through_pipes(argv: Sequence[str]) -> Iterator[bytes]:
    """Starts a program as the probe does: yields what it says before it may go, then all the rest."""
    events, said = os.pipe()
    wait, go = os.pipe()
    ends = {"SCALOGRAPH_EVENTS": f"/dev/fd/{said}", "SCALOGRAPH_GO": f"/dev/fd/{wait}"}
    env = {"PATH": os.environ["PATH"], **ends}
    program = subprocess.Popen(argv, env=env, pass_fds=(said, wait), stdout=subprocess.PIPE)
    os.close(said)
    os.close(wait)
    with os.fdopen(events, "rb") as stream:
        yield stream.readline()
        os.set_blocking(events, False)
        yield stream.read() or b""
        os.set_blocking(events, True)
        os.write(go, b"x")
        os.close(go)
        yield stream.read()
    assert program.wait(60) == 0
    assert program.stdout is not None and program.stdout.read() == b""
    program.stdout.close()


def scrambled(x: int, n: int) -> int:
    """Return what n steps of the generator make of a state."""
    for _ in range(n):
        x ^= x << 13 & MASK
        x ^= x >> 7
        x ^= x << 17 & MASK
    return x


def xor_of_ends(n: int, n_steps: int) -> int:
    """Return the result of a loop over elements, by its definition: their ends, one by one, exclusive or."""
    total = 0
    for i in range(1, n + 1):
        total ^= scrambled(i * START & MASK, n_steps)
    return total & (1 << 48) - 1
