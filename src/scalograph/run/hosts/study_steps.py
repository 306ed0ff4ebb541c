"""What a study does around its runs: once before all (setup), before each (prepare), after each (cleanup)."""

import os
import shutil
import signal
import subprocess
import tempfile
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager, suppress
from pathlib import Path

from scalograph.control.control import Launch
from scalograph.errors import HostError
from scalograph.study.template import fill

_TAIL = 200
# What was killed has gone by then, unless the kernel holds it.
_DEATH_S = 5.0


class StudySteps:
    """The steps of a study, as templates by name; before and after a run, none may take longer than a run."""

    def __init__(self, templates: Mapping[str, Sequence[str]], timeout_s: float) -> None:
        self._templates, self._timeout_s = templates, timeout_s

    def begin(self, launch: Launch, folder: Callable[[], AbstractContextManager[Path]]) -> None:
        """Look for the program of each step, and carry out `setup`: it knows no level and has no limit of time.

        Raises:
            HostError: a program is missing, or `setup` failed.
        """
        for step in self._templates:
            _find(step, self._argv(step, launch)[0], launch.env.get("PATH"))
        if "setup" not in self._templates:
            return
        with folder() as place:
            wrong = _carry_out(self._argv("setup", launch), place, launch.env, None)
        if wrong:
            raise HostError("workload.setup", wrong, "exit code 0", "correct workload.setup")

    def carry_out(self, step: str, launch: Launch, folder: Path) -> str | None:
        """`prepare` or `cleanup` of one run: why it failed; None where it did not, or there is none.

        Raises:
            KeyboardInterrupt: Ctrl-C reached it, and so is meant for us.
        """
        if step not in self._templates:
            return None
        wrong = _carry_out(self._argv(step, launch), folder, launch.env, self._timeout_s)
        return f"{step} failed: {wrong}" if wrong else None

    def _argv(self, step: str, launch: Launch) -> list[str]:
        return fill(self._templates[step], launch.values)


def _find(step: str, name: str, path: str | None) -> None:
    if shutil.which(name, path=path) is None:
        where = "an executable file" if "/" in name else "on PATH"
        raise HostError(f"workload.{step}", f'no program "{name}"', where, f"install it or correct workload.{step}")


def _carry_out(argv: Sequence[str], cwd: Path, env: Mapping[str, str], limit_s: float | None) -> str | None:
    """Carry out a step; what it leaves running in the background is not waited for."""
    # A file and not a pipe: a pipe would be waited for until the last background process has closed it.
    with tempfile.TemporaryFile() as errors:
        try:
            child = subprocess.Popen(
                argv, cwd=cwd, env=dict(env), stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=errors
            )
        except OSError as error:
            return f"{argv[0]} did not start: {error.strerror}"
        try:
            code = child.wait(limit_s)
        except subprocess.TimeoutExpired:
            return f"{argv[0]} took more than {limit_s:g} s and {_kill_tree(child)}"
        except BaseException:  # Ctrl-C during `setup`
            _kill_tree(child)
            raise
        if code == 0:
            return None
        errors.seek(max(0, errors.seek(0, 2) - _TAIL))
        said = ascii(errors.read().decode(errors="replace").strip())
    how = f"ended by signal {-code}" if code < 0 else f"exit code {code}"
    return f"{argv[0]}: {how}" + (f"; it said {said}" if said != "''" else "")


def _kill_tree(child: "subprocess.Popen[bytes]") -> str:
    """A step and what it started: left alone, that would disturb the runs that follow. Says what became of them."""
    from scalograph.run.hosts.python_probe.tree import descendants

    spared = [pid for pid in (child.pid, *descendants(child.pid)) if not _killed(pid)]
    with suppress(subprocess.TimeoutExpired):
        child.wait(_DEATH_S)
    if child.returncode is None and child.pid not in spared:
        spared.insert(0, child.pid)
    return f"could not be killed (process {', '.join(map(str, spared))})" if spared else "was killed"


def _killed(pid: int) -> bool:
    """Whether it is, or was gone before; not another user's, as a child under sudo is."""
    try:
        os.kill(pid, signal.SIGKILL)
    except PermissionError:
        return False
    except ProcessLookupError:
        pass
    return True
