"""One planted cause of lost CPU time in Python: planted.py CAUSE THREADS STRENGTH [UNITS] (README.md)."""

import hashlib
import multiprocessing
import os
import sys
import threading
import time
from collections.abc import Callable

UNITS = 1500


def compute(loops: float) -> float:
    """Compute for a while."""
    x = 1.0
    for _ in range(int(loops * 20_000)):
        x = x * 1.0000001 + 1e-9
    return x


def hold_interpreter(n_threads: int, strength: float) -> float:
    """Compute in threads: with the interpreter lock, then without it. Return seconds lost."""
    block = bytes(int((1 - strength) * 600_000))

    def run() -> None:
        for _ in range(UNITS // n_threads):
            compute(strength)
            hashlib.sha256(block).digest()

    begin, cpu = time.monotonic(), _cpu_s()
    _join([threading.Thread(target=run) for _ in range(n_threads)])
    return n_threads * (time.monotonic() - begin) - (_cpu_s() - cpu)


def serial_phase(strength: float) -> None:
    """Work while all others have nothing to do."""
    compute(UNITS * strength)


def run_serial(n_threads: int, strength: float) -> float:
    """Work alone, then in processes. Return seconds lost."""
    begin = time.monotonic()
    serial_phase(strength)
    lost = (time.monotonic() - begin) * (n_threads - 1)
    share = UNITS * (1 - strength) / n_threads
    _join([multiprocessing.Process(target=compute, args=(share,)) for _ in range(n_threads)])
    return lost


def produce_item(strength: float) -> float:
    """Make an item of a queue."""
    return compute(0.5 + strength / 2)


def run_queue(n_threads: int, strength: float) -> float:
    """Make items in one process; the others work on them. Return seconds lost."""
    items: multiprocessing.Queue[float | None] = multiprocessing.Queue()

    def consume() -> None:
        for _ in iter(items.get, None):
            compute(0.5 - strength / 2)

    begin = time.monotonic()
    workers = [multiprocessing.Process(target=consume) for _ in range(n_threads - 1)]
    for worker in workers:
        worker.start()
    for _ in range(UNITS):
        item = produce_item(strength)
        items.put(item) if workers else compute(0.5 - strength / 2)
    for _ in workers:
        items.put(None)
    for worker in workers:
        worker.join()
    return max(0.0, n_threads * (time.monotonic() - begin) - _cpu_s())


def _cpu_s() -> float:
    return sum(os.times()[:4])


def _join(workers: list[threading.Thread] | list[multiprocessing.Process]) -> None:
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()


CAUSES: dict[str, Callable[[int, float], float]] = {"gil": hold_interpreter, "serial": run_serial, "queue": run_queue}

if __name__ == "__main__":
    UNITS = int(sys.argv[4]) if sys.argv[4:] else UNITS
    begin = time.monotonic()
    lost = CAUSES[sys.argv[1]](int(sys.argv[2]), float(sys.argv[3]))
    print(f"{time.monotonic() - begin:.6f} {lost:.6f}")
