"""Runs another load driver, warmed up before the gate, and tells in lines of a workload what it printed."""

import http.client
import os
import resource
import subprocess
import sys
import time
from contextlib import ExitStack
from pathlib import Path
from typing import TextIO

from asked import FAILED, UNAVAILABLE, Asked, leave, parse
from drops import dropped_since, listen_drops
from told import lines
from tools import TOOLS, find

# A tool that has not ended so long after its time is killed.
GRACE_S = 60
MOST_SHOWN = 300


def main() -> None:
    """Warm up, wait for the gate, let the tool work, tell."""
    asked = parse(sys.argv[1:])
    tool = TOOLS[asked.tool]
    if why := tool.refusal(asked):
        leave(UNAVAILABLE, f"{asked.tool}: {why}")
    program = find(asked.tool)
    with ExitStack() as stack:
        path = Path(os.environ.get("SCALOGRAPH_EVENTS", "/dev/stdout"))
        events = stack.enter_context(path.open("w", encoding="ascii"))
        dropped = listen_drops() if asked.is_here else None
        warm(asked)
        wait(events)
        if asked.ramp_s:
            run(asked.tool, tool.argv(program, asked, asked.ramp_s), asked.ramp_s + GRACE_S)
        before = _used_s()
        text = run(asked.tool, tool.argv(program, asked, asked.steady_s), asked.steady_s + GRACE_S)
        end_ns, used_s = time.monotonic_ns(), _used_s() - before
        try:
            told = tool.read(text)
        except ValueError as error:
            leave(FAILED, f"{asked.tool}: what it printed cannot be read: {error}: {text.strip()[-MOST_SHOWN:]}")
        if told.errors >= told.requests:
            leave(FAILED, f"{asked.tool}: no right answer to {told.requests} requests")
        said = [*lines(told, asked, end_ns, used_s), *dropped_since(dropped)]
        print("\n".join(said), file=events, flush=True)


def warm(asked: Asked) -> None:
    """Send the requests that come before the load; more than a tenth that fail end the program."""
    connection = http.client.HTTPConnection(asked.target, timeout=asked.timeout_s)
    failed = 0
    for _ in range(asked.warmup):
        try:
            connection.request("GET", asked.path)
            answer = connection.getresponse()
            answer.read()
            failed += answer.status >= 400
        except (OSError, http.client.HTTPException):
            connection.close()
            failed += 1
            if 10 * failed > asked.warmup:
                break
    connection.close()
    if 10 * failed > asked.warmup:
        leave(FAILED, f"warm-up: {failed} of {asked.warmup} requests to {asked.target} failed")


def wait(events: TextIO) -> None:
    """Stand at the gate, where there is one."""
    if go := os.environ.get("SCALOGRAPH_GO"):
        print("ready", file=events, flush=True)
        with Path(go).open("rb") as gate:
            gate.read(1)


def run(tool: str, argv: list[str], limit_s: float) -> str:
    """Run the tool to its end; return what it printed. One that fails, or does not end, ends the program."""
    try:
        done = subprocess.run(argv, capture_output=True, text=True, errors="replace", timeout=limit_s, check=False)
    except OSError as error:
        leave(UNAVAILABLE, f"{tool}: cannot be started: {error.strerror}")
    except subprocess.TimeoutExpired:
        leave(FAILED, f"{tool}: has not ended after {limit_s:.0f} s")
    if done.returncode:
        leave(FAILED, f"{tool}: exit code {done.returncode}: {(done.stderr or done.stdout).strip()[-MOST_SHOWN:]}")
    return done.stdout


def _used_s() -> float:
    """CPU time of what has been started and has ended, seconds."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


if __name__ == "__main__":
    main()
