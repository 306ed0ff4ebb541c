"""One sum of fixed size, again and again: in a plain loop, or by a pool of processes (README.md)."""

import os
import resource
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from multiprocessing import TimeoutError as TooLate
from multiprocessing import active_children, get_context
from multiprocessing.pool import AsyncResult
from pathlib import Path

from given import UNAVAILABLE, WRONG, end, parse
from summing import Sum, add, chunks, expected, together

Task = Callable[[], Sum]
# How often a pool that does not answer is looked at.
LOOK_S = 1.0


@contextmanager
def pool(size: int, cost: int, workers: int) -> Iterator[Task]:
    """The task by the means of a pool of processes, which lives as long as the context."""
    try:
        processes = get_context("fork").Pool(workers)
    except OSError as error:
        end(UNAVAILABLE, f"workers: a pool of {workers} processes cannot be made: {error.strerror}")
    parts = chunks(size, cost, workers)
    members = {child.pid for child in active_children()}
    yield lambda: together(answered(processes.map_async(add, parts, chunksize=1), members))
    # Not terminated, as `with` would: a process that ends by itself leaves no work undone.
    processes.close()
    processes.join()


def answered(parts: "AsyncResult[list[Sum]]", members: set[int | None]) -> list[Sum]:
    """The sums; a pool takes on another process for one that was killed, and never does the task again."""
    while True:
        try:
            return parts.get(LOOK_S)
        except TooLate:
            if not members <= {child.pid for child in active_children()}:
                end(UNAVAILABLE, "workers: a process of the pool was killed")


@contextmanager
def task(version: str, made: str, size: int, cost: int, workers: int) -> Iterator[Task]:
    """What one iteration does."""

    def anew() -> Sum:
        with pool(size, cost, workers) as once:
            return once()

    if version == "sequential":
        (whole,) = chunks(size, cost, 1)
        yield lambda: add(whole)
    elif made == "each":
        yield anew
    else:
        with pool(size, cost, workers) as again:
            yield again


def cpu_ns() -> int:
    """CPU time of this process, of its children that live, by their own clocks, and of those that have ended."""
    # The number of another process's clock, as clock_getcpuclockid(3) makes it.
    living = sum(time.clock_gettime_ns((~child.pid << 3) | 2) for child in active_children() if child.pid)
    ended = resource.getrusage(resource.RUSAGE_CHILDREN)
    return time.process_time_ns() + living + round((ended.ru_utime + ended.ru_stime) * 1e9)


def iterate(work: Task, index: int, right: int) -> str:
    """One iteration; its line."""
    before, begin = cpu_ns(), time.monotonic_ns()
    done = work()
    finish = time.monotonic_ns()
    used = cpu_ns() - before
    if done.total != right:
        end(WRONG, "sum: elements were lost, or taken twice")
    return f"iteration {index} {begin} {finish} {done.done} {used}\n"


def write(stream: int, text: str) -> None:
    """All of it: a pipe may take a part."""
    with open(stream, "wb", closefd=False) as out:
        out.write(text.encode())


def gate() -> None:
    """Wait until all copies may begin."""
    if "SCALOGRAPH_GO" in os.environ:
        with Path(os.environ["SCALOGRAPH_GO"]).open("rb", buffering=0) as go:
            go.read(1)


def main(arguments: list[str]) -> None:
    words, given = parse(arguments)
    size, cost = given["size"], given["cost"]
    right, lines = expected(size, cost), []
    path = os.environ.get("SCALOGRAPH_EVENTS")
    stream = os.open(path, os.O_WRONLY) if path else sys.stdout.fileno()
    with task(words["version"], words["pool"], size, cost, given["workers"]) as work:
        for _ in range(given["prerun"]):
            iterate(work, 0, right)
        write(stream, "ready\n")
        gate()
        for index in range(given["iterations"]):
            if index:
                time.sleep(given["think_ns"] / 1e9)
            lines.append(iterate(work, index, right))
    write(stream, "".join(lines) + f"value checksum {right}\n")


if __name__ == "__main__":
    main(sys.argv[1:])
