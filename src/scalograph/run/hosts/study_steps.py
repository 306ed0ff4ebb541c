"""What a study does around its runs: once before all (setup), before each (prepare), after each (cleanup)."""

import shutil
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any

from scalograph.control.control import Launch
from scalograph.control.orphans import mark
from scalograph.errors import HostError
from scalograph.protocol.record import Record
from scalograph.run.hosts.probe import measure
from scalograph.run.hosts.probe_process import NotStartedError, ProbeProcess
from scalograph.run.interrupts import interruption, kept, note
from scalograph.study.template import fill

# The longest that a study may declare: `setup` has no limit of its own.
_NO_LIMIT_S = 30 * 365.25 * 86400
_TAIL = 200


def on_path(name: str, path: str | None) -> bool:
    """Tell whether this machine has a program, in the folders of a PATH or by its own path."""
    return shutil.which(name, path=path) is not None


class StudySteps:
    """The steps of a study, as templates by name.

    The probe carries them out: what a step started is held together as a run is, and ends with it, with a signal, and
    with us. `n_ended` counts the processes that the last step left running, which were ended.
    """

    def __init__(
        self,
        templates: Mapping[str, Sequence[str]],
        timeout_s: float,
        probe: Callable[[bool], ProbeProcess],
        is_there: Callable[[str, str | None], bool] = on_path,
        marks: Callable[[], Mapping[str, str]] = mark,
    ) -> None:
        """Prepare steps.

        Args:
            templates: of the steps, by name.
            timeout_s: that each may take around a run.
            probe: makes the process that carries out one; a fresh one hears no signal that came before.
            is_there: tells whether a program, by name or path, is there: its folders are those of a PATH.
            marks: by which a later start on that machine knows what a dead one left.
        """
        self._templates, self._timeout_s, self._probe, self._is_there = templates, timeout_s, probe, is_there
        self._marks = marks
        self.n_ended = 0

    def begin(
        self, launch: Launch, folder: Callable[[], AbstractContextManager[Path]], tell: Callable[[str], object] = str
    ) -> None:
        """Look for the program of each step, and carry out `setup`: it knows no level and has no limit of time.

        Raises:
            HostError: a program is missing, or `setup` failed.
            KeyboardInterrupt: a signal came meanwhile.
        """
        for step in self._templates:
            self._find(step, self._argv(step, launch)[0], launch.env.get("PATH"))
        if "setup" not in self._templates:
            return
        with folder() as place:
            wrong = self._done("setup", launch, place, _NO_LIMIT_S)
        if wrong:
            raise HostError("workload.setup", wrong, "exit code 0", "correct workload.setup")
        if self.n_ended:
            tell(f"workload.setup: processes that it left running were ended: {self.n_ended}")

    def carry_out(self, step: str, launch: Launch, folder: Path) -> str | None:
        """`prepare` or `cleanup` of one run, within the time of a run: why it failed; None where it did not.

        Raises:
            NotStartedError: there was no probe.
            KeyboardInterrupt: a signal came meanwhile that nobody keeps.
        """
        if step not in self._templates:
            return None
        wrong = self._done(step, launch, folder, self._timeout_s)
        return f"{step} failed: {wrong}" if wrong else None

    def _find(self, step: str, name: str, path: str | None) -> None:
        if not self._is_there(name, path):
            where = "an executable file" if "/" in name else "on PATH"
            raise HostError(f"workload.{step}", f'no program "{name}"', where, f"install it or correct workload.{step}")

    def _argv(self, step: str, launch: Launch) -> list[str]:
        return fill(self._templates[step], launch.values)

    def _done(self, step: str, launch: Launch, folder: Path, limit_s: float) -> str | None:
        argv, heard = self._argv(step, launch), list[int]()

        def hear(number: int) -> None:
            heard.append(number)
            note(number)

        command = {"argv": argv, "cwd": str(folder), "env": {**launch.env, **self._marks()}}
        try:
            record = measure(_line(step, command, limit_s), self._probe(kept() is not None), hear)
        except NotStartedError:
            raise
        except HostError as error:  # it was there when the study began
            return f"did not start: {error.problems[0].found}"
        except KeyboardInterrupt:
            raise interruption(heard[0] if heard else None) from None
        if heard and kept() is None:
            raise interruption(heard[0])
        self.n_ended = record.run.n_survivors or 0
        return _wrong(argv[0], record, limit_s)


def _line(step: str, command: Mapping[str, Any], limit_s: float) -> dict[str, Any]:
    """What the probe reads: nothing is measured, and a program such as sudo may become another user."""
    limit = {"timeout_ns": round(limit_s * 1e9)}
    return {"protocol": 1, "run": step, "commands": [command], "backend": "plain", "namespace": False, **limit}


def _wrong(name: str, record: Record, limit_s: float) -> str | None:
    """Why a step failed, in words; None where it did not."""
    run, copy = record.run, record.copies[0] if record.copies else None
    if run.status == "ok":
        return None
    if run.status == "timeout":
        return f"{name} took more than {limit_s:g} s and was killed"
    if copy is not None and run.status == "signal":
        how = f"ended by signal {copy.signal}"
    elif copy is not None and run.status == "failed" and copy.exit_code:
        how = f"exit code {copy.exit_code}"
    else:
        return f"{name}: {run.reason}"
    said = ascii(copy.stderr_tail.strip()[-_TAIL:])
    return f"{name}: {how}" + (f"; it said {said}" if said != "''" else "")
