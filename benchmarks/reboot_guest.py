"""Another machine with a real boot loader: runs under the planned kernels, kills on the way, its own kernel at the end.

A guest plays that machine: Debian with GRUB, sshd and two kernels on a disk, one emulated CPU, reached by ssh. Studies
of both kernels are run by --host reboot:vm; one is killed while the other kernel runs, one is interrupted while it
boots, each is gone on with to its end. What the kernels say on the console tells what was booted.
"""

import argparse
import json
import os
import random
import re
import shutil
import signal
import statistics
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from threading import Timer
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "src"))

from command_common import ENVIRONMENT, ROOT, Figure, _show, command
from reboot_disk import BOOT, KEXEC, Disk, Guest, answered, guest, made, missing_tools, write_program

SEED, KEPT = 7, ROOT / "scalograph-results" / "benchmarks" / "reboot-guest"
STUDY = """\
version = 1
name = "booted"
title = "Kernels that a boot loader boots"
work = "total"
seed = {seed}
[workload]
command = ["sh", "-c", "uname -r >&2; cat /proc/sys/kernel/random/boot_id >&2; sleep 0.5"]
[factors.kernel]
control = "kernel"
levels = ["all"]
[protocol]
runs = {runs}
max_reruns = 0
timeout = "60s"
"""
DONE = {0, 4, 5}
HANG_S, SETTLE_S = 3600.0, 900.0
# When the command is harmed: so long, drawn up to it, after it says these words of the other kernel.
KILL_AFTER_S, INTERRUPT_AFTER_S = 20.0, 8.0
BOOTS, UP, LEFT = "vm: boots kernel ", "vm: up after ", "since a start that was killed"
FAULTS = (
    "exit code", "lost", "another kernel", "failed", "left on another kernel", "left behind", "not told", "boot loader",
    "hang",
)  # fmt: skip
PROGRAM = "/usr/local/sbin/scalograph-boot"
LEFT_THERE = "ls -d /tmp/scalograph-* ~/.local/state/scalograph/first-kernel 2>/dev/null; true"


@dataclass
class Course:
    """What was done so far, and what was wrong. `boots` has what was asked for, `boot_s` how long each took."""

    disk: Disk
    up: Guest
    folder: Path
    rng: random.Random
    runs: int
    default: str
    faults: Counter[str] = field(default_factory=Counter)
    boots: list[str] = field(default_factory=list)
    boot_s: list[float] = field(default_factory=list)
    n_runs: int = 0
    n_harmed: Counter[str] = field(default_factory=Counter)

    def study(self, name: str, harm: signal.Signals | None) -> None:
        """Carry out one study to its end, harmed once on the way."""
        self._log(f"study {name}, {'harmed by ' + harm.name if harm else 'left alone'}")
        results = self.folder / name
        (self.folder / "study.toml").write_text(STUDY.format(seed=self.rng.randint(1, 99), runs=self.runs))
        code, said = self._start(results, harm)
        if harm:
            self._harmed(harm, code)
            code, said = self._start(results, None)
            if (LEFT in said) != (harm == signal.SIGKILL):
                self._fault("not told", f"after {harm.name}: {said[-300:]}")
        if code not in DONE:
            self._fault("exit code", f"{code}: {said[-500:]}")
        else:
            self._runs(results)
        self._back()

    def _start(self, results: Path, harm: signal.Signals | None) -> tuple[int, str]:
        """One start; its exit code, a signal as a negative number, and what it said."""
        begun = (results / "journal.jsonl").exists()
        argv = command("run", str(self.folder / "study.toml"), "-o", str(results), "--host", "reboot:vm")
        argv += ["--resume"] * begun
        environ = {**ENVIRONMENT, "PATH": f"{self.folder / 'bin'}:{os.environ['PATH']}"}
        said, began, awaits = list[str](), 0.0, UP if harm == signal.SIGKILL else BOOTS
        with subprocess.Popen(argv, env=environ, stdout=-1, stderr=subprocess.STDOUT, text=True) as process:
            alarm = _Alarm(process, HANG_S)
            assert process.stdout
            for line in process.stdout:
                said.append(line)
                self._log(f"  {line.rstrip()}")
                if line.startswith(BOOTS):
                    self.boots.append(line.removeprefix(BOOTS).strip())
                    began = time.monotonic()
                if line.startswith(UP):
                    self.boot_s.append(time.monotonic() - began)
                if harm and line.startswith(awaits) and self.boots[-1] != self.default:
                    time.sleep(self.rng.uniform(1, KILL_AFTER_S if awaits == UP else INTERRUPT_AFTER_S))
                    self._log(f"  {harm.name}")
                    process.send_signal(harm)
                    self.n_harmed[harm.name] += 1
                    harm = None
        if alarm.cancel():
            self._fault("hang", f"no end after {HANG_S:g} s")
        return process.returncode, "".join(said)

    def _harmed(self, harm: signal.Signals, code: int) -> None:
        """What is so after it: SIGKILL leaves the other kernel, Ctrl-C the first one."""
        if harm == signal.SIGINT:
            if code != 130:
                self._fault("exit code", f"{code} after SIGINT")
            self._back()
        elif (found := answered(self.up.ssh, "uname -r")) == self.default or code != -harm:
            self._fault("exit code", f"{code} after {harm.name}, and {found} runs")

    def _back(self) -> None:
        """At the end its own kernel comes up, and nothing of ours lies there."""
        until = time.monotonic() + SETTLE_S
        while (found := self._release()) != self.default and time.monotonic() < until:
            time.sleep(1)
        if found != self.default:
            self._fault("left on another kernel", found or "no answer")
            return
        if left := answered(self.up.ssh, LEFT_THERE):
            self._fault("left behind", left)
        booted = re.findall(r"Linux version (\S+)", (self.disk.folder / "console").read_text(errors="replace"))
        if booted[1:] != self.boots:
            self._fault("boot loader", f"asked for {self.boots}, the console has {booted}")

    def _release(self) -> str:
        argv = [*self.up.ssh, "uname -r"]
        done = subprocess.run(argv, capture_output=True, text=True, stdin=subprocess.DEVNULL, check=False)
        return done.stdout.strip() if done.returncode == 0 else ""

    def _runs(self, results: Path) -> None:
        """Each planned run once, under its kernel, as the run itself says."""
        events = [json.loads(line) for line in (results / "journal.jsonl").read_text().splitlines()]
        runs = [event for event in events if event["event"] == "run"]
        planned = [json.loads(line)["run"] for line in (results / "design.jsonl").read_text().splitlines()[1:]]
        if sorted(run["run"] for run in runs) != sorted(planned):
            self._fault("lost", f"{len(runs)} runs of {len(planned)}")
        for run in runs:
            self._run(run)
        self.n_runs += len(runs)

    def _run(self, run: dict[str, Any]) -> None:
        record = run["record"]
        if record["run"]["status"] != "ok":
            self._fault("failed", f"{run['run']}: {record['run']['reason']}")
            return
        said = record["copies"][0]["stderr_tail"].split()
        self._log(f"  {run['run']}: planned {run['configuration']['kernel']}, ran {' in boot '.join(said)}")
        if said != [run["configuration"]["kernel"], record["boot_id"]]:
            self._fault("another kernel", f"{run['run']}: {run['configuration']}, {said}, {record['boot_id']}")

    def _fault(self, kind: str, text: str) -> None:
        self.faults[kind] += 1
        self._log(f"FAULT {kind}: {text}")

    @staticmethod
    def _log(text: str) -> None:
        print(f"{time.strftime('%H:%M:%S')} {text}", file=sys.stderr, flush=True)


class _Alarm:
    """Kills a process that does not end in time."""

    def __init__(self, process: "subprocess.Popen[str]", limit_s: float) -> None:
        self._is_hung, self._process = False, process
        self._timer = Timer(limit_s, self._ring)
        self._timer.daemon = True
        self._timer.start()

    def _ring(self) -> None:
        self._is_hung = True
        self._process.kill()

    def cancel(self) -> bool:
        """Tell whether it was needed."""
        self._timer.cancel()
        return self._is_hung


def figures(course: Course, harms: list[signal.Signals | None]) -> Iterator[Figure]:
    """Carry out a study for each harm; yield what was done, then each fault with the limit 0."""
    for number, harm in enumerate(harms):
        course.study(f"results-{number}", harm)
    yield Figure("boots", len(course.boots), "", note=f"kernels {', '.join(course.disk.releases())}")
    took = course.boot_s or [float("nan")]
    note = f"{min(took):.0f} to {max(took):.0f} s, as scalograph waited for them"
    yield Figure("a boot, median", statistics.median(took), "s", note=note)
    yield Figure("runs", course.n_runs, "", note=", ".join(f"{n} {name}" for name, n in course.n_harmed.items()))
    for kind in FAULTS:
        yield Figure(kind, course.faults[kind], "", 0)


def programs(disk: Disk, folder: Path) -> None:
    """Plant an ssh that knows the guest."""
    folder.mkdir(exist_ok=True)
    write_program(folder / "ssh", f'#!/bin/sh\nexec {shutil.which("ssh")} -F {disk.folder / "config"} "$@"\n')


def main() -> int:
    """Carry out the studies that the command line asks for; return 0 whatever they found."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="one run of each kernel, killed; no disk is made")
    parser.add_argument("--kexec", action="store_true", help="kexec instead of GRUB")
    parser.add_argument("--kernels", default="", help="two levels of --host guest, such as 6.1-cloud,6.1-rt")
    parser.add_argument("--sources", type=Path, default=Path("/etc/apt/sources.list.d/debian.sources"), help="of apt")
    parser.add_argument(
        "--disk", type=Path, default=KEPT, help=f"folder that keeps the disk ({KEPT.relative_to(ROOT)})"
    )
    parser.add_argument("--seed", type=int, default=SEED, help=f"of orders and moments ({SEED})")
    parser.add_argument("--json", action="store_true", help="one JSON line a figure instead of a table")
    args = parser.parse_args()
    if missing := missing_tools():
        raise SystemExit("missing: " + "; ".join(missing))
    if args.quick and not Disk(args.disk).image.exists():
        print("no disk is kept: begin without --quick", file=sys.stderr)
        return 0
    began = time.monotonic()
    disk = made(args.disk.resolve(), args.sources, [one for one in args.kernels.split(",") if one])
    print(f"disk after {time.monotonic() - began:.0f} s: {disk.image}", file=sys.stderr)
    folder = disk.folder / "studies"
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir()
    began = time.monotonic()
    with guest(disk, disk.image) as up:
        print(f"guest up after {time.monotonic() - began:.0f} s", file=sys.stderr)
        boot = KEXEC if args.kexec else BOOT
        subprocess.run([*up.ssh, f"cat >{PROGRAM}"], input=boot, text=True, check=True)
        programs(disk, folder / "bin")
        default = answered(up.ssh, "uname -r")
        course = Course(disk, up, folder, random.Random(args.seed), 1 if args.quick else 2, default)
        harms = [signal.SIGKILL] if args.quick else [signal.SIGKILL, signal.SIGINT, None]
        for figure in figures(course, harms):
            _show(figure, args.json)
    return 0


if __name__ == "__main__":
    sys.exit(main())
