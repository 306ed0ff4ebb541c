"""An independent witness: who else was on a CPU while a run lasted? It shares no code with the probe.

`perf record` keeps every switch of every CPU (sched:sched_switch). Where that is not granted, /proc/stat stands in:
busy time of all CPUs less the run's own CPU time, in ticks of 10 ms, which tells less. Steal is read in both cases.
"""

import os
import re
import resource
import shutil
import subprocess
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import TypeVar

# Names under which the run itself and those who launch it appear; names are cut at 15 characters.
RUN = "verdict_work"
OWN = (RUN, "scalograph-prob", "swapper")
# The kernel's own threads work for the run (its pages, its threads that end) as for anybody, on a quiet machine too.
KERNEL = ("kworker/", "ksoftirqd/", "rcu", "kdamond", "migration/", "kcompactd", "kswapd", "cpuhp/", "irq/")
QUIET, KERNEL_S = 0.005, 0.001
TICK_S = 0.01
_PERF = ["perf", "record", "-q", "-a", "-k", "CLOCK_MONOTONIC", "-e", "sched:sched_switch"]
_SWITCH = re.compile(r"\[(\d+)\]\s+([0-9.]+):.*prev_comm=(.+?) prev_pid=.*==> next_comm=(.+?) next_pid=")
T = TypeVar("T")
Switch = tuple[int, float, str, str]


@dataclass(frozen=True, slots=True)
class Seen:
    """What the witness saw of one run.

    Attributes:
        others_s: time that others of this system had, on any CPU.
        stolen_s: time that the hypervisor took, in ticks of 10 ms.
        lasted_s: wall time of the run.
        by: the source.
    """

    others_s: float
    stolen_s: float
    lasted_s: float
    by: str

    @property
    def lost_s(self) -> float:
        """What others and the hypervisor took, beyond the millisecond that any kernel needs for itself."""
        return max(0.0, self.others_s + self.stolen_s - KERNEL_S)

    @property
    def alone(self) -> bool:
        """Whether nobody else ran, but for that and 0.5% of the time, whatever the hypervisor did."""
        return self.others_s <= QUIET * self.lasted_s + KERNEL_S

    @property
    def undisturbed(self) -> bool:
        """Whether that was less than 0.5% of the time."""
        return self.lost_s <= QUIET * self.lasted_s


def witnessed(folder: Path, measure: Callable[[], T]) -> tuple[T, Seen]:
    """What was measured, and what the witness saw meanwhile."""
    if not _records_granted():
        return by_ticks(measure)
    kept = folder / "switches"
    stolen = _ticks()[1]
    with _recording(kept):
        value = measure()
    asked = ["perf", "script", "-i", str(kept), "-F", "comm,tid,cpu,time,trace"]
    text = subprocess.run(asked, capture_output=True, text=True, check=True).stdout
    found = switches(text.splitlines())
    begin, end = _window(found)
    # A tick of steal is 2% of half a second: where one shows, nobody knows how much there was.
    return value, Seen(others(found), _ticks()[1] - stolen, end - begin, "perf")


def switches(lines: Iterable[str]) -> list[Switch]:
    """CPU, time in seconds, who goes and who comes, of each line of `perf script`, in order of time."""
    found = (_SWITCH.search(line) for line in lines)
    return sorted(((int(m[1]), float(m[2]), m[3], m[4]) for m in found if m), key=lambda switch: switch[1])


def _window(found: list[Switch]) -> tuple[float, float]:
    """From the first moment at which the run is on a CPU to the last; what launches it is no part of it."""
    begin = [at for _, at, _, comes in found if comes == RUN]
    end = [at for _, at, goes, _ in found if goes == RUN]
    if not begin or not end:
        raise SystemExit(f"perf record: found no switch of {RUN}, expected some; run it by hand")
    return min(begin[0], end[0]), max(begin[-1], end[-1])


def others(found: list[Switch]) -> float:
    """Time that others had on the CPUs while the run lasted, in seconds."""
    begin, end = _window(found)
    total = 0.0
    last: dict[int, float] = {}
    for cpu, at, goes, _ in found:
        total += _alien(goes, max(last.get(cpu, 0.0), begin), min(at, end))
        last[cpu] = at
    now = {cpu: comes for cpu, _, _, comes in found}
    return total + sum(_alien(now[cpu], max(at, begin), end) for cpu, at in last.items())


def _alien(who: str, begin: float, end: float) -> float:
    return 0.0 if who.startswith(OWN + KERNEL) else max(0.0, end - begin)


@cache
def _records_granted() -> bool:
    if not shutil.which("perf"):
        return False
    asked = [*_PERF, "-o", os.devnull, "true"]
    return subprocess.run(asked, capture_output=True, check=False).returncode == 0


@contextmanager
def _recording(kept: Path) -> Iterator[None]:
    """From the moment at which perf says that it records: it takes a while to start, most of all on a busy machine."""
    (orders, order), (answer, answers) = os.pipe(), os.pipe()
    # It ends by itself after a while, should nobody be left to end it.
    control = ["-D", "-1", "--control", f"fd:{orders},{answers}", "-o", str(kept), "sleep", "300"]
    with subprocess.Popen(
        [*_PERF, *control], pass_fds=(orders, answers), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    ) as perf:
        os.close(orders)
        os.close(answers)
        os.write(order, b"enable\n")
        if not os.read(answer, 16):
            raise SystemExit("perf record: ended before it recorded, expected a recording of every CPU; run it by hand")
        try:
            yield
        finally:
            perf.terminate()
    os.close(order)
    os.close(answer)


def by_ticks(measure: Callable[[], T]) -> tuple[T, Seen]:
    """Busy time of the machine that is not the run's: nothing below two ticks a CPU."""
    (busy, stolen), own, begin = _ticks(), _children_s(), time.monotonic()
    value = measure()
    (busy, stolen), own = (a - b for a, b in zip(_ticks(), (busy, stolen), strict=True)), _children_s() - own
    n = 2 * (os.cpu_count() or 1)
    return value, Seen(_real(busy - own, n), _real(stolen, 2), time.monotonic() - begin, "/proc/stat")


def _real(seconds: float, ticks: int) -> float:
    return seconds if seconds > ticks * TICK_S else 0.0


def _children_s() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def _ticks() -> tuple[float, float]:
    """Busy and stolen time of all CPUs since boot, in seconds."""
    user, nice, system, _idle, _wait, irq, softirq, steal = map(int, Path("/proc/stat").read_text().split()[1:9])
    return (user + nice + system + irq + softirq) * TICK_S, steal * TICK_S
