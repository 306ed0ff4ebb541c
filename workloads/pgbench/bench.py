"""pgbench as a driver: warmed up before the gate, and each of its transactions told to who started it."""

import os
import resource
import shutil
import subprocess
import sys
import tempfile
import time
from contextlib import ExitStack
from pathlib import Path
from typing import TextIO

from figures import Transactions, lines

USAGE, UNAVAILABLE, FAILED = 64, 69, 70
SCRIPTS = {"select-only": ["-S"], "simple-update": ["-N"], "tpcb-like": []}
NUMBERS = {"port": (1, 65535), "clients": (1, 10_000), "threads": (1, 256), "warmup_ms": (0, 600_000),
           "steady_ms": (100, 3_600_000), "seed": (0, 1 << 31)}  # fmt: skip


def main() -> None:
    """Warm up, wait for the gate, measure, tell."""
    given = parse(sys.argv[1:])
    program = shutil.which("pgbench")
    if program is None:
        sys.exit(told(UNAVAILABLE, "pgbench: not found; install it with: apt-get install postgresql-contrib"))
    with ExitStack() as stack, tempfile.TemporaryDirectory() as folder:
        path = Path(os.environ.get("SCALOGRAPH_EVENTS", "/dev/stdout"))
        events = stack.enter_context(path.open("w", encoding="ascii"))
        if int(given["warmup_ms"]):
            run(program, given, int(given["warmup_ms"]), Path(folder))
        wait(events)
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        seen = Transactions.read(run(program, given, int(given["steady_ms"]), Path(folder)))
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        used_s = after.ru_utime - before.ru_utime + after.ru_stime - before.ru_stime
        print("\n".join(lines(seen, int(given["clients"]), int(given["threads"]), used_s)), file=events, flush=True)


def told(code: int, text: str) -> int:
    """Say one sentence, return the exit code (protocol/workload.md)."""
    print(text, file=sys.stderr)
    return code


def parse(arguments: list[str]) -> dict[str, str]:
    """Return values by name; a wrong one ends the program."""
    given = {"script": "select-only", "port": "5432", "clients": "1", "threads": "1", "warmup_ms": "500",
             "steady_ms": "3000", "seed": "7"}  # fmt: skip
    for name, _, text in (argument.partition("=") for argument in arguments):
        if name not in given:
            sys.exit(told(USAGE, f"arguments: found {name[:40]}, expected one of {', '.join(given)}"))
        low, high = NUMBERS.get(name, (0, 0))
        right = text in SCRIPTS if name == "script" else text.isascii() and text.isdigit() and low <= int(text) <= high
        if not right:
            expected = " or ".join(SCRIPTS) if name == "script" else f"an integer from {low} to {high}"
            sys.exit(told(USAGE, f"{name}: found {text[:40]}, expected {expected}"))
        given[name] = text
    return given


def wait(events: TextIO) -> None:
    """Stand at the gate, where there is one."""
    if go := os.environ.get("SCALOGRAPH_GO"):
        print("ready", file=events, flush=True)
        with Path(go).open("rb") as gate:
            gate.read(1)


def run(program: str, given: dict[str, str], for_ms: int, folder: Path) -> list[Path]:
    """Run pgbench for whole seconds; return its logs, a line for each transaction. One that fails ends the program."""
    for old in folder.iterdir():
        old.unlink()
    seconds = max(1, round(for_ms / 1000))
    threads = min(int(given["threads"]), int(given["clients"]))
    how = ["-M", "prepared", *SCRIPTS[given["script"]], "-T", str(seconds), "-c", given["clients"], "-j", str(threads)]
    where = ["-h", "127.0.0.1", "-p", given["port"], "-U", "bench", "postgres"]
    argv = [program, "-n", "-l", f"--log-prefix={folder}/log", *how, f"--random-seed={given['seed']}", *where]
    limit_s = seconds + 60
    begin = time.monotonic()
    done = subprocess.run(argv, capture_output=True, text=True, timeout=limit_s, check=False)
    if done.returncode:
        took = time.monotonic() - begin
        sys.exit(told(FAILED, f"pgbench: exit code {done.returncode} after {took:.1f} s: {done.stderr.strip()[-300:]}"))
    return sorted(folder.iterdir())


if __name__ == "__main__":
    main()
