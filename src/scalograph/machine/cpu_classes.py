"""Measure each CPU alone and in pairs, so that unlike CPUs show where the kernel does not tell.

A worker pinned to each CPU does counted work; its CPU time is read, so that other programs on the CPU matter little.
"""

import random
import select
import subprocess
import sys
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from datetime import UTC, datetime
from itertools import combinations
from statistics import geometric_mean, median
from typing import IO, cast

from scalograph.analysis.ratios import paired_ratio
from scalograph.errors import HostError
from scalograph.machine.examine import LEAST_SHARE, MORE_RUNS, slow_share
from scalograph.protocol.facts import HostFacts
from scalograph.protocol.measured_cpus import CpuClasses, MeasuredCpu, MeasuredPair
from scalograph.text.answer_form import factor_with_ends, fill
from scalograph.text.format import format_cpu_list, named_cpus
from scalograph.text.quantities import count_noun

# Steps of one slice take some 10 ms. A class begins where a CPU is surely slower by more than UNLIKE; two CPUs share
# something where both together surely take SHARING times as long.
STEPS, ROUNDS, UNLIKE, SHARING, CONFIDENCE = 100_000, 15, 0.03, 1.1, 0.95
# With more CPUs not all pairs are measured: neighbors, and those half of all CPUs apart, as kernels number siblings.
ALL_PAIRS = 12
_LIMIT_S = 30.0
# The work before and behind what is timed keeps a CPU at its speed, and its partner at work.
_WORKER = """
import os, sys, time
def work(steps):
    x, began = 1, time.thread_time()
    for _ in range(steps):
        x = x * 1103515245 + 12345 & 0x7FFFFFFF
    return time.thread_time() - began, x
os.sched_setaffinity(0, {int(sys.argv[1])})
for line in sys.stdin:
    _, (seconds, x), _ = [work(steps) for steps in (int(line) // 4, int(line), int(line) // 4)]
    print(seconds, x, flush=True)
"""

# One CPU, or two at once; by these, seconds of CPU time of each in each round.
Turn = tuple[int, ...]
Times = Mapping[Turn, Sequence[Sequence[float]]]


def measure_classes(facts: HostFacts, tell: Callable[[str], object], rounds: int = ROUNDS) -> CpuClasses:
    """Measure the CPUs of this machine; the caller holds the machine lock.

    Raises HostError: a CPU cannot be used, or a worker does not answer.
    """
    cpus = [cpu.cpu for cpu in facts.cpus]
    turns = [*((cpu,) for cpu in cpus), *choose_pairs(facts)]
    tell(f"{len(cpus)} CPUs alone, {count_noun(len(turns) - len(cpus), 'pair')}: {rounds} rounds")
    times, chance = defaultdict[Turn, list[list[float]]](list), random.Random(1)
    with _workers(cpus) as time_work:
        for _ in range(rounds):
            for turn in chance.sample(turns, len(turns)):
                times[turn].append(time_work(turn))
    at = datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
    return classify(times).model_copy(update={"at": at, "cpu_model": facts.cpu_model})


def choose_pairs(facts: HostFacts) -> list[Turn]:
    """Return the pairs to measure: all of few CPUs, else those that are likely to share a core."""
    cpus = [cpu.cpu for cpu in facts.cpus]
    if len(cpus) <= ALL_PAIRS:
        return [*combinations(cpus, 2)]
    near = {(cpus[i], cpus[i + step]) for step in (1, len(cpus) // 2) for i in range(len(cpus) - step)}
    return sorted(near | {(a.cpu, b.cpu) for a, b in combinations(facts.cpus, 2) if a.core == b.core})


def classify(times: Times) -> CpuClasses:
    """Return the classes that times show, round by round.

    Each CPU is compared with the fastest of its class, and each pair with both alone: geometric means of the two.
    """
    alone = {turn[0]: [seconds for (seconds,) in every] for turn, every in times.items() if len(turn) == 1}
    paired = {turn: every for turn, every in times.items() if len(turn) == 2}
    order = sorted(alone, key=lambda cpu: (median(alone[cpu]), cpu))
    level = 1 - (1 - CONFIDENCE) / max(1, len(order) - 1)
    classes, leaders = dict[int, int](), order[:1]
    for cpu in order:
        slower = paired_ratio(alone[cpu], alone[leaders[-1]], level)
        if cpu != leaders[-1] and slower.low is not None and slower.low > 1 + UNLIKE:
            leaders.append(cpu)
        classes[cpu] = len(leaders) - 1
    level = 1 - (1 - CONFIDENCE) / max(1, len(paired))
    both = {(a, b): [*zip(alone[a], alone[b], strict=True)] for a, b in paired}
    slowdowns = {
        turn: paired_ratio([*map(geometric_mean, every)], [*map(geometric_mean, both[turn])], level)
        for turn, every in paired.items()
    }
    shared = _group([turn for turn, ratio in slowdowns.items() if ratio.low is not None and ratio.low > SHARING])
    measured = tuple(
        MeasuredCpu(
            cpu=cpu, speed=paired_ratio(alone[order[0]], alone[cpu], level), speed_class=classes[cpu],
            slow_share=slow_share(alone[cpu], min(alone[cpu]))[0], shared=shared.get(cpu),
        )
        for cpu in sorted(alone)
    )  # fmt: skip
    pairs = [MeasuredPair(cpus=(a, b), slowdown=ratio) for (a, b), ratio in sorted(slowdowns.items())]
    return CpuClasses(cpus=measured, pairs=tuple(pairs))


def _group(pairs: Sequence[Turn]) -> dict[int, int]:
    """Return for each CPU of these pairs the lowest one that it is joined with.

    >>> _group([(0, 4), (4, 5), (1, 2)])
    {0: 0, 4: 0, 5: 0, 1: 1, 2: 1}
    """
    lowest = {cpu: cpu for pair in pairs for cpu in pair}
    for _ in lowest:
        for a, b in pairs:
            lowest[a] = lowest[b] = min(lowest[a], lowest[b])
    return lowest


@contextmanager
def _workers(cpus: Sequence[int]) -> Iterator[Callable[[Turn], list[float]]]:
    """Start a worker on each CPU; yield a function that times the work of some at once, in seconds of CPU time."""
    pipe, workers = subprocess.PIPE, {}
    with ExitStack() as stack:
        for cpu in cpus:
            argv = [sys.executable, "-ISc", _WORKER, str(cpu)]
            process = subprocess.Popen(argv, stdin=pipe, stdout=pipe, stderr=subprocess.DEVNULL, bufsize=0)
            workers[cpu] = stack.enter_context(process)
            stack.callback(process.kill)

        def time_work(turn: Turn) -> list[float]:
            try:
                for cpu in turn:
                    cast(IO[bytes], workers[cpu].stdin).write(f"{STEPS}\n".encode())
                answers = [_answer(cast(IO[bytes], workers[cpu].stdout)) for cpu in turn]
            except (BrokenPipeError, ValueError):
                problem = f"{named_cpus(turn)} did no work in {_LIMIT_S:g} s"
                raise HostError("doctor --cpus", problem, "", "start scalograph on the others: taskset") from None
            if len({result for _, result in answers}) > 1:
                raise HostError("doctor --cpus", f"{named_cpus(turn)} calculate wrongly", "", "test this machine")
            return [float(seconds) for seconds, _ in answers]

        yield time_work


def _answer(stream: IO[bytes]) -> tuple[bytes, bytes]:
    """Return seconds and result as a worker writes them. Raises ValueError: it wrote nothing in time."""
    seconds, result = (stream.readline() if select.select([stream], [], [], _LIMIT_S)[0] else b"").split()
    return seconds, result


_FORMS = {
    "slower": "{who}: {speed:factor} the speed of {first}{speed:interval}. Scaling laws end there.",
    "shared": "{who} share a core: together, work takes {time:factor} the time{time:interval}[[; {hidden}]].",
}


def class_rows(classes: CpuClasses) -> Iterator[list[str]]:
    """Yield the table: CPUs of each class, the fastest and the slowest of it, and how many slices were slow."""
    yield ["CPUs", "speed alone", "slowest", "slow slices"]
    for members in group_by(classes.cpus, "speed_class"):
        slow = f"{100 * max(each.slow_share for each in members):.0f}%"
        yield [_list(members), *(factor_with_ends(each.speed) for each in (members[0], members[-1])), slow]


def class_sentences(classes: CpuClasses, facts: HostFacts) -> Iterator[str]:
    """Yield which CPUs are slower, which slow each other and whether the kernel says so, and which are unsteady."""
    first, *others = group_by(classes.cpus, "speed_class")
    if not others:
        yield f"No CPU is slower than another by more than {100 * UNLIKE:.0f}%, alone."
    for members in others:
        values = {"who": f"CPU {_list(members)}", "speed": [members[0].speed], "first": f"CPU {_list(first)}"}
        yield fill(_FORMS["slower"], values)
    cores, groups = {cpu.cpu: cpu.core for cpu in facts.cpus}, group_by(classes.cpus, "shared")
    for members in groups:
        cpus = {each.cpu for each in members}
        slowdown = max((p.slowdown for p in classes.pairs if cpus >= {*p.cpus}), key=lambda ratio: ratio.value or 0.0)
        hidden = "the kernel does not say so" if len({cores.get(cpu) for cpu in cpus}) > 1 else ""
        yield fill(_FORMS["shared"], {"who": f"CPU {_list(members)}", "time": [slowdown], "hidden": hidden})
    if classes.pairs and not groups:
        yield f"No two CPUs slow each other ({count_noun(len(classes.pairs), 'pair')})."
    if unsteady := [each for each in classes.cpus if each.slow_share >= LEAST_SHARE]:
        yield f"Slow in phases: CPU {_list(unsteady)}. Make more runs: {MORE_RUNS}"


def group_by(cpus: Sequence[MeasuredCpu], name: str) -> list[list[MeasuredCpu]]:
    """Return CPUs of one class or of one core, the fastest first; without those that have none."""
    groups = defaultdict[int, list[MeasuredCpu]](list)
    for each in sorted(cpus, key=lambda cpu: -(cpu.speed.value or 0.0)):
        if getattr(each, name) is not None:
            groups[getattr(each, name)].append(each)
    return [groups[key] for key in sorted(groups)]


def _list(members: Sequence[MeasuredCpu]) -> str:
    return format_cpu_list(each.cpu for each in members)
