#!/usr/bin/env python3
"""Sample where the workers of a fork-join pool are, by thread dumps: a flight recorder sees no native code.

A dump stops all threads at a safepoint, so it shows where they wait, and too rarely where they compute.

Usage: scripts/pool_stacks.py JAVA_HOME [PARALLELISM [DUMPS]]   (default: 64 workers, 60 dumps)
"""

import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

WORKLOAD = Path(__file__).resolve().parents[1] / "workloads" / "fork-join"
PAUSE_S = 0.05


def main() -> None:
    """Print the share of each place, and of Thread.yield below ForkJoinPool.scan."""
    home, *numbers = sys.argv[1:]
    parallelism, n_dumps = [*map(int, numbers), *[64, 60][len(numbers) :]]
    with tempfile.TemporaryDirectory() as build:
        subprocess.run([f"{home}/bin/javac", "-d", build, *map(str, WORKLOAD.glob("*.java"))], check=True)
        words = ["version=stream", "n=3000", "q=58", f"p={parallelism}", "clients=1", "iterations=100000"]
        command = [f"{home}/bin/java", "-cp", build, "ForkJoin", *words, "prerun=1000", "think_ns=10000000"]
        program = subprocess.Popen(command, stdout=subprocess.DEVNULL)
        try:
            time.sleep(5)  # for its pre-run
            stacks = [stack for _ in range(n_dumps) for stack in dump(home, program.pid)]
        finally:
            program.kill()
            program.wait()
    places = Counter(" < ".join(stack[:3]) for stack in stacks)
    in_yield = sum(
        "Thread.yield" in stack[0] and any("ForkJoinPool.scan" in each for each in stack) for stack in stacks
    )
    print(f"{len(stacks)} stacks of workers in {n_dumps} dumps; {in_yield} in Thread.yield below ForkJoinPool.scan")
    for place, n in places.most_common(8):
        print(f"{100 * n / len(stacks):5.1f}%  {place}")


def dump(home: str, pid: int) -> Iterator[list[str]]:
    """Return the stack of each worker of the pool, innermost first."""
    time.sleep(PAUSE_S)
    done = subprocess.run([f"{home}/bin/jstack", str(pid)], capture_output=True, text=True, check=True)
    for block in done.stdout.split("\n\n"):
        if block.startswith('"ForkJoinPool'):
            frames = [line.strip() for line in block.splitlines() if line.strip().startswith("at ")]
            yield [frame.removeprefix("at ").partition("(")[0].rpartition("/")[2] for frame in frames] or ["no frame"]


if __name__ == "__main__":
    main()
