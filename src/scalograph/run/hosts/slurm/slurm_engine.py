"""Slurm as an engine: sbatch, squeue, scontrol, sacct and scancel, each call bounded in time."""

import math
import os
import re
import shutil
import subprocess
from collections.abc import Iterator, Sequence

from scalograph.control.host_facts import read_host_facts
from scalograph.control.machine_control import MACHINE_SETTINGS
from scalograph.errors import HostError
from scalograph.protocol.facts import ClusterFacts, CpuFact, HostFacts
from scalograph.run.caller_environment import PASSED_ON
from scalograph.run.hosts.slurm.engine import EngineAwayError, JobEnd, JobRequest, JobState, RefusedJobError
from scalograph.study.scalars import suggest

INSTALL = "run it on a login node of the cluster; to try it on one machine: docs/howto/cluster.md"
CALL_S = 60.0
LICENSE = "machine"
_NEEDED = ("sbatch", "squeue", "scontrol", "scancel", "sinfo", "srun")
# What Slurm's commands say of a controller that is away, busy, or starting.
_AWAY = re.compile(
    r"Unable to contact slurm controller|Socket timed out|Connection (refused|timed out|reset)|Zero Bytes were"
    r"|Communication connection failure|in standby mode|temporarily|Transport endpoint|Unexpected message received"
)
_UNKNOWN = re.compile(r"Invalid job id")
_PENDING = ("PENDING", "CONFIGURING", "REQUEUED", "REQUEUE_HOLD", "SUSPENDED", "RESV_DEL_HOLD", "SPECIAL_EXIT")
_RUNNING = ("RUNNING", "COMPLETING", "STAGE_OUT", "SIGNALING", "RESIZING", "STOPPED")
# States of nodes on which no job starts.
_GONE = re.compile(r"down|drain|fail|error|future|power|unknown|maint|inval|perfctrs|plnd_down")
_END = {
    "COMPLETED": "it ended by itself", "TIMEOUT": "its time limit was over", "DEADLINE": "its time limit was over",
    "NODE_FAIL": "a node failed", "BOOT_FAIL": "a node failed", "PREEMPTED": "another job took its place (preempted)",
    "OUT_OF_MEMORY": "its memory was used up (out of memory)", "CANCELLED": "it was cancelled", "FAILED": "it failed",
    "REVOKED": "it was revoked",
}  # fmt: skip
_SHOWN = re.compile(r"\bJobState=(\S+) Reason=(\S+)")


class SlurmEngine:
    """The Slurm that the commands on PATH reach; `partition` is empty for the default one."""

    def __init__(self, partition: str = "") -> None:
        """Raises HostError: there is no Slurm here."""
        missing = [name for name in _NEEDED if shutil.which(name) is None]
        if missing:
            raise HostError("--host slurm", f"no {', '.join(missing)} on PATH", "the commands of Slurm", INSTALL)
        self._partition = partition
        self._licenses: str | None = None

    def facts(self) -> HostFacts:
        """Return a node of the partition: the fewest CPUs and the least memory that one has. Raises HostError."""
        rows = [*_read_nodes(_call("sinfo", "--noheader", "--format=%P|%R|%D|%c|%m|%T|%l"))]
        names = sorted({row.partition for row in rows})
        name = self._partition or next((row.partition for row in rows if row.is_default), names[0] if names else "")
        if name not in names:
            fix = suggest(name, names) or "see sinfo"
            raise HostError("--host slurm", f'no partition "{name}"', f"one of {', '.join(names)}", fix)
        usable = [row for row in rows if row.partition == name and not _GONE.search(row.state)]
        if not usable:
            raise HostError("--host slurm", f"no node of {name} takes jobs", "one that is up", "see sinfo")
        here = read_host_facts()
        memory = min(row.memory_mib for row in usable)
        cluster = ClusterFacts(
            engine="slurm", partition=name, n_nodes=sum(row.n_nodes for row in usable), partitions=tuple(names),
            limit_s=usable[0].limit_s,
        )  # fmt: skip
        return HostFacts(
            cpus=tuple(CpuFact(cpu=cpu, core=cpu) for cpu in range(min(row.n_cpus for row in usable))),
            memory_bytes=memory << 20 if memory > 1 else None, architecture=here.architecture, jvms=here.jvms,
            reached="slurm", cluster=cluster, refused={MACHINE_SETTINGS: "a cluster's nodes are set by its owners"},
            environment={name: os.environ[name] for name in PASSED_ON if name in os.environ},
        )  # fmt: skip

    def submit(self, request: JobRequest) -> str:
        words = [
            "--parsable", "--exclusive", "--no-requeue", f"--job-name={request.name}", f"--nodes={request.nodes}",
            f"--time={math.ceil(request.limit_s / 60)}", f"--output={request.folder}/output", "--open-mode=append",
            f"--chdir={request.folder}", *self._place_words(request),
        ]  # fmt: skip
        try:
            answer = _call("sbatch", *words, str(request.script), *request.arguments)
        except EngineAwayError:
            raise
        except HostError as error:
            problem = error.problems[0].found
            raise RefusedJobError("sbatch", problem, "a job that the queue takes", "see sinfo and squeue") from None
        job = answer.strip().partition(";")[0]
        if not job.isdecimal():
            raise RefusedJobError("sbatch", f"told {answer.strip()[:80]!a}", "the id of a job", "look at your Slurm")
        return job

    def _place_words(self, request: JobRequest) -> Iterator[str]:
        if partition := request.partition or self._partition:
            yield f"--partition={partition}"
        if request.constraint:
            yield f"--constraint={request.constraint}"
        if self._licenses is None:
            self._licenses = _call("scontrol", "show", "licenses", "--oneliner")
        if f"LicenseName={LICENSE} " in self._licenses:  # a cluster to try: one machine, so one job at a time
            yield f"--licenses={LICENSE}:1"

    def find(self, name: str) -> str | None:
        jobs = _call("squeue", "--noheader", "--me", "--states=all", f"--name={name}", "--format=%i").split()
        return jobs[0] if jobs else None

    def state(self, job: str) -> JobState | None:
        try:
            answer = _call("squeue", "--noheader", "--states=all", f"--jobs={job}", "--format=%T|%r")
        except EngineAwayError:
            raise
        except HostError as error:
            if _UNKNOWN.search(error.problems[0].found):
                return None
            raise
        name, _, reason = answer.strip().partition("|")
        if not name:
            return None
        text = f"{name.lower()} ({reason})" if reason and reason != "None" else name.lower()
        return JobState("pending" if name in _PENDING else "running" if name in _RUNNING else "ended", text)

    def cancel(self, job: str) -> None:
        _call("scancel", "--quiet", job)

    def end(self, job: str) -> JobEnd | None:
        try:
            if match := _SHOWN.search(_call("scontrol", "show", "job", job, "--oneliner")):
                return _make_end(match[1], match[2])
        except EngineAwayError:
            raise
        except HostError:
            pass  # the controller has forgotten it
        try:
            answer = _call("sacct", "--noheader", "--parsable2", "--allocations", f"--jobs={job}", "--format=State")
        except HostError:
            return None  # there is no accounting
        state, _, by = answer.strip().partition(" ")
        return _make_end(state, by) if state else None


def _make_end(state: str, reason: str) -> JobEnd:
    words = _END.get(state, state.lower())
    more = f": {reason}" if reason not in ("", "None") else ""
    return JobEnd(f"{words}{more}", by_others=state in ("CANCELLED", "REVOKED"))


class _Nodes:
    """A line of sinfo: nodes of a partition that are alike."""

    def __init__(self, line: str) -> None:
        default, self.partition, n, cpus, memory, self.state, limit = line.strip().split("|")
        self.is_default = default.endswith("*")
        self.n_nodes, self.n_cpus, self.memory_mib = (int(text.rstrip("+")) for text in (n, cpus, memory))
        self.limit_s = parse_limit(limit)


def _read_nodes(answer: str) -> Iterator[_Nodes]:
    for line in answer.splitlines():
        try:
            yield _Nodes(line)
        except ValueError:
            raise HostError("sinfo", f"told {line[:80]!a}", "the nodes of partitions", "look at your Slurm") from None


def parse_limit(text: str) -> float | None:
    """Return a time limit of Slurm in seconds; None if there is none.

    >>> parse_limit("1-02:00:00"), parse_limit("30:00"), parse_limit("infinite")
    (93600.0, 1800.0, None)
    """
    if text in ("infinite", "UNLIMITED", "n/a"):
        return None
    days, dash, clock = text.rpartition("-")
    parts = [int(part) for part in clock.split(":")]
    if dash:  # days-hours[:minutes[:seconds]]
        parts = [*parts, 0, 0][:3]
    hours, minutes, seconds = [0, 0, 0, *parts][-3:]
    return float(int(days or 0) * 86400 + hours * 3600 + minutes * 60 + seconds)


def _call(*argv: str) -> str:
    """Return what a command of Slurm prints. Raises EngineAwayError: no answer in time; HostError: it says no."""
    environment = {**os.environ, "LC_ALL": "C"}
    try:
        # A session of its own: Ctrl-C is ours to handle.
        done = subprocess.run(
            argv, env=environment, stdin=subprocess.DEVNULL, capture_output=True, text=True, errors="replace",
            timeout=CALL_S, check=False, start_new_session=True,
        )  # fmt: skip
    except subprocess.TimeoutExpired:
        raise _away(argv[0], f"no answer within {CALL_S:g} s") from None
    except OSError as error:
        raise HostError(argv[0], f"cannot be started: {error.strerror}", "Slurm's command", INSTALL) from None
    if done.returncode == 0:
        return done.stdout
    problem = _last_words(done.stderr) or f"exit code {done.returncode}"
    if _AWAY.search(done.stderr):
        raise _away(argv[0], problem)
    fix = INSTALL if "configuration" in problem else "see sinfo and squeue"
    raise HostError(argv[0], problem, "an answer of Slurm", fix)


def _away(program: str, problem: str) -> EngineAwayError:
    return EngineAwayError(program, problem, "an answer of Slurm's controller", "wait, then add --resume")


def _last_words(text: str) -> str:
    lines: Sequence[str] = [line.strip() for line in text.splitlines() if line.strip()]
    return re.sub(r"^\w+: (error: )?", "", lines[-1])[:300] if lines else ""
