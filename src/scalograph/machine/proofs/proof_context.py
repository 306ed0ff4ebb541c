"""The path that a measurement takes, from a declared study to a verdict, for the studies of sanity workloads."""

import os
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from uuid import uuid4

from scalograph.control.store import CHANGES
from scalograph.errors import HostError
from scalograph.machine.proofs import proof
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
from scalograph.system.stale_processes import list_leaves
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
        self.done: dict[Path, list[proof.ProofRun]] = {}

    def __enter__(self) -> "ProofContext":
        return self

    def __exit__(self, *_: object) -> None:
        proof.kill_marked(self.mark)

    def run(
        self, name: str, file: str = "study.toml", facts: HostFacts | None = None, label: str = ""
    ) -> list[proof.ProofRun]:
        """Return all runs of a study beside a workload, `pinning` say.

        `facts` may be of a smaller host than this one, and `label` tells results of one study apart that runs twice.

        Raises NotProvableError: the workload cannot be compiled here; ScalographError: the path itself gave up.
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
            raise proof.NotProvableError(reason, problem.fix or "apt install gcc libc6-dev") from error

    def _run(self, planned: Plan, folder: Path) -> list[proof.ProofRun]:
        session, watch = begin(planned, folder), proof.Leftovers(self.mark)
        instrument, probe = Runner(planned, self._host), self._host.probe.name
        done = run_session(planned, session, instrument, probe, watch.watching, None)
        if done.reason == "interrupted":  # it ends all, as the signal meant
            raise make_interrupt(done.signal)
        runs = proof.read_proof_runs(
            session.journal, lambda configuration: launches(planned, configuration)[0].cpus, watch.left
        )
        proof.expect(len(runs) == planned.design.n_runs, f"{len(runs)} runs in the journal", f"{planned.design.n_runs}")
        return runs


_STDERR_BYTES = 65_536
_SIGKILL = 9
# Of iterations like these, a line of the journal (4 MiB) holds fewer.
_MAX_ITERATIONS = 100_000


def check_crash(context: ProofContext) -> str:
    """Check runs that end by a signal of their own."""
    runs = context.run("crash")
    for ran in runs:
        proof.expect_failure(ran, "signal")
        _expect_end(ran, None, ran.configuration["signal"])
        kept = ran.record.copies[0].stderr_tail
        proof.expect(kept == "about to crash\n", f"standard error {kept[-80:]!r}", repr("about to crash\n"))
    return f"{len(runs)} crashes, each with the number of its signal, no exit code, and failed"


def check_exit_code(context: ProofContext) -> str:
    """Check every way to end by itself; 69 gives a reason."""
    runs = context.run("exit-code")
    for ran in runs:
        code = ran.configuration["code"]
        if code:
            proof.expect_failure(ran, "failed", "asked to end with 69" if code == 69 else "")
        else:
            proof.expect_success(ran)
        _expect_end(ran, code, None)
    return f"{len(runs)} exit codes arrived: 0 is ok, all others failed, 69 with its sentence"


def check_garbage(context: ProofContext) -> str:
    """Check lines that follow no form."""
    runs = context.run("garbage")
    for ran in runs:
        proof.expect_failure(ran, "protocol", "hello" if ran.configuration["kind"] == "text" else "")
    return f"{len(runs)} ways to break the line protocol: each ended the run with status protocol, and failed"


def check_timeout(context: ProofContext, name: str) -> str:
    """Check a workload that refuses to end, or never says ready."""
    runs = context.run(name)
    for ran in runs:
        proof.expect_failure(ran, "timeout")
        proof.expect_no_processes(ran)
        signals = [copy.signal for copy in ran.record.copies]
        expected = [_SIGKILL] * ran.configuration["copies"]
        proof.expect(signals == expected, f"copies ended by signals {signals}", str(expected))
        proof.expect("ready" not in (ran.record.run.reason or ""), ran.record.run.reason, "the timeout of the run")
    return f"{len(runs)} runs ended at their timeout, with all of their processes, and failed"


def check_much_output(context: ProofContext) -> str:
    """Check more output than anyone keeps."""
    runs = context.run("much-output")
    for ran in runs:
        proof.expect_success(ran)
        (copy,) = ran.record.copies
        n = len(copy.stderr_tail)
        proof.expect(
            copy.stdout is None and n <= _STDERR_BYTES, f"{n} bytes kept", f"at most {_STDERR_BYTES}, no output"
        )
        proof.expect(copy.stderr_tail.endswith("the last line\n"), f"kept {copy.stderr_tail[-20:]!r}", "the last line")
    most = max(ran.configuration["mib"] for ran in runs)
    return f"of {most} MiB the end was saved, and the run was ok"


def check_iterations(context: ProofContext) -> str:
    """Check as many iterations as were asked for, then others, then more than a line of the journal holds."""
    for ran in context.run("many-iterations", "asked.toml"):
        proof.expect_success(ran)
        parts = ran.record.iterations
        pairs = [pair for part in parts for pair in zip(part.index, part.work, strict=True)]
        indexes = [index for index, work in pairs if index == work]
        proof.expect(indexes == list(range(20_000)), f"{len(indexes)} iterations, or not in order", "20000 in order")
    for ran in context.run("many-iterations"):
        n = ran.configuration["iterations"]
        if n > _MAX_ITERATIONS:
            proof.expect_failure(ran, "failed", "too large for the journal")
        elif n > 1:
            expected = (f"reported {n} of 1 iterations",)
            proof.expect((ran.verdict, ran.causes) == ("failed", expected), f"{ran.verdict}, {ran.causes}", expected[0])
        else:
            proof.expect_success(ran)
    return "20000 arrived in order; more than were asked for, or than a journal holds, are failed runs"


def _expect_end(ran: proof.ProofRun, code: int | None, signal: int | None) -> None:
    ends = [(copy.exit_code, copy.signal) for copy in ran.record.copies]
    proof.expect(ends == [(code, signal)], f"exit code and signal {ends}", str([(code, signal)]))
