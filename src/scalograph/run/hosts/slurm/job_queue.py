"""Jobs of ours in a queue: submitted once, awaited, taken over by a later session, and ended; every wait is bounded."""

import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

from scalograph.errors import HostError
from scalograph.run.hosts.base import Tell
from scalograph.run.hosts.slurm.engine import Engine, EngineAwayError, JobEnd, JobRequest, JobState, RefusedJobError
from scalograph.run.hosts.slurm.job_folder import JobFolder
from scalograph.run.interrupts import make_interrupt, pending_signal
from scalograph.text.units import format_duration

# Between looks at a file, and at the queue: first, and at most.
TICK_S, LOOK_S, MAX_LOOK_S = 0.1, 1.0, 15.0
# How long the queue may not answer; how long a job's last files may take to appear here; what is waited for at the end.
AWAY_S, SETTLE_S, END_S = 600.0, 10.0, 60.0


@dataclass
class ActiveJob:
    """A job in the queue, and what was last heard of it."""

    folder: JobFolder
    id: str
    state: JobState | None = None
    next_look: float = 0.0
    pause_s: float = LOOK_S
    n_away: int = 0


def _tell_nobody(text: str) -> None:
    """Drop a text: no study has begun."""


class JobQueue:
    """The jobs of one study that have not ended, by the runs that they make."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine
        self.tell: Tell = _tell_nobody
        self._jobs = dict[str, ActiveJob]()
        self._n_away = 0

    def job_of(self, run: str) -> ActiveJob | None:
        """Return the job that makes a run, or will."""
        return self._jobs.get(run)

    def adopt(self, folder: JobFolder) -> None:
        """Take over the job of an earlier session, if it has not ended. Raises EngineAwayError, KeyboardInterrupt."""
        if folder.is_closed or not folder.runs():
            return
        job = folder.id or self._patiently(lambda: self._engine.find(folder.name))
        state = self._patiently(lambda: self._engine.state(job)) if job else None
        if state is None or state.kind == "ended":
            folder.close()
            return
        self.tell(f"job {job} of an earlier session is {state.text}: its runs are awaited")
        self._jobs |= dict.fromkeys(folder.runs(), ActiveJob(folder, job or "", state))

    def submit(self, folder: JobFolder, request: JobRequest) -> None:
        """Submit the job of a folder. One whose submission was not answered is looked for: it is never there twice.

        Raises RefusedJobError, EngineAwayError, KeyboardInterrupt.
        """
        was_asked = False

        def ask() -> str:
            nonlocal was_asked
            if was_asked and (job := self._engine.find(request.name)):
                return job
            was_asked = True
            return self._engine.submit(request)

        # Of ours from now on: one that was taken without an answer is found by its name, and ended.
        active = ActiveJob(folder, "", n_away=self._n_away)
        self._jobs |= dict.fromkeys(folder.runs(), active)
        try:
            active.id = self._patiently(ask)
        except RefusedJobError:
            self._forget(active)
            raise
        folder.save_id(active.id)

    def wait(self, run: str) -> JobEnd | None:
        """Wait until a run was made (None), or its job has ended without it (how); then its runs have no job any more.

        Raises KeyboardInterrupt: a signal came; EngineAwayError.
        """
        active = self._jobs[run]
        while not active.folder.is_done(run):
            if time.monotonic() >= active.next_look:
                active.state = self._patiently(lambda: self._engine.state(active.id))
                if active.state is None or active.state.kind == "ended":
                    return self._final(active, run)
                active.pause_s = min(MAX_LOOK_S, active.pause_s * 1.2)
                active.next_look = time.monotonic() + active.pause_s
            self._sleep(TICK_S)
        return None

    def _final(self, active: ActiveJob, run: str) -> JobEnd | None:
        """Return how a job ended; None if the run appears as made after all: a shared file may be seen late."""
        until = time.monotonic() + SETTLE_S
        while time.monotonic() < until:
            if active.folder.is_done(run):
                return None
            self._sleep(TICK_S)
        end: JobEnd | None = self._patiently(lambda: self._engine.end(active.id))
        self._forget(active)
        if end and end.by_others and self._n_away > active.n_away:  # it cancels jobs of which it lost the state
            return JobEnd(f"{end.text}, after the controller had been away")
        return end or JobEnd("the queue does not know it any more")

    def cancel(self, active: ActiveJob) -> None:
        """Cancel a job. Raises EngineAwayError, KeyboardInterrupt."""
        self._patiently(lambda: self._engine.cancel(active.id))
        self._forget(active)

    def _forget(self, active: ActiveJob) -> None:
        active.folder.close()
        self._jobs = {name: job for name, job in self._jobs.items() if job is not active}

    def close(self, keep: bool) -> None:
        """End all jobs and wait until they are gone; with `keep` they go on, and how they are ended is told."""
        for active in _each_once(self._jobs.values()):
            if keep:
                self.tell(f"job {active.id} goes on: --resume awaits its runs, scancel {active.id} ends it")
                continue
            try:
                self._end(active)
            except HostError as error:
                self.tell(f"job {active.id} may go on: {error}; end it with: scancel {active.id}")
        self._jobs = {}

    def _end(self, active: ActiveJob) -> None:
        """End a job; one that has made its last run ends by itself."""
        until, active.id = time.monotonic() + END_S, active.id or self._engine.find(active.folder.name) or ""
        if not active.id:
            return
        if not active.folder.is_closed:
            self._engine.cancel(active.id)
        while (state := self._engine.state(active.id)) is not None and state.kind != "ended":
            if time.monotonic() > until:
                raise HostError("scancel", f"it is still {state.text} after {END_S:g} s", "its end", "look at squeue")
            time.sleep(TICK_S)
        active.folder.close()

    def _patiently(self, ask: Callable[[], Any]) -> Any:
        """Return the queue's answer, asked again while it may be away. Raises EngineAwayError, KeyboardInterrupt."""
        until, is_told = time.monotonic() + AWAY_S, False
        while True:
            try:
                return ask()
            except EngineAwayError as error:
                if time.monotonic() > until:
                    raise
                if not is_told:
                    self.tell(f"{error.problems[0].found}; asked again for up to {format_duration(AWAY_S)}")
                    is_told = True
                    self._n_away += 1
            self._sleep(MAX_LOOK_S)

    def _sleep(self, seconds: float) -> None:
        """Wait. Raises KeyboardInterrupt as soon as a signal comes."""
        until = time.monotonic() + seconds
        while (left := until - time.monotonic()) > 0:
            if (number := pending_signal()) is not None:
                raise make_interrupt(number)
            time.sleep(min(TICK_S, left))


def _each_once(jobs: Iterable[ActiveJob]) -> list[ActiveJob]:
    return [*{id(job): job for job in jobs}.values()]
