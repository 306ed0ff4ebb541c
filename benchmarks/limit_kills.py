"""Two hundred kills of studies that limit CPU time and memory: no cgroup of ours is left, and no run is lost.

As `settings_kills.py`, with the cgroups of this machine, which needs root. After a start that ended in order no cgroup
with a limit may be there; after a SIGKILL the next such start must have removed those that were left.
"""

import argparse
import os
import random
import secrets
import sys
import tempfile
from pathlib import Path

from command_common import _show
from settings_kills import QUICK, SEED, Campaign, _events, _import_all, figures

from scalograph.control.capacity import find_quota_refusal
from scalograph.control.memory import MIB, find_memory_refusal
from scalograph.control.store import Store
from scalograph.run.hosts.python_probe.tree import become_subreaper
from scalograph.system.cgroups import MEMORY, CgroupTree, controller_tree, cpu_tree

KILLS = 200
# How names of our cgroups begin: others may measure here, too.
OURS = "c0ffee"
STUDY = """\
version = 1
name = "killed"
title = "A study of limits that is killed"
work = "total"
seed = 5
[workload]
command = ["sleep", "0.02"]
[factors.quota]
control = "quota"
levels = [0.5, "none"]
[factors.memory]
control = "memory"
levels = [16, 64, "none"]
[protocol]
runs = 2
max_reruns = 0
timeout = "10s"
"""


class LimitCampaign(Campaign):
    """Studies of limits; the settings that must be as before are the cgroups that there are."""

    @property
    def trees(self) -> dict[str, CgroupTree | None]:
        return {"cpu_time": cpu_tree(), "memory": controller_tree(MEMORY)}

    def store(self) -> Store:
        """Return the record of changes, with the cgroups of this machine, which a start names as ours."""
        own, draw = f"{OURS}{os.getpid():x}", secrets.token_hex
        secrets.token_hex = lambda n=None: f"{own}{draw(4)}"
        trees = self.trees
        return Store(self.folder / "state", None, cpu_time=trees["cpu_time"], memory=trees["memory"])

    def values(self) -> dict[str, str]:
        """Return our cgroups as they are, by controller."""
        folders = {
            name: tree.mount.glob(f"scalograph-{OURS}*") for name, tree in self.trees.items() if tree is not None
        }
        return {name: " ".join(sorted(folder.name for folder in found)) for name, found in folders.items()}

    def _runs(self, results: Path) -> None:
        """At the end: each run had the limits of its configuration, as its record says."""
        for run in self._planned_once(results):
            levels, figures = run["configuration"], run["record"]["run"]
            limit = figures.get("memory_limit_bytes")
            given = {"quota": figures.get("quota_cpus") or "none", "memory": limit / MIB if limit else "none"}
            if given != levels:
                self._fault("proof missing", f"{run['run']}: {given} for {levels}")
        self.n_restored += sum(event.get("about") == "restored" for event in _events(results))


def main() -> int:
    """Carry out the campaign that the command line asks for; return 0 whatever it found."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--kills", type=int, default=KILLS, help=f"go on until there were so many ({KILLS})")
    parser.add_argument("--seed", type=int, default=SEED, help=f"of the moments ({SEED})")
    parser.add_argument("--quick", action="store_true", help=f"{QUICK} kills")
    parser.add_argument("--json", action="store_true", help="one JSON line a figure instead of a table")
    args = parser.parse_args()
    if refused := find_quota_refusal() or find_memory_refusal():
        print(f"no limits are granted here: {refused.why}", file=sys.stderr)
        return 0
    become_subreaper()
    _import_all()
    with tempfile.TemporaryDirectory(prefix="limit-kills-") as folder:
        campaign = LimitCampaign(Path("/"), Path(folder), random.Random(args.seed), 1 if args.quick else 2, STUDY)
        for figure in figures(campaign, QUICK if args.quick else args.kills):
            _show(figure, args.json)
    return 0


if __name__ == "__main__":
    sys.exit(main())
