"""The host that we stand on: a treatment becomes a probe specification, a run becomes a record."""

import os
import shutil
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, ExitStack, contextmanager, nullcontext
from dataclasses import replace
from pathlib import Path
from typing import Any

from scalograph.control.apply import apply, hold, read_back
from scalograph.control.base import Launch
from scalograph.design.planner import Design, Run
from scalograph.errors import HostError
from scalograph.protocol.events import Record
from scalograph.protocol.facts import HostFacts
from scalograph.run.hosts.captured import MAX_BYTES, Printed
from scalograph.run.hosts.probe import (
    NotStartedError,
    interrupted,
    lost,
    measure,
)
from scalograph.run.hosts.steps import Steps
from scalograph.run.interrupts import kept
from scalograph.study.program import Program
from scalograph.study.workload import fill

# Nothing else of the caller's environment reaches a run: MAKEFLAGS or JAVA_TOOL_OPTIONS would change it unseen.
PASSED_ON = ("PATH", "HOME", "LANG", "TMPDIR")
TIMELINE_BINS, TIMELINE_TASKS = 120, 8
# A host short of processes or memory for a moment recovers; a probe that is gone does not.
MAX_NOT_STARTED = 3


class LocalHost:
    """Carries out runs here, one after the other, in a scratch folder each, or all where the caller stands."""

    def __init__(self, design: Design, facts: HostFacts, program: Program, probe: Sequence[str]) -> None:
        self._design, self._facts, self._program, self._probe = design, facts, program, tuple(probe)
        self._printed = Printed(design.study)
        self._steps = Steps(program.steps, design.study.protocol.timeout_s)
        self.signal: int | None = None
        self._n_not_started = 0

    def check(self) -> None:
        """Look for every program that the study starts, and carry out its `setup`: what the first run needs.

        Raises:
            HostError: a program is missing, or `setup` failed.
        """
        launches = (self.launch(treatment) for treatment in self._design.treatments)
        for name, path in dict.fromkeys((launch.argv[0], launch.env.get("PATH")) for launch in launches):
            if shutil.which(name, path=path) is None:
                where = "on PATH" if "/" not in name else "an executable file"
                raise HostError("workload", f'no program "{name}"', where, "install it or correct workload.command")
        self._steps.begin(self.launch(self._design.treatments[0]), self._folder)

    def measure(self, run: Run) -> Mapping[str, Any]:
        """One run. The record is as journal.md says.

        Raises:
            HostError: a setting is refused, or the probe did not start for so many runs on end.
        """
        launch = self.launch(run.treatment)
        with self._folder() as folder, ExitStack() as held:
            for context in hold(self._design.study, run.treatment, self._facts):
                held.enter_context(context)
            record = self._between_steps(run, launch, folder)
        found = record.model_dump(mode="json")
        found["run"]["quota_cpus"] = launch.quota_cpus
        return self._obeyed(run.treatment, found)

    def _between_steps(self, run: Run, launch: Launch, folder: Path) -> Record:
        """The run with what is done before and after it, outside its window; it has failed where a step failed."""
        if kept() is not None:
            return interrupted()
        if wrong := self._steps.carry_out("prepare", launch, folder):
            return lost(wrong)
        try:
            record = self._unless_interrupted(run, launch, folder)
        finally:  # what `prepare` made stays after no run, however that ended
            wrong = self._steps.carry_out("cleanup", launch, folder)
        return _failed(record, wrong)

    def _unless_interrupted(self, run: Run, launch: Launch, folder: Path) -> Record:
        if kept() is not None:  # a signal that came during `prepare`
            return interrupted()
        return self._printed.read(self._carried_out(self.specification(run, launch, folder)))

    def _folder(self) -> AbstractContextManager[Path]:
        return nullcontext(Path.cwd()) if self._design.study.workload.cwd == "caller" else _scratch()

    def _carried_out(self, specification: Mapping[str, Any]) -> Record:
        try:
            record = measure(specification, self._probe, self._signaled)
        except NotStartedError as error:
            self._n_not_started += 1
            if self._n_not_started == MAX_NOT_STARTED:
                raise
            return lost(str(error))
        except HostError as error:
            if not error.problems[0].where.endswith(".cpus"):
                raise
            return lost(str(error))  # a CPU that was there when it was planned: others may still be
        self._n_not_started = 0
        return record

    def _signaled(self, number: int) -> None:
        self.signal = number

    def _obeyed(self, treatment: Mapping[str, Any], record: dict[str, Any]) -> dict[str, Any]:
        """A run under levels that were not in force is no run of its treatment."""
        wrong = read_back(self._design.study, treatment, self._facts, record)
        if wrong and record["run"]["status"] == "ok":
            record["run"] |= {"status": "failed", "reason": "; ".join(wrong)}
        return record

    def launch(self, treatment: Mapping[str, Any]) -> Launch:
        """How a treatment will be started, argv filled in."""
        study = self._design.study
        own = {
            "iterations": study.protocol.iterations,
            "warmup": study.protocol.warmup,
            "think_ns": round(study.protocol.think_s * 1e9),
        }
        # A level goes before a parameter of the same name, that before the study's own numbers.
        base = Launch(env=_environment(study.workload.env), values={**own, **self._program.values, **treatment})
        launch = apply(study, treatment, base, self._facts)
        copies = _copies(study.workload.copies, treatment)
        return replace(launch, argv=tuple(fill(self._program.argv, launch.values)), copies=copies)

    def specification(self, run: Run, launch: Launch, folder: Path) -> dict[str, Any]:
        """The one line that the probe reads (protocol/probe.md)."""
        protocol = self._design.study.protocol
        command = {
            "argv": list(launch.argv),
            "copies": launch.copies,
            "cwd": str(folder),
            "env": dict(launch.env),
            "cpus": list(launch.cpus) if launch.cpus else None,
            "policy": launch.policy,
            "priority": launch.priority,
            "nice": launch.nice,
        }
        return {
            "protocol": 1,
            "run": run.run,
            "commands": [command],
            "events": self._program.events,
            "stdout": "capture" if self._printed.responses else "null",
            "stdout_limit_bytes": MAX_BYTES,
            "timeout_ns": round(protocol.timeout_s * 1e9),
            "timeline": True,
            "timeline_bins": TIMELINE_BINS,
            "timeline_tasks": TIMELINE_TASKS,
        }


def _failed(record: Record, wrong: str | None) -> Record:
    if wrong is None or record.run.status != "ok":
        return record
    run = record.run.model_copy(update={"status": "failed", "reason": wrong})
    return record.model_copy(update={"run": run})


def _copies(copies: int | str, treatment: Mapping[str, Any]) -> int:
    return int(treatment[copies.strip("{}")]) if isinstance(copies, str) else copies


def _environment(declared: Mapping[str, str]) -> dict[str, str]:
    passed = {name: os.environ[name] for name in PASSED_ON if name in os.environ}
    return {"PATH": os.defpath, "LANG": "C.UTF-8", **passed, **declared}


@contextmanager
def _scratch() -> Iterator[Path]:
    """A fresh folder, gone after the run."""
    try:
        folder = Path(tempfile.mkdtemp(prefix="scalograph-run-"))
    except OSError as error:
        raise HostError("scratch folder", f"cannot be made: {error.strerror}", "room in TMPDIR", "free some") from error
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)
