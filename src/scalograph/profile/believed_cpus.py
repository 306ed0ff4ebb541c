"""Ask a program under a quota how many CPUs it believes to have, and measure the variable that mends it."""

import mmap
import os
import re
import shutil
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from math import ceil
from pathlib import Path
from statistics import median

from scalograph.analysis.ratios import paired_ratio
from scalograph.control.control import Launch
from scalograph.errors import HostError
from scalograph.profile.what_if import PAIRS
from scalograph.protocol.record import Record
from scalograph.run.hosts.base import Host, Tell
from scalograph.run.plan import Plan
from scalograph.run.runner import Runner
from scalograph.text.answer_form import factor_with_ends
from scalograph.text.quantities import count_noun
from scalograph.text.units import format_duration
from scalograph.text.warning_catalog import warning_text

# How long a program may take to say it; how long all pairs may take together, and the fewest that are run.
_ASK_S, _PAIRS_S, _FEWEST = 10.0, 30.0, 3


@dataclass(frozen=True)
class Runtime:
    """A runtime that sizes its pools by the CPUs that it sees; `variable` sets their number, by `value`.

    `says` is the number in what it writes; without, its threads beside the main one count. `program` is its name;
    without, programs hold one of `marks`. `asks` behind its program, or `env`, make it say the number. `obeys`: that
    follows the variable.
    """

    variable: str
    says: str = ""
    program: str = ""
    asks: tuple[str, ...] = ()
    marks: tuple[bytes, ...] = ()
    env: Mapping[str, str] = field(default_factory=dict)
    value: str = "{}"
    obeys: bool = True


_PYTHON, _OPENMP = (
    "import os; print(getattr(os, 'process_cpu_count', os.cpu_count)())",
    r"OMP_NUM_THREADS\s*=\s*'(\d+)'",
)
_JAVA, _NODE = r"active_processor_count: [^\n]*?: ?(\d+)", "require('os').availableParallelism()"
_MARKS = (b"libgomp.so", b"libomp.so", b"libiomp5.so")
RUNTIMES = {
    "Java": Runtime("JAVA_TOOL_OPTIONS", _JAVA, "java", ("-Xlog:os=trace:stderr", "-version"),
                    value="-XX:ActiveProcessorCount={}"),
    "Python": Runtime("PYTHON_CPU_COUNT", r"^(\d+)$", r"python[\d.]*", ("-c", _PYTHON)),
    # Its thread pool has four threads whatever it sees; the variable sets these.
    "Node": Runtime("UV_THREADPOOL_SIZE", r"^(\d+)$", "node(js)?", ("-p", _NODE), obeys=False),
    # It writes such a line at once, and another one each 100 s.
    "Go": Runtime("GOMAXPROCS", r"gomaxprocs=(\d+)", marks=(b" Go buildinf:",), env={"GODEBUG": "schedtrace=100000"}),
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


def believed_note(planned: Plan, host: Host, runner: Runner, tell: Tell) -> str:
    """Return what the program of the run with the least quota believes, if that is too much; else empty."""
    if runner.most_limited is None:
        return ""
    try:
        return BeliefCheck(planned, host, runner, tell).note()
    except (HostError, KeyboardInterrupt):
        return ""  # the study is complete all the same


class BeliefCheck:
    """Asks the program of a run under its limits, and repeats the run with the variable."""

    def __init__(self, planned: Plan, host: Host, runner: Runner, tell: Tell) -> None:
        assert runner.most_limited is not None
        self._planned, self._host, self._tell = planned, host, tell
        self._quota, run, self._wall_s = runner.most_limited
        self._spec = runner.specification(run)
        launch = self._spec.launches[0]
        self._name = "" if launch.name else find_runtime(launch.argv[0], launch.env.get("PATH"))

    def note(self) -> str:
        """Return what the program believes, and what the variable changes; empty if it believes no more than it has."""
        if not self._name:
            return ""
        row, n, believed = RUNTIMES[self._name], ceil(self._quota), self._ask({})
        if believed is None or believed <= n:
            return ""
        value = row.value.format(n)
        if not row.obeys or self._ask({row.variable: value}) == n:
            effect = f"with {row.variable}={value}, {self._try(row.variable, value)}"
        else:
            effect = f"{row.variable}={value} does not change that in this version"
        return warning_text("believes", runtime=self._name, n=believed, quota=f"{self._quota:g}", effect=effect)

    def _ask(self, more: Mapping[str, str]) -> int | None:
        row = RUNTIMES[self._name]

        def ask(launch: Launch) -> Launch:
            options = [word for word in launch.argv[1:] if word.startswith("-X")]
            argv = (launch.argv[0], *options, *row.asks) if row.asks else launch.argv
            return replace(launch, argv=argv, env={**launch.env, **row.env, **more}, copies=1)

        record = self._measure(ask, capture=True, timeout_s=min(_ASK_S, self._spec.timeout_s))
        if not row.says:
            return None if record.run.n_tasks is None else record.run.n_tasks - 1
        written = "\n".join(f"{copy.stdout or ''}\n{copy.stderr_tail}" for copy in record.copies)
        numbers = re.findall(row.says, written, re.MULTILINE)
        return int(numbers[-1]) if numbers else None

    def _try(self, variable: str, value: str) -> str:
        """Run pairs without and with the variable, each second one the other way round; return what it changes."""
        n_pairs = min(PAIRS, int(_PAIRS_S / max(2 * self._wall_s, 1e-9)))
        times: tuple[list[float], list[float]] = ([], [])
        if n_pairs < _FEWEST:
            return "speed was not measured: runs are too long"
        self._tell(f"{self._name} sees more CPUs than its quota: {n_pairs} pairs of runs, without and with {variable}")
        for number in range(n_pairs):
            for index in (0, 1) if number % 2 == 0 else (1, 0):
                more = {variable: value} if index else {}
                record = self._measure(lambda launch, more=more: replace(launch, env={**launch.env, **more}))  # type: ignore[misc]
                if record.run.status != "ok" or not record.run.wall_ns:
                    return "runs fail"
                times[index].append(record.run.wall_ns / 1e9)
        speed = factor_with_ends(paired_ratio(*times, self._planned.design.study.protocol.confidence))
        return f"speed is {speed} ({count_noun(n_pairs, 'pair')} of {format_duration(median(times[0]))})"

    def _measure(self, change: Callable[[Launch], Launch], **more: bool | float) -> Record:
        launches = tuple(change(launch) for launch in self._spec.launches)
        with self._host.apply_settings(self._planned, self._spec.run.configuration):
            return self._host.measure(replace(self._spec, launches=launches, echo=None, **more))  # type: ignore[arg-type]
