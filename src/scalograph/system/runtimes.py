"""Runtimes that size their pools by the CPUs that they see: how each is known, asked, and given another number."""

import mmap
import os
import re
import shutil
import subprocess
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

_ASK_S, _HEAD_BYTES = 10.0, 256


@dataclass(frozen=True)
class Runtime:
    """A runtime that sizes its pools by the CPUs that it sees; `variable` sets their number, by `value`.

    `says` is the number in what it writes; without, its threads beside the main one count. `program` is its name;
    without, programs hold one of `marks`. `asks` behind its program, or `env`, make it say the number. `obeys`: that
    follows the variable. `tool` is an installed program that says it for this machine; empty for none.
    """

    variable: str
    says: str = ""
    program: str = ""
    asks: tuple[str, ...] = ()
    marks: tuple[bytes, ...] = ()
    env: Mapping[str, str] = field(default_factory=dict)
    value: str = "{}"
    obeys: bool = True
    tool: tuple[str, ...] = ()

    def setting(self, n: int, env: Mapping[str, str]) -> str:
        """Return the value of the variable for `n` CPUs; words are added to those that it has."""
        value = self.value.format(n)
        return f"{env[self.variable]} {value}" if self.value != "{}" and self.variable in env else value

    def number_in(self, text: str) -> int | None:
        """Return the number in what it wrote; None where it wrote none."""
        numbers = re.findall(self.says, text, re.MULTILINE)
        return int(numbers[-1]) if numbers else None


_PYTHON, _OPENMP = (
    "import os; print(getattr(os, 'process_cpu_count', os.cpu_count)())",
    r"OMP_NUM_THREADS\s*=\s*'(\d+)'",
)
_JAVA, _NODE = r"active_processor_count: [^\n]*?: ?(\d+)", "require('os').availableParallelism()"
_MARKS = (b"libgomp.so", b"libomp.so", b"libiomp5.so")
RUNTIMES = {
    "Java": Runtime("JAVA_TOOL_OPTIONS", _JAVA, "java", ("-Xlog:os=trace:stderr", "-version"),
                    value="-XX:ActiveProcessorCount={}", tool=("java",)),
    "Python": Runtime("PYTHON_CPU_COUNT", r"^(\d+)$", r"python[\d.]*", ("-c", _PYTHON), tool=("python3",)),
    # Its thread pool has four threads whatever it sees; the variable sets these.
    "Node": Runtime("UV_THREADPOOL_SIZE", r"^(\d+)$", "node(js)?", ("-p", _NODE), obeys=False,
                    tool=("node",)),
    # It writes such a line at once, and another one each 100 s.
    "Go": Runtime("GOMAXPROCS", r"gomaxprocs=(\d+)", marks=(b" Go buildinf:",), env={"GODEBUG": "schedtrace=100000"},
                  tool=("go", "version")),
    "OpenMP": Runtime("OMP_NUM_THREADS", _OPENMP, marks=_MARKS, env={"OMP_DISPLAY_ENV": "TRUE"}),
    "Rayon": Runtime("RAYON_NUM_THREADS", marks=(b"RAYON_NUM_THREADS",), obeys=False),
}  # fmt: skip


def find_runtime(program: str, path: str | None = None) -> str:
    """Return the runtime of a program by its name, or by what its file holds; empty for none that is known."""
    name = Path(program).name
    if named := next((key for key, row in RUNTIMES.items() if row.program and re.fullmatch(row.program, name)), ""):
        return named
    file = Path(shutil.which(program, path=path) or os.devnull)
    try:
        with file.open("rb") as stream, mmap.mmap(stream.fileno(), 0, access=mmap.ACCESS_READ) as content:
            rows = RUNTIMES.items() if content[:4] == b"\x7fELF" else ()
            return next((key for key, row in rows if any(content.find(mark) >= 0 for mark in row.marks)), "")
    except (OSError, ValueError):  # an empty file cannot be mapped
        return ""


def interpreter_of(program: str, path: str | None = None) -> str:
    """Return the program that a script names in its first line; of any other file, the program itself."""
    file = Path(shutil.which(program, path=path) or os.devnull)
    try:
        with file.open("rb") as stream:
            head = stream.read(_HEAD_BYTES)
    except OSError:
        return program
    words = head.partition(b"\n")[0].removeprefix(b"#!").decode(errors="replace").split() if head[:2] == b"#!" else []
    if words and words[0].rpartition("/")[2] == "env":
        words = [word for word in words[1:] if not word.startswith("-") and "=" not in word]
    return words[0] if words else program


def ask_installed(environ: Mapping[str, str] = os.environ) -> dict[str, int]:
    """Return how many CPUs each installed runtime sees from here."""
    believed: dict[str, int] = {}
    for name, row in RUNTIMES.items():
        if row.tool and shutil.which(row.tool[0], path=environ.get("PATH")):
            n = row.number_in(_output([*row.tool, *row.asks], {**environ, **row.env}))
            believed |= {name: n} if n is not None else {}
    return believed


def _output(argv: Sequence[str], environ: Mapping[str, str]) -> str:
    try:
        done = subprocess.run(
            argv, env=environ, stdin=subprocess.DEVNULL, capture_output=True, text=True, errors="replace",
            timeout=_ASK_S, check=False,
        )  # fmt: skip
    except (OSError, subprocess.TimeoutExpired):
        return ""
    return f"{done.stdout}\n{done.stderr}"
