"""An allocation of Slurm that we were started in, as an engine: it runs jobs on its nodes, one after the other."""

import os
import signal
import subprocess
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass

from scalograph.errors import HostError
from scalograph.protocol.facts import HostFacts
from scalograph.run.hosts.slurm.engine import JobEnd, JobRequest, JobState, RefusedJobError
from scalograph.run.hosts.slurm.slurm_engine import SlurmEngine

# What srun takes to end its tasks when it is told to.
END_S = 15.0


@dataclass
class _AllocatedJob:
    request: JobRequest
    process: "subprocess.Popen[bytes] | None" = None
    is_cancelled: bool = False

    @property
    def has_ended(self) -> bool:
        return self.is_cancelled or (self.process is not None and self.process.poll() is not None)


class AllocationEngine:
    """The nodes of an allocation (`salloc`, a batch script); nothing is submitted."""

    def __init__(self, environ: Mapping[str, str] = os.environ) -> None:
        """Raises HostError: there is no Slurm here."""
        self._slurm = SlurmEngine(environ.get("SLURM_JOB_PARTITION", ""))
        self._id, self._n_nodes = environ["SLURM_JOB_ID"], int(environ.get("SLURM_JOB_NUM_NODES", "1"))
        self._jobs = dict[str, _AllocatedJob]()

    def facts(self) -> HostFacts:
        """Return a node of its partition, and how many nodes it has. Raises HostError."""
        facts = self._slurm.facts()
        assert facts.cluster is not None
        return facts.model_copy(update={"cluster": facts.cluster.model_copy(update={"n_nodes": self._n_nodes})})

    def submit(self, request: JobRequest) -> str:
        """Let a job wait for those before it. Raises RefusedJobError: it asks for other nodes than these."""
        if request.constraint or request.partition:
            fix = "start it outside of the allocation"
            raise RefusedJobError("--host slurm", "a partition or constraint inside an allocation", "none", fix)
        job = f"{self._id}.{len(self._jobs) + 1}"
        self._jobs[job] = _AllocatedJob(request)
        self._start_next()
        return job

    def _start_next(self) -> None:
        left = [job for job in self._jobs.values() if not job.has_ended]
        if not left or left[0].process is not None:
            return
        request = left[0].request
        try:
            with (request.folder / "output").open("ab") as output:
                left[0].process = subprocess.Popen(
                    [str(request.script), *request.arguments], stdin=subprocess.DEVNULL, stdout=output, stderr=output,
                    cwd=request.folder, start_new_session=True,
                )  # fmt: skip
        except OSError as error:
            raise HostError(str(request.script), f"cannot be started: {error.strerror}", "a script", "") from error

    def find(self, name: str) -> str | None:
        return next((job for job, it in self._jobs.items() if it.request.name == name), None)

    def state(self, job: str) -> JobState | None:
        self._start_next()
        if (it := self._jobs.get(job)) is None:
            return None
        if it.has_ended:
            return JobState("ended", "ended")
        return JobState("running", "running") if it.process else JobState("pending", "waiting for the job before it")

    def cancel(self, job: str) -> None:
        it = self._jobs.get(job)
        if it is None or it.has_ended:
            return
        it.is_cancelled = True
        for number in _end_signals(it.process):
            with suppress(ProcessLookupError):
                os.killpg(number[0], number[1])

    def end(self, job: str) -> JobEnd | None:
        it = self._jobs.get(job)
        code = it.process.poll() if it and it.process else None
        return None if code is None else JobEnd(f"exit code {code}")


def _end_signals(process: "subprocess.Popen[bytes] | None") -> Iterator[tuple[int, signal.Signals]]:
    """Yield the signals that end the group of a job: srun ends its tasks when it is told to, and is waited for."""
    if process is None:
        return
    yield process.pid, signal.SIGTERM
    with suppress(subprocess.TimeoutExpired):
        process.wait(END_S)
    yield process.pid, signal.SIGKILL
    process.wait()
