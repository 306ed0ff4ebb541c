"""Count the instructions of two versions with cachegrind: two runs of each, in the order A, B, B, A.

A count says nothing about time: caches, branches, locks, sleep, I/O, and the kernel are not in it.
"""

import shutil
import subprocess
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from statistics import fmean
from typing import Any, Literal

from scalograph.errors import HostError
from scalograph.profile.perf_runs import first_stderr_line, select_configurations
from scalograph.run.hosts.base import Echo, Host, Tell
from scalograph.run.plan import Plan
from scalograph.run.runner import Runner
from scalograph.run.session import run_in_memory
from scalograph.study.levels import Configuration
from scalograph.study.scalars import Level
from scalograph.system.private_dir import scratch

CountAnswer = Literal["failed", "more", "inconclusive", "fewer", "equivalent"]
# The worst configuration decides, in this order.
SEVERITY: tuple[CountAnswer, ...] = ("failed", "more", "inconclusive", "fewer", "equivalent")
INSTALL = "apt install valgrind"
_OPTIONS = ("--tool=cachegrind", "--cache-sim=no", "--trace-children=yes", "--vgdb=no")
_COUNTS, _TAIL_BYTES, _START_S = "counts", 4096, 60
_TEMPLATE_CHARS = "{}%"  # ours and valgrind's


@dataclass(frozen=True)
class CountedConfiguration:
    """Instructions of both versions with the same other levels, one number for each run.

    `reason` says why a run has none; `is_over_budget` whether none was made.
    """

    levels: Mapping[str, Level]
    reference: tuple[int, ...] = ()
    other: tuple[int, ...] = ()
    reason: str = ""
    is_over_budget: bool = False

    @property
    def ratio(self) -> float | None:
        """Return the mean count of the other version over that of the reference."""
        return fmean(self.other) / fmean(self.reference) if self.reference and self.other else None

    @property
    def spread(self) -> float | None:
        """Return the largest difference between the runs of one version, as a share of its mean."""
        return max(
            ((max(runs) - min(runs)) / fmean(runs) for runs in (self.reference, self.other) if runs), default=None
        )

    def ends(self) -> tuple[float, float]:
        """Return the smallest and the largest ratio of a run of each."""
        return min(self.other) / max(self.reference), max(self.other) / min(self.reference)

    def answer(self, margin: float) -> CountAnswer:
        """Decide whether the work grew: a difference counts above the margin and above twice the spread.

        >>> CountedConfiguration({}, (1000, 1000), (1010, 1010)).answer(0.001)
        'more'
        >>> CountedConfiguration({}, (1000, 1008), (1012, 1012)).answer(0.001)
        'inconclusive'
        """
        if self.ratio is None or self.spread is None:
            return "inconclusive" if self.is_over_budget else "failed"
        by = abs(self.ratio - 1)
        if by + self.spread <= margin:
            return "equivalent"
        if by <= margin or self.spread > by / 2:
            return "inconclusive"
        return "more" if self.ratio > 1 else "fewer"

    def document(self, margin: float) -> dict[str, Any]:
        return {**asdict(self), "ratio": self.ratio, "spread": self.spread, "answer": self.answer(margin)}


def find_valgrind() -> tuple[str, str]:
    """Return the path of valgrind and its version. Raises HostError: it is missing, or does not start."""
    path = shutil.which("valgrind")
    if path is None:
        raise HostError("", "valgrind is not on PATH", "", f"{INSTALL} (it counts the instructions)")
    try:
        done = subprocess.run(
            [path, "--version"], stdin=subprocess.DEVNULL, capture_output=True, text=True, errors="replace",
            timeout=_START_S, check=False,
        )  # fmt: skip
    except (OSError, subprocess.TimeoutExpired) as error:
        raise HostError(path, "cannot be started", "", f"install it again: {INSTALL}") from error
    return path, done.stdout.strip()[:60]


def count_instructions(
    planned: Plan, host: Host, valgrind: str, budget_s: float, tell: Tell, echo: Echo | None = None
) -> Iterator[CountedConfiguration]:
    """Count both versions with each combination of the other levels. The caller holds the machine lock.

    Args:
        planned: a ready plan, whose study declares the reference.
        host: makes the runs, with the time limit, steps, and environment of the study.
        valgrind: its path.
        budget_s: seconds from now after which no combination begins; the first one always does.
        tell: gets a line for each run.
        echo: as of a run.
    """
    until, is_first = time.monotonic() + budget_s, True
    with scratch("count") as folder:
        counting = _add_cachegrind(planned, valgrind, folder)
        for levels, pair in _pairs(planned):
            if is_first or time.monotonic() < until:
                yield _count_pair(counting, host, folder / _COUNTS, levels, pair, tell, echo)
            else:
                yield CountedConfiguration(levels, reason="the budget ended before", is_over_budget=True)
            is_first = False


def _pairs(planned: Plan) -> Iterator[tuple[dict[str, Level], list[Configuration]]]:
    """Yield the configurations that differ in the version alone, the reference first."""
    ((factor, reference),) = planned.design.study.reference.items()
    pairs: list[tuple[dict[str, Level], list[Configuration]]] = []
    for configuration in planned.design.configurations:
        levels = {name: level for name, level in configuration.items() if name != factor}
        pair = next((pair for before, pair in pairs if before == levels), None)
        if pair is None:
            pairs.append((levels, [configuration]))
        else:
            pair.append(configuration)
    for levels, pair in pairs:
        yield levels, sorted(pair, key=lambda each: each[factor] != reference)


def _add_cachegrind(planned: Plan, valgrind: str, folder: Path) -> Plan:
    if set(_TEMPLATE_CHARS) & set(f"{folder}{valgrind}"):
        raise HostError("", f'"{folder}" has one of {_TEMPLATE_CHARS} in it', "", "set TMPDIR to another folder")
    (folder / _COUNTS).mkdir()
    files = (f"--log-file={folder}/log.%p", f"--cachegrind-out-file={folder / _COUNTS}/%p")
    (process,) = planned.program.processes
    argv = (valgrind, *_OPTIONS, *files, "--", *process.argv)
    return replace(planned, program=replace(planned.program, processes=(replace(process, argv=argv),)))


def _count_pair(
    planned: Plan, host: Host, counts: Path, levels: Mapping[str, Level], pair: Sequence[Configuration], tell: Tell,
    echo: Echo | None,
) -> CountedConfiguration:  # fmt: skip
    runs: list[list[int]] = [[], []]
    for which in (0, 1, 1, 0):
        named = ", ".join(f"{name} = {level}" for name, level in pair[which].items())
        tell(f"  count: {named}")
        once = select_configurations(planned, [pair[which]])
        ((_, record, _),) = run_in_memory(once, Runner(once, host, echo=echo))
        n = _take_counts(counts)
        if record.run.status != "ok" or n is None:
            status = f"the run has {record.run.status}: {record.run.reason or 'no reason given'}"
            reason = status if record.run.status != "ok" else "valgrind left no count"
            reason = "; ".join(filter(None, [f"{named}: {reason}", first_stderr_line(record)]))
            return CountedConfiguration(levels, reason=reason[:400])
        runs[which].append(n)
    return CountedConfiguration(levels, tuple(runs[0]), tuple(runs[1]))


def _take_counts(folder: Path) -> int | None:
    """Return the instructions of all processes of a run, and remove their files; None if one has no count."""
    files = [*folder.iterdir()]
    counts = [read_count(file) for file in files]
    for file in files:
        file.unlink()
    return sum(n for n in counts if n is not None) if counts and None not in counts else None


def read_count(file: Path) -> int | None:
    """Return the instructions in a cachegrind file: the first number of its last line; None where it was cut."""
    with file.open("rb") as stream:
        stream.seek(max(0, file.stat().st_size - _TAIL_BYTES))
        last = stream.read().decode(errors="replace").splitlines()[-1:]
    words = last[0].split() if last else []
    return int(words[1]) if words[:1] == ["summary:"] and words[1:] and words[1].isdecimal() else None
