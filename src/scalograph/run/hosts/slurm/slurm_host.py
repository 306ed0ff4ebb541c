"""Make runs as job steps of Slurm: the runs of a block go to the queue as jobs, and their answers are awaited.

Results lie in a folder that the nodes share. Tasks are watched, other programs of their nodes are not: runs are
unverified.
"""

import json
import os
import secrets
import signal
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import replace
from functools import cached_property
from pathlib import Path
from tempfile import mkdtemp
from typing import Any

from msgspec.structs import replace as replace_part

from scalograph.control.control import Launch
from scalograph.design.ladder import anchor_runs, max_idle, reference_s
from scalograph.errors import HostError, ProtocolError
from scalograph.protocol.facts import HostFacts
from scalograph.protocol.record import Degraded, Record, RunFigures
from scalograph.protocol.record_processes import TASKS, JobStep, JobTask
from scalograph.run.hosts.base import Host, Specification, Tell
from scalograph.run.hosts.local.local_host import MAX_NOT_STARTED, LocalHost, describe_step_failure, step_line
from scalograph.run.hosts.local.probe import find_probe, interrupted_record, lost_record, parse_answer
from scalograph.run.hosts.local.probe_process import ProbeAnswer
from scalograph.run.hosts.machines.merged_record import join_figures
from scalograph.run.hosts.slurm.allocation import AllocationEngine
from scalograph.run.hosts.slurm.engine import Engine, JobEnd, JobRequest
from scalograph.run.hosts.slurm.job_folder import JobFolder, prepare_home, remove_home
from scalograph.run.hosts.slurm.job_plan import PlannedJob, blocks_of, describe_study, request_reader, split_block
from scalograph.run.hosts.slurm.job_queue import ActiveJob, JobQueue
from scalograph.run.hosts.slurm.slurm_engine import SlurmEngine
from scalograph.run.interrupts import pending_signal
from scalograph.run.plan import Plan
from scalograph.run.runner import Runner
from scalograph.study.levels import Run
from scalograph.study.processes import fill
from scalograph.system import quiet
from scalograph.system.private_dir import is_full
from scalograph.text.quantities import percent_at_most

HOME = "slurm"
HOWTO = "see docs/howto/cluster.md"
# What a job takes beside its runs: its start, and what is ended after a run that was killed.
EACH_S, PER_RUN_S = 120.0, 40.0
# Mean CPU time of tasks over the largest, below which they are reported as uneven.
UNEVEN = 0.8
# Jobs that may be lost over one run before it counts as failed.
MAX_LOST = 3


def connect(partition: str = "", wait_s: float | None = None) -> Host:
    """Return the cluster, by its default partition or the one named; inside an allocation, that.

    Raises HostError: there is no Slurm here.
    """
    probe = find_probe()
    if probe.warning:
        raise HostError("--host slurm", "no native probe", "one that needs no library", probe.warning)
    if "SLURM_JOB_ID" in os.environ:
        if partition:
            raise HostError("--host", f"slurm:{partition} inside an allocation", "slurm", "leave the partition out")
        return SlurmHost(AllocationEngine())
    return SlurmHost(SlurmEngine(partition))


class SlurmHost(LocalHost):
    """The nodes of a cluster: programs are built and set up here, on a file system that the nodes share."""

    def __init__(self, engine: Engine) -> None:
        super().__init__(find_probe())
        self._engine, self._queue = engine, JobQueue(engine)
        self._home: Path | None = None
        self._is_temporary, self._is_ready, self._keeps_jobs = False, False, False
        self._folders = dict[str, list[JobFolder]]()  # by run
        self._returned = set[tuple[Path, str]]()  # a run that is asked for again is made again
        self._examined, self._slow_nodes = set[Path](), set[str]()
        self._n_jobs, self._n_lost = 0, dict[str, int]()
        self._n_failed, self._is_uneven = 0, False
        self._lost_jobs = dict[str, list[str]]()  # reasons, by the run that was awaited

    @cached_property
    def _facts(self) -> HostFacts:
        return self._engine.facts()

    def ready(self, planned: Plan, tell: Tell) -> Plan:
        """Build the program and carry out `setup`, here; report the jobs and the node-hours that the study takes.

        Raises HostError: as of this machine, or the study asks for what no job step does.
        """
        self._queue.tell = tell
        _refuse_events(planned)
        planned = super().ready(planned, tell)
        self._planned, self._runner = planned, Runner(planned, self, lambda *_: 0.0)
        self._request = request_reader(planned.design.study)
        cluster = planned.facts.cluster
        jobs = describe_study(planned.design.study, planned.runs.planned_runs())
        tell(f"{cluster.partition if cluster else ''}: {jobs}")
        return planned

    @cached_property
    def _blocks(self) -> dict[int, list[Run]]:
        return blocks_of(self._planned.runs.planned_runs())

    def keep_in(self, folder: Path) -> None:
        """Keep the files of jobs beside the results; take over jobs of an earlier session that go on."""
        self._home = folder.absolute() / HOME
        for job in sorted(map(JobFolder, self._home.glob("job-*")), key=lambda job: job.number):
            self._add_folder(job)
            self._queue.adopt(job)

    def _add_folder(self, folder: JobFolder) -> None:
        self._n_jobs = max(self._n_jobs, folder.number)
        for run in folder.runs():
            self._folders.setdefault(run, []).append(folder)

    def sample_load(self) -> quiet.LoadSample:
        """Return an empty sample: this machine is none of the nodes."""
        return quiet.LoadSample({})

    def measure(self, spec: Specification) -> Record:
        """Return the record of a run, from the job that makes it; one is submitted for all runs of its block.

        Raises HostError: the queue refuses the job, somebody else cancelled it, or the queue does not answer for long.
        """
        if pending_signal() is not None:
            return interrupted_record()
        self._open_home()
        run = spec.run.run
        while True:
            if (answered := self._find_answer(spec)) is not None:
                return self._count_failures(answered)
            try:
                active = self._queue.job_of(run)
                if active is not None and (active.folder.path, run) in self._returned:
                    active = None
                if active is not None and active.folder.line(run) != self._line(spec, active.folder):
                    self._queue.cancel(active)  # of another program or other levels
                    active = None
                active = active or self._submit(spec.run)
                end = self._queue.wait(run)
            except KeyboardInterrupt:
                # Whose terminal is gone wants the jobs: a later session takes them over.
                self._keeps_jobs = pending_signal() == signal.SIGTERM
                return interrupted_record()
            if end is not None and (lost := self._lose(active, run, end)) is not None:
                return self._count_failures(lost)

    def _count_failures(self, record: Record) -> Record:
        """Return the record. Raises HostError: as many runs on end as end a study were lost with their jobs."""
        self._n_failed = self._n_failed + 1 if not record.copies and record.run.status == "failed" else 0
        if self._n_failed == MAX_NOT_STARTED:
            raise HostError("--host slurm", record.run.reason or "", "runs that end", HOWTO)
        return record

    def _open_home(self) -> None:
        if self._is_ready:
            return
        if self._home is None:  # runs without a results folder, which nobody resumes
            self._home, self._is_temporary = Path(mkdtemp(prefix=".scalograph-", dir=Path.cwd())), True
        prepare_home(self._home, Path(self.probe.argv[0]))
        self._is_ready = True

    def _find_answer(self, spec: Specification) -> Record | None:
        """Return the record of a run that a job has made; None if none has."""
        if (folder := self._find_made(spec)) is None:
            return None
        self._returned.add((folder.path, spec.run.run))
        self._name_slow_nodes(folder)
        step = replace_part(folder.step(spec.run.run), lost=self._lost_jobs.pop(spec.run.run, []))
        record = keep_watched_part(self._read_record(spec, folder), step)
        request = spec.launches[0].request
        if request.get("launcher") == "none":
            return record
        n_tasks = int(request.get("nodes", 1)) * int(request.get("tasks-per-node", 1))
        joined = join_tasks(record, folder.task_answers(spec.run.run), n_tasks)
        if joined.run.status == "ok" and joined.run.cpu_ns is not None:
            self._name_uneven_tasks(joined)
        return joined

    def _name_uneven_tasks(self, record: Record) -> None:
        """Report once that the tasks of a run do not have alike work, and which has most."""
        balance = record.job.load_balance if record.job else None
        if self._is_uneven or record.job is None or balance is None or balance >= UNEVEN:
            return
        self._is_uneven = True
        most = max(record.job.tasks, key=lambda task: task.cpu_ns or 0)
        share = percent_at_most(balance)
        self._queue.tell(f"load balance {share}: task {most.rank} on node {most.node} uses most CPU time")

    def _name_slow_nodes(self, folder: JobFolder) -> None:
        """Report each node once whose reference run was slow."""
        if folder.path in self._examined:
            return
        self._examined.add(folder.path)
        for node, more in folder.slow_nodes().items():
            if node not in self._slow_nodes:
                self._slow_nodes.add(node)
                self._queue.tell(f"node {node} is {percent_at_most(more)} slower than the median node, alone")

    def _find_made(self, spec: Specification) -> JobFolder | None:
        """Return the folder of the job that has made a run, of the same program and levels."""
        run = spec.run.run
        done = (
            each for each in self._folders.get(run, ()) if each.is_done(run) and (each.path, run) not in self._returned
        )
        return next((folder for folder in done if folder.line(run) == self._line(spec, folder)), None)

    def _read_record(self, spec: Specification, folder: JobFolder) -> Record:
        """Return the record of a run as its probe gave it; failed if a step failed."""
        run = spec.run.run
        prepared, cleaned = (self._step_failure(step, spec, folder) for step in ("prepare", "cleanup"))
        record = lost_record(prepared) if prepared else _parse(folder, run, run)
        return record.mark_failed(cleaned) if cleaned and record.run.status == "ok" else record

    def _step_failure(self, step: str, spec: Specification, folder: JobFolder) -> str | None:
        if step not in spec.steps:
            return None
        argv = fill(spec.steps[step], spec.launches[0].values)
        wrong = describe_step_failure(argv[0], _parse(folder, f"{spec.run.run}.{step}", step), spec.timeout_s)
        return f"{step} failed: {wrong}" if wrong else None

    def _line(self, spec: Specification, folder: JobFolder) -> bytes:
        """Return what the probe of a run reads: it starts what starts the tasks, and watches nothing."""
        (launch,) = spec.launches
        step = replace(launch, argv=self._step_argv(spec.run, launch, folder), cpus=None)
        line = replace(spec, launches=(step,)).line(_choose_folder(spec, folder))
        return _encode({**line, "backend": "plain", "namespace": False, "timeline": False})

    def _lines(self, spec: Specification, folder: JobFolder) -> Iterator[tuple[str, bytes]]:
        """Yield the lines of a run and of its steps, by name."""
        launch, run = spec.launches[0], spec.run.run
        yield run, self._line(spec, folder)
        for step in ("prepare", "cleanup"):
            if step in spec.steps:
                argv = fill(spec.steps[step], launch.values)
                line = step_line(step, argv, _choose_folder(spec, folder), launch.env, spec.timeout_s)
                yield f"{run}.{step}", _encode(line)

    def _step_argv(self, run: Run, launch: Launch, folder: JobFolder) -> tuple[str, ...]:
        request = launch.request
        n, tasks = int(request.get("nodes", 1)), int(request.get("tasks-per-node", 1))
        launcher = str(request.get("launcher", "srun"))
        share = 0 if launcher == "mpirun" else self.facts().n_cpus // tasks
        cpus = int(request.get("cpus-per-task", share))
        # Replicates begin at one node after the other: no configuration has the same ones in all blocks.
        words = [str(folder.path), run.run, str(n), str(run.block + run.replicate), launcher, str(tasks), str(cpus)]
        return (str(folder.path.parent / "step.sh"), *words, *launch.argv)

    def _submit(self, run: Run) -> ActiveJob:
        """Submit the runs of a block that no job makes or has made, from this one on. Returns the job of this run."""
        block = self._blocks.get(run.block, [])
        names = [each.run for each in block]
        left = block[names.index(run.run) :] if run.run in names else [run]
        left = [each for each in left if each.run == run.run or not self._queue.job_of(each.run)]
        left = [each for each in left if self._find_made(self._runner.specification(each)) is None]
        study = self._planned.design.study
        for job in split_block(left, self._request, max_idle(study), anchored=anchor_runs(study, block)):
            self._submit_job(job)
        active = self._queue.job_of(run.run)
        assert active is not None, "every run of a block is in one of its jobs"
        return active

    def _submit_job(self, job: PlannedJob) -> None:
        assert self._home is not None
        folder = JobFolder(self._home / f"job-{self._n_jobs + 1}")
        specs = {run.run: self._runner.specification(run) for run in job.runs}
        name = f"scalograph-{secrets.token_hex(4)}-{folder.number}"
        lines = dict(line for spec in specs.values() for line in self._lines(spec, folder))
        folder.create(name, specs, lines)
        self._add_folder(folder)
        cluster, alone_s = self.facts().cluster, reference_s(self._planned.design.study)
        limit_s = EACH_S + alone_s + sum(spec.timeout_s + PER_RUN_S for spec in specs.values())
        most_s = cluster.limit_s if cluster else None
        request = JobRequest(
            name=name, script=self._home / "job.sh", arguments=(str(folder.path), str(alone_s)),
            folder=folder.path, nodes=job.n_nodes, limit_s=limit_s if most_s is None else min(limit_s, most_s),
            partition=job.kind.partition, constraint=job.kind.constraint,
        )  # fmt: skip
        self._queue.submit(folder, request)

    def _lose(self, active: ActiveJob, run: str, end: JobEnd) -> Record | None:
        """Report a job that ended without a run; return a failed record of one that lost too many, else None.

        Raises HostError: somebody else cancelled it.
        """
        full = "; its file system is full" if is_full(active.folder.path) else ""
        text = f"job {active.id} ended before its runs: {active.folder.lost_reason() or end.text}{full}"
        if end.by_others:
            results = active.folder.path.parents[1]
            again = f"submit its runs again: scalograph run {results}/study.toml --host slurm --resume -o {results}"
            raise HostError("--host slurm", text, "a job that nobody cancels", again)
        self._n_lost[run] = self._n_lost.get(run, 0) + 1
        self._queue.tell(text)
        self._lost_jobs.setdefault(run, []).append(text)
        return lost_record(text) if self._n_lost[run] % MAX_LOST == 0 else None

    def close(self) -> None:
        """End our jobs and wait until they are gone; after SIGTERM or SIGHUP they go on, for a later session."""
        super().close()
        self._queue.close(keep=self._keeps_jobs and not self._is_temporary)
        if self._home is not None and self._is_temporary:
            remove_home(self._home)


def _choose_folder(spec: Specification, folder: JobFolder) -> Path:
    usual = Path.cwd() if spec.in_callers_folder else folder.path / f"{spec.run.run}.folder"
    return Path(spec.given_folder or usual)


def _encode(line: Mapping[str, Any]) -> bytes:
    return json.dumps(line).encode() + b"\n"


def _parse(folder: JobFolder, name: str, run: str) -> Record:
    """Return the record of a probe that was asked by a line of this name. Raises HostError: it refused."""
    if (answer := folder.answer(name)) is None:
        return lost_record(f"no answer of its probe: {folder.path.name}")
    try:
        return parse_answer(answer, run)
    except ProtocolError as error:
        return lost_record(f"the answer of its probe was broken: {error}")


def _refuse_events(planned: Plan) -> None:
    if planned.program.events:
        fix = "print the time, and read it by a response with a pattern"
        raise HostError("--host slurm", "a workload that writes events", "one that prints its values", fix)


def join_tasks(record: Record, answers: Iterable[tuple[int, str, ProbeAnswer]], n_tasks: int) -> Record:
    """Return the record of a run with what its tasks used, of all if that is known of all.

    A task counts the other ones of its node among the other programs, so that of these nothing is known.
    """
    if record.job is None:
        return record
    watched = dict[int, tuple[str, Record]]()
    for rank, node, answer in answers:
        with suppress(ProtocolError, HostError):
            watched[rank] = node, parse_answer(answer, "task")
    tasks = [
        JobTask(rank=rank, node=node, wall_ns=it.run.wall_ns, cpu_ns=it.run.cpu_ns)
        for rank, (node, it) in sorted(watched.items())
    ]
    job = replace_part(record.job, tasks=tasks)
    if record.run.status == "failed" and (wrong := _find_failed_task(watched)):
        record = record.mark_failed(f"{record.run.reason}; {wrong}")
    if len(tasks) != n_tasks:
        unwatched = f"{n_tasks - len(tasks)} of {n_tasks} tasks were not watched"
        lacking = Degraded(TASKS, unwatched, HOWTO)
        return replace_part(record, job=job).replace_values(degraded=[*record.run.degraded, lacking][-256:])
    used = join_figures([it for _, it in watched.values()], 0)
    names = ("cpu_ns", "user_ns", "system_ns", "cpu_source")
    return replace_part(record, job=job).replace_values(**{name: getattr(used, name) for name in names})


def _find_failed_task(watched: Mapping[int, tuple[str, Record]]) -> str:
    """Return how the first task that failed by itself did so; empty if none did."""
    for rank, (node, record) in sorted(watched.items()):
        if record.run.status in ("failed", "signal", "not started"):
            return f"task {rank} on {node} {(record.run.reason or '').removeprefix('copy 0 ')}"
    return ""


def keep_watched_part(record: Record, step: JobStep) -> Record:
    """Return what the probe of the launcher can tell of a run: its time; CPU time and the rest were elsewhere."""
    run = record.run
    figures = RunFigures(
        status=run.status, reason=run.reason, wall_ns=run.wall_ns, wall_source=run.wall_source,
        wall_outer_ns=run.wall_outer_ns, gate_ns=run.gate_ns, degraded=run.degraded,
    )  # fmt: skip
    copies = [replace_part(copy, user_ns=None, system_ns=None, in_force=None, changed=None) for copy in record.copies]
    return Record(header=record.header, copies=copies, run=figures, job=step, boot_id=record.boot_id)
