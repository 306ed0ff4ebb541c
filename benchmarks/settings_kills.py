"""Three hundred kills of studies that change settings of the machine: each setting is as before, and no run is lost.

A study of three settings is started, killed by SIGKILL, SIGTERM or SIGINT at a drawn moment, and gone on with until it
has all of its runs; then the next one begins. After a start that ended in order every setting must be as it was
found; after a SIGKILL the next such start must have restored it. The settings are plain files that look like /proc/sys;
with --machine those of this machine, which needs root.
"""

import argparse
import json
import os
import pkgutil
import random
import signal
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from importlib import import_module
from pathlib import Path
from traceback import print_exc
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "src"))

from command_common import Figure, _show

from scalograph.cli.main import main as scalograph
from scalograph.control.kernel_files import KERNEL
from scalograph.control.store import CHANGES, Store
from scalograph.run.hosts.python_probe.tree import become_subreaper, reap

SEED, KILLS, QUICK = 7, 300, 4
SIGNALS = (signal.SIGKILL, signal.SIGTERM, signal.SIGINT)
# What makes runs.
ROOMS = ("cli", "control", "design", "run", "study", "verdict")
# As a machine has them; of the machine's own kernel the values are read.
SETTINGS = {
    "vm.swappiness": "60", "vm.page-cluster": "3", "vm.dirty_background_bytes": "0", "vm.dirty_background_ratio": "10",
}  # fmt: skip
STUDY = """\
version = 1
name = "killed"
title = "A study of settings that is killed"
work = "total"
seed = 5
[workload]
command = ["sleep", "0.02"]
[factors.swappiness]
control = "sysctl:vm.swappiness"
levels = [false, 10, 90]
[factors.background]
control = "sysctl:vm.dirty_background_bytes"
levels = [false, 1000000000]
[factors.cluster]
control = "sysctl:vm.page-cluster"
levels = [2, 4]
[protocol]
runs = 2
max_reruns = 0
timeout = "10s"
"""
FAULTS = ("not restored", "lost", "doubled", "not as planned", "exit code", "proof missing", "hang")
# Exit codes at the end of a study, and of one that a signal ended in order.
DONE, ENDED = {0, 4, 5}, {130, 143}
RESTORED = "restored after an earlier crash"
# The longest that a start is left alone before it is killed, and that it may take to its end.
LATEST_S, HANG_S = 2.0, 120.0
# After so many faults a campaign ends: what fails at each start would go on for ever.
MOST_FAULTS = 20
# Of looks at which a setting is changed, the kill comes at one of so many.
MOST_CHANGED = 400


@dataclass
class Campaign:
    """What was done so far, and what was wrong.

    Attributes:
        kernel: below which /proc/sys lies.
        folder: of everything else.
        rng: draws signals and moments.
        runs: of each configuration.
        text: the study.
    """

    kernel: Path
    folder: Path
    rng: random.Random
    runs: int = 2
    text: str = STUDY
    kills: Counter[str] = field(default_factory=Counter)
    faults: Counter[str] = field(default_factory=Counter)
    n_studies: int = 0
    n_runs: int = 0
    n_amid: int = 0
    n_restored: int = 0
    _left: bool = False

    def __post_init__(self) -> None:
        self.before = self.values()
        (self.folder / "study.toml").write_text(self.text.replace("runs = 2", f"runs = {self.runs}"))

    def values(self) -> dict[str, str]:
        """Return the settings as they are."""
        return {name: KERNEL["sysctl"].place(self.kernel, name).value() for name in SETTINGS}

    def store(self) -> Store:
        """Return the record of changes of the starts."""
        return Store(self.folder / "state", None, kernel=self.kernel)

    def is_given_up(self) -> bool:
        """Tell whether there were so many faults that more would say nothing."""
        return self.faults.total() >= MOST_FAULTS

    def study(self, enough: int) -> None:
        """Carry out one study to its end, and kill it on the way for as long as there are too few kills."""
        results = self.folder / f"results-{self.n_studies}"
        kept, code = b"", -1
        while not self.is_given_up() and (code < 0 or code in ENDED):
            wanted = self.rng.choice(SIGNALS) if self.kills.total() < enough else None
            code = self._start(results, wanted)
            kept = self._journal(results, kept, code)
        self.n_studies += 1
        if code in DONE:
            self._runs(results)

    def _start(self, results: Path, wanted: signal.Signals | None) -> int:
        """One start; its exit code, a signal as a negative number."""
        begun = (results / "journal.jsonl").exists() and (results / "journal.jsonl").stat().st_size > 0
        argv = ["run", str(self.folder / "study.toml"), "-o", str(results), "--machine-wide", *["--resume"] * begun]
        began, is_hung, is_killed = time.monotonic(), False, False
        # At any moment of a start, or at one of which a setting is changed: these are few.
        at, n_changed = self.rng.choice([(self.rng.uniform(0, LATEST_S), 0), (0.0, self.rng.randint(1, MOST_CHANGED))])
        pid = self._forked(argv)
        while (code := _ended(pid)) is None:
            is_changed = self.values() != self.before
            n_changed -= is_changed
            if wanted and n_changed <= 0 and time.monotonic() - began >= at:
                self.n_amid += is_changed
                os.kill(pid, wanted)
                self.kills[wanted.name] += 1
                wanted, is_killed = None, True
            if time.monotonic() - began > HANG_S and not is_hung:
                is_hung = True
                self._fault("hang", f"no end after {HANG_S:g} s")
                os.kill(pid, signal.SIGKILL)
            time.sleep(0.0005)
        reap()
        self._check(code, is_killed or is_hung)
        return code

    def _check(self, code: int, is_killed: bool) -> None:
        said = (self.folder / "said").read_text()
        if code not in DONE and not (is_killed and (code < 0 or code in ENDED)):
            self._fault("exit code", f"{code}: {said[-300:]}")
        is_recorded = (self.folder / "state" / CHANGES).exists()
        if self.values() != self.before and not is_recorded:
            self._fault("not restored", f"{self.values()} for {self.before}, and not recorded, exit code {code}")
        # One that was ended before it had the lock leaves to the next one what it found.
        has_begun = code >= 0 and (not self._left or RESTORED in said)
        if has_begun and (self.values() != self.before or is_recorded):
            self._fault("not restored", f"{self.values()} for {self.before}, exit code {code}: {said[-300:]}")
        self._left = is_recorded

    def _journal(self, results: Path, before: bytes, code: int) -> bytes:
        """What was whole in the journal is there still; its whole lines now."""
        file = results / "journal.jsonl"
        content = file.read_bytes() if file.exists() else b""
        whole = content[: content.rfind(b"\n") + 1]
        if not whole.startswith(before):
            self._fault("lost", f"of {len(before)} bytes, after exit code {code}")
        return whole

    def _runs(self, results: Path) -> None:
        """At the end: each setting restored after each run, as its record says."""
        for run in self._planned_once(results):
            settings = run["record"]["settings"]
            asked = [level for level in run["configuration"].values() if level is not False]
            obeyed = all(s["before"] == s["after"] and s["asked"] == s["in_force"] == s["at_end"] for s in settings)
            if len(settings) != len(asked) or not obeyed:
                self._fault("proof missing", f"{run['run']}: {settings}")
        self.n_restored += sum(event.get("about") == "restored" for event in _events(results))

    def _planned_once(self, results: Path) -> list[dict[str, Any]]:
        """At the end: each planned run once; those that were made."""
        runs = [event for event in _events(results) if event["event"] == "run"]
        planned = [json.loads(line)["run"] for line in (results / "design.jsonl").read_text().splitlines()[1:]]
        names = [run["run"] for run in runs]
        if len({*names}) != len(names):
            self._fault("doubled", f"{names}")
        if {*names} != {*planned}:
            self._fault("not as planned", f"{len(names)} runs of {len(planned)}")
        self.n_runs += len(runs)
        return runs

    def _fault(self, kind: str, text: str) -> None:
        self.faults[kind] += 1
        print(f"{kind}: study {self.n_studies}: {text}", file=sys.stderr, flush=True)

    def _forked(self, argv: list[str]) -> int:
        """Start the command in a fork, with a record of changes of its own."""
        sys.stdout.flush()
        heard, told = os.pipe()
        if pid := os.fork():
            os.close(told)
            os.read(heard, 1)  # it is about to be the command, and no longer this program
            os.close(heard)
            return pid
        code = 1
        try:
            os.setsid()
            for number in SIGNALS[1:]:  # as a shell would start it
                signal.signal(number, signal.SIG_DFL)
            said = os.open(self.folder / "said", os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o644)
            for fd, target in ((os.open(os.devnull, os.O_RDONLY), 0), (said, 1), (said, 2)):
                os.dup2(fd, target)
            kept = self.store()
            Store.locate = classmethod(lambda cls: kept)  # type: ignore[method-assign, assignment]
            sys.argv = ["scalograph", *argv]
            os.close(told)
            signal.signal(signal.SIGINT, signal.default_int_handler)
            try:
                scalograph()
            except SystemExit as ended:
                code = int(ended.code or 0)
        except KeyboardInterrupt:  # before the command had begun to hear it, or after it had ended
            code = 130
        except BaseException:
            print_exc()
        finally:
            os._exit(code)


def _events(results: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (results / "journal.jsonl").read_text().splitlines()]


def _ended(pid: int) -> int | None:
    found, status = os.waitpid(pid, os.WNOHANG)
    return os.waitstatus_to_exitcode(status) if found else None


def figures(campaign: Campaign, n_kills: int) -> Iterator[Figure]:
    """Carry out studies until there were so many kills; yield how much was done, then each fault with the limit 0."""
    while campaign.kills.total() < n_kills and not campaign.is_given_up():
        campaign.study(n_kills)
    by_signal = ", ".join(f"{n} {name}" for name, n in sorted(campaign.kills.items()))
    yield Figure("kills", campaign.kills.total(), "", note=by_signal)
    yield Figure("kills while a setting was changed", campaign.n_amid, "")
    yield Figure("studies", campaign.n_studies, "", note=f"{campaign.n_runs} runs")
    yield Figure("settings that a later start restored", campaign.n_restored, "")
    for kind in FAULTS:
        yield Figure(kind, campaign.faults[kind], "", 0)


def _import_all() -> None:
    """So that a fork has everything that makes runs; what reads results it imports itself where it needs it."""
    for room in ROOMS:
        for module in pkgutil.walk_packages(import_module(f"scalograph.{room}").__path__, f"scalograph.{room}."):
            if not module.name.endswith("__main__"):
                import_module(module.name)


def planted(folder: Path) -> Path:
    """Make plain files for the settings below a folder, and return it."""
    for name, value in SETTINGS.items():
        file = folder / "proc/sys" / name.replace(".", "/")
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(f"{value}\n")
    return folder


def main() -> int:
    """Carry out the campaign that the command line asks for; return 0 whatever it found."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--kills", type=int, default=KILLS, help=f"go on until there were so many ({KILLS})")
    parser.add_argument("--seed", type=int, default=SEED, help=f"of the moments ({SEED})")
    parser.add_argument("--machine", action="store_true", help="the settings of this machine, in place of plain files")
    parser.add_argument("--quick", action="store_true", help=f"{QUICK} kills")
    parser.add_argument("--json", action="store_true", help="one JSON line a figure instead of a table")
    args = parser.parse_args()
    become_subreaper()
    _import_all()
    with tempfile.TemporaryDirectory(prefix="settings-kills-") as folder:
        kernel = Path("/") if args.machine else planted(Path(folder) / "kernel")
        campaign = Campaign(kernel, Path(folder), random.Random(args.seed), 1 if args.quick else 2)
        for figure in figures(campaign, QUICK if args.quick else args.kills):
            _show(figure, args.json)
    return 0


if __name__ == "__main__":
    sys.exit(main())
