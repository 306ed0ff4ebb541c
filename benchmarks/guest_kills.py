"""Guests whose power is cut at drawn moments: each is one failed run, no run is lost, and nothing of them stays.

A study of two settings is started with --host guest. While a guest lives, QEMU is killed at a drawn moment, which is to
the guest as if its power were cut; or the start itself is killed, and takes its guest along. Such a start is gone on
with until the study has all of its runs.
"""

import argparse
import os
import random
import signal
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "src"))

import settings_kills
from command_common import Figure, _show
from settings_kills import DONE, Campaign

from scalograph.run.hosts.python_probe.tree import become_subreaper, descendants, reap

SEED, KILLS, QUICK = 7, 30, 2
STUDY = """\
version = 1
name = "cut"
title = "A study of settings whose guests lose their power"
work = "total"
seed = 5
[workload]
command = ["sleep", "5"]
[factors.swappiness]
control = "sysctl:vm.swappiness"
levels = [false, 10]
[factors.cluster]
control = "sysctl:vm.page-cluster"
levels = [2, 4]
[protocol]
runs = 2
max_reruns = 0
timeout = "60s"
"""
# What a run says whose guest went before it did.
CUT = ("guest: did not boot;", "guest: ended before its run did;")
# One of so many kills is of the start, the second first; and of so many guests one is left alone.
STARTS, LEFT_ALONE = 4, 3
HANG_S, SETTLE_S = 1800.0, 10.0
FAULTS = (*settings_kills.FAULTS, "left behind", "not explained")


@dataclass
class Life:
    """A guest from its start to its end, by its process; `whom` is to be killed at `end`."""

    guest: int
    began: float = 0.0
    whom: str = ""
    end: float = 0.0
    is_cut: bool = False


@dataclass
class GuestCampaign(Campaign):
    """A campaign whose harms are to guests; of this machine no setting may change meanwhile."""

    text: str = STUDY
    n_cut: Counter[str] = field(default_factory=Counter)
    _age_s: float = 1.0
    _enough: int = 0
    _n_killed: int = 0

    def study(self, enough: int) -> None:
        """Carry out one study to its end, whose guests are killed for as long as there are too few kills."""
        self._enough, self._n_killed = enough, 0
        super().study(enough)

    def _start(self, results: Path, wanted: signal.Signals | None) -> int:
        """One start; its exit code, a signal as a negative number."""
        begun = (results / "journal.jsonl").exists() and (results / "journal.jsonl").stat().st_size > 0
        argv = ["run", str(self.folder / "study.toml"), "-o", str(results), "--host", "guest", *["--resume"] * begun]
        pid, began, life, is_killed = self._forked(argv), time.monotonic(), Life(0), False
        while (code := settings_kills._ended(pid)) is None:
            time.sleep(0.01)
            guest = guest_of(pid)
            if guest != life.guest:
                life = self._next(life, guest)
            if life.whom and time.monotonic() >= life.end:
                self._kill(life.whom, guest if life.whom == "guest" else pid)
                is_killed = is_killed or life.whom == "start"
                life.whom, life.is_cut = "", True
            if time.monotonic() - began > HANG_S:
                self._fault("hang", f"no end after {HANG_S:g} s")
                os.kill(pid, signal.SIGKILL)
                began, is_killed = time.monotonic(), True
        self._check(code, is_killed)
        self._none_left(code)
        return code

    def _next(self, before: Life, guest: int) -> Life:
        """Draw what becomes of the guest that has just come; one that was left alone tells how long they live."""
        now = time.monotonic()
        if before.guest and not before.is_cut:
            self._age_s = now - before.began
        if not guest or self.kills.total() >= self._enough or self.rng.randrange(LEFT_ALONE) == 0:
            return Life(guest, now)
        whom = "start" if self.kills.total() % STARTS == 1 else "guest"
        return Life(guest, now, whom, now + self.rng.uniform(0, self._age_s))

    def _kill(self, whom: str, pid: int) -> None:
        try:
            os.kill(pid, signal.SIGKILL)
        except ProcessLookupError:
            return
        self.kills[whom] += 1
        self._n_killed += whom == "guest"

    def _none_left(self, code: int) -> None:
        """Nothing runs on; and a start that ended in order has removed its folders."""
        until = time.monotonic() + SETTLE_S
        while (left := descendants(os.getpid())) and time.monotonic() < until:
            reap()
            time.sleep(0.01)
        for pid in left:
            self._fault("left behind", f"process {pid}, {_comm(pid)}, after exit code {code}")
            os.kill(pid, signal.SIGKILL)
        scratch = [*Path(tempfile.gettempdir()).glob("scalograph-*")]
        if scratch and code in DONE:
            self._fault("left behind", f"{scratch}")

    def _runs(self, results: Path) -> None:
        """At the end: each planned run once; it had its settings, or its guest was killed and it says so."""
        runs = self._planned_once(results)
        failed = [run for run in runs if run["record"]["run"]["status"] != "ok"]
        for run in runs:
            record, asked = run["record"], [level for level in run["configuration"].values() if level is not False]
            if run in failed:
                self._failed(run["run"], record["run"]["reason"] or "")
                continue
            settings = record["settings"]
            if len(settings) != len(asked) or any(not s["asked"] == s["in_force"] == s["at_end"] for s in settings):
                self._fault("proof missing", f"{run['run']}: {settings}")
        if len(failed) > self._n_killed:
            self._fault("not explained", f"{len(failed)} failed runs, {self._n_killed} guests killed")

    def _failed(self, run: str, reason: str) -> None:
        how = next((words for words in CUT if words in reason), "")
        self.n_cut[how] += 1
        if not how:
            self._fault("not explained", f"{run}: {reason[:300]}")


def guest_of(pid: int) -> int:
    """Return the process of QEMU below another one; 0 if there is none."""
    return next((child for child in children(pid) if _comm(child).startswith("qemu-system")), 0)


def children(pid: int) -> list[int]:
    """Return the children of the first thread of a process; none of one that is gone."""
    try:
        return [*map(int, Path(f"/proc/{pid}/task/{pid}/children").read_text().split())]
    except OSError:
        return []


def _comm(pid: int) -> str:
    try:
        return Path(f"/proc/{pid}/comm").read_text().strip()
    except OSError:
        return ""


def figures(campaign: GuestCampaign, n_kills: int) -> Iterator[Figure]:
    """Carry out studies until there were so many kills; yield how much was done, then each fault with the limit 0."""
    while campaign.kills.total() < n_kills and not campaign.is_given_up():
        campaign.study(n_kills)
    by_whom = ", ".join(f"{n} {name}" for name, n in sorted(campaign.kills.items()))
    yield Figure("kills", campaign.kills.total(), "", note=by_whom)
    for how in CUT:
        yield Figure(f"runs, {how.strip(';')}", campaign.n_cut[how], "")
    yield Figure("studies", campaign.n_studies, "", note=f"{campaign.n_runs} runs")
    for kind in FAULTS:
        yield Figure(kind, campaign.faults[kind], "", 0)


def main() -> int:
    """Carry out the campaign that the command line asks for; return 0 whatever it found."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--kills", type=int, default=KILLS, help=f"go on until there were so many ({KILLS})")
    parser.add_argument("--seed", type=int, default=SEED, help=f"of the moments ({SEED})")
    parser.add_argument("--quick", action="store_true", help=f"{QUICK} kills")
    parser.add_argument("--json", action="store_true", help="one JSON line a figure instead of a table")
    args = parser.parse_args()
    become_subreaper()
    settings_kills._import_all()
    with tempfile.TemporaryDirectory(prefix="guest-kills-") as folder:
        (Path(folder) / "tmp").mkdir()
        tempfile.tempdir = str(Path(folder) / "tmp")  # its forks' scratch folders too
        campaign = GuestCampaign(Path("/"), Path(folder), random.Random(args.seed), 1 if args.quick else 2)
        for figure in figures(campaign, QUICK if args.quick else args.kills):
            _show(figure, args.json)
    return 0


if __name__ == "__main__":
    sys.exit(main())
