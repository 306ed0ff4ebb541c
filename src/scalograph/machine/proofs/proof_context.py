"""The path that a measurement takes, from a declared study to a verdict, for the studies of sanity workloads."""

import os
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from uuid import uuid4

from scalograph.control.store import CHANGES
from scalograph.errors import HostError
from scalograph.machine.proofs.proof import NotProvableError, expect
from scalograph.machine.proofs.proof_run import Leftovers, ProofRun, kill_marked, read_proof_runs
from scalograph.protocol.facts import HostFacts
from scalograph.run.hosts.base import Host
from scalograph.run.interrupts import make_interrupt
from scalograph.run.launches import launches
from scalograph.run.plan import Plan, plan
from scalograph.run.runner import Runner
from scalograph.run.session import begin, run_session
from scalograph.study.declare import Declared, declare
from scalograph.study.program import program
from scalograph.study.shipped import shipped_workload
from scalograph.system.cgroups import CgroupTree, cgroup2_mount, read
from scalograph.system.private_dir import state_folder
from scalograph.system.stale_cgroups import list_leaves
from scalograph.text.format import format_cpu_list

_GOVERNORS = "sys/devices/system/cpu/cpu*/cpufreq/scaling_governor"
_OF_A_CGROUP = ("cgroup.subtree_control", "cpuset.cpus", "cpuset.cpus.partition", "cpuset.cpus.effective")


def read_settings(root: Path = Path("/")) -> dict[str, str]:
    """Read what runs may change, by name; what this machine does not have is absent."""
    values = dict(_process_settings())
    values |= {f"governor of {file.parts[-3]}": read(file) or "" for file in sorted(root.glob(_GOVERNORS))}
    for home in leaf_parents(root):
        values |= {f"{home / name}": value for name in _OF_A_CGROUP if (value := read(home / name)) is not None}
    folder = state_folder()
    values["changes that were not undone"] = "yes" if folder and (folder / CHANGES).exists() else "none"
    return values


def leaf_parents(root: Path = Path("/")) -> list[Path]:
    """Return the cgroups in which leaves are made: our own, and the root of the hierarchy. None without cgroup v2."""
    mount = cgroup2_mount(root)
    if mount is None:
        return []
    return list(dict.fromkeys((CgroupTree(mount, root).own_folder() or mount, mount)))


def find_empty_leaves(root: Path = Path("/")) -> set[Path]:
    """Find leaves of ours that hold no process; those of another active probe do."""
    leaves = (leaf for home in leaf_parents(root) for leaf in list_leaves(home))
    return {leaf for leaf in leaves if "populated 0" in (read(leaf / "cgroup.events") or "")}


def _process_settings() -> Iterator[tuple[str, str]]:
    yield "our policy", str(os.sched_getscheduler(0))
    yield "our nice value", str(os.getpriority(os.PRIO_PROCESS, 0))
    yield "our CPUs", format_cpu_list(sorted(os.sched_getaffinity(0)))
    yield "our cgroup", read(Path("/proc/self/cgroup")) or "unknown"


class ProofContext:
    """Runs the study of a sanity workload and reads its journal back. Each study runs once, however many ask.

    The machine must be locked. At its end no process with its mark is left. Results have one folder a study; `tell`
    gets the name of each study that begins.
    """

    def __init__(self, host: Host, folder: Path, tell: Callable[[str], None] = lambda text: None) -> None:
        self.facts, self.folder, self.used = host.facts(), folder, set[Path]()
        self._host, self._tell = host, tell
        self.before, self.leaves_before = read_settings(), find_empty_leaves()
        self.mark = f"scalograph-sanity-{uuid4().hex}"
        self.done: dict[Path, list[ProofRun]] = {}

    def __enter__(self) -> "ProofContext":
        return self

    def __exit__(self, *_: object) -> None:
        kill_marked(self.mark)

    def run(
        self, name: str, file: str = "study.toml", facts: HostFacts | None = None, label: str = ""
    ) -> list[ProofRun]:
        """Return all runs of a study beside a workload, `pinning` say.

        `facts` may be of a smaller host than this one, and `label` tells results of one study apart that runs twice.

        Raises:
            NotProvableError: the workload cannot be compiled here.
            ScalographError: the path itself gave up.
        """
        folder = self.folder / (label or f"{name}-{Path(file).stem}")
        self.used.add(folder)
        if folder not in self.done:
            self._tell(folder.name)
            planned = plan(self._declare(name, file), facts or self.facts)
            self.done[folder] = self._run(self._ready(planned), folder)
        return self.done[folder]

    def _declare(self, name: str, file: str) -> Declared:
        """Declare the study, with a mark that finds its processes in those workloads that can bear one."""
        declared = declare(shipped_workload(f"sanity/{name}") / file)
        use = declared.study.workload
        if "token" not in program(use, declared.folder).values:
            return declared
        use = use.model_copy(update={"parameters": {**use.parameters, "token": self.mark}})
        return replace(declared, study=declared.study.model_copy(update={"workload": use}))

    def _ready(self, planned: Plan) -> Plan:
        try:
            return self._host.ready(planned, lambda text: None)
        except HostError as error:
            problem = error.problems[0]
            reason = f"its workload was not made ready: {problem.where}: {problem.found}"
            raise NotProvableError(reason, problem.fix or "apt install gcc libc6-dev") from error

    def _run(self, planned: Plan, folder: Path) -> list[ProofRun]:
        session, watch = begin(planned, folder), Leftovers(self.mark)
        instrument, probe = Runner(planned, self._host), self._host.probe.name
        done = run_session(planned, session, instrument, probe, watch.watching, None)
        if done.reason == "interrupted":  # it ends all, as the signal meant
            raise make_interrupt(done.signal)
        runs = read_proof_runs(
            session.journal, lambda configuration: launches(planned, configuration)[0].cpus, watch.left
        )
        expect(len(runs) == planned.design.n_runs, f"{len(runs)} runs in the journal", f"{planned.design.n_runs}")
        return runs
