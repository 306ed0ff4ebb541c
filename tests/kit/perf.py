"""Made-up recordings of perf, as `perf script` prints them."""

from collections.abc import Sequence

from scalograph.profile.cpu_budget import CpuBudget
from scalograph.profile.perf_trace import Trace, parse_trace

MS = 1_000_000
LOCK = ["schedule ([kernel.kallsyms])", "futex_wait ([kernel.kallsyms])", "__pthread_mutex_lock (/lib/libc.so.6)"]
BARRIER = [*LOCK[:2], "pthread_barrier_wait (/lib/libc.so.6)"]
CONDITION = [*LOCK[:2], "pthread_cond_wait@@GLIBC_2.3.2 (/lib/libc.so.6)"]
DISK = ["schedule ([kernel.kallsyms])", "io_schedule ([kernel.kallsyms])", "__x64_sys_fsync ([kernel.kallsyms])"]


class Recording:
    """Lines of `perf script` of made-up tasks; times in ms."""

    def __init__(self) -> None:
        self.lines = list[tuple[int, list[str]]]()

    def add(self, tid: int, ms: float, text: str, frames: Sequence[str] = (), cpu: int = 0, pid: int = 7) -> None:
        ns = round(ms * MS)
        head = f" {pid}/{tid} [{cpu:03d}] {ns // 10**9}.{ns % 10**9:09d}: {text}"
        self.lines.append((ns, [head, *(f"\t{16 * i + 16:x} {frame}" for i, frame in enumerate(frames)), ""]))

    def stay(
        self, tid: int, start: float, end: float, stack: Sequence[str] = (), *, preempt: bool = False,
        works: str = "spin", cpu: int = 0, pid: int = 7,
    ) -> None:  # fmt: skip
        self.add(tid, start, "PERF_RECORD_SWITCH IN", cpu=cpu, pid=pid)
        frames = [f"{works} (/bin/prog)", "worker (/bin/prog)"]
        self.add(tid, (start + end) / 2, "cpu-clock/freq=99/: ", frames, pid=pid)
        if stack:
            self.add(tid, end - 1e-5, "context-switches/period=1/: ", [*stack, "insert (/bin/prog)"], pid=pid)
        self.add(tid, end, "PERF_RECORD_SWITCH OUT" + (" preempt" if preempt else ""), cpu=cpu, pid=pid)

    def wake(self, tid: int, ms: float, wakee: int, frames: Sequence[str] = ("wake_up_q ([kernel.kallsyms])",)) -> None:
        self.add(tid, ms, f"sched:sched_waking: comm=a b pid={wakee} prio=120 target_cpu=000", frames)

    def parse(self) -> Trace:
        return parse_trace(line for _, lines in sorted(self.lines, key=lambda each: each[0]) for line in lines)


def shares(budget: CpuBudget) -> dict[tuple[str, str], float]:
    """Milliseconds by kind and innermost function, rounded."""
    parts: dict[tuple[str, str], float] = {}
    for cause, seconds in budget.parts.items():
        key = cause.kind, cause.stack[0].name if cause.stack else ""
        parts[key] = round(parts.get(key, 0) + 1000 * seconds, 2)
    return {key: ms for key, ms in parts.items() if ms >= 0.01}
