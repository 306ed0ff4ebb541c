"""`--rerun-alone`: run each test that failed once more, alone, when all others have ended; name a flaky one.

A test of a guarantee (marker `guarantee`) and a test whose worker died are never run again: a failure is the fault.
"""

import os
import re
import subprocess
import sys
from collections.abc import Generator
from typing import Any

import pytest

MAX_FLAKY = 2
# More failures than this are no accident of a busy machine: nothing is run again.
MAX_RERUNS = 10


def pytest_addoption(parser: pytest.Parser) -> None:
    text = "run each failed test once more, alone, at the end; up to two that pass then are flaky, not failed"
    parser.addoption("--rerun-alone", action="store_true", help=text)


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line("markers", "guarantee: a failure is the fault: never run again by --rerun-alone")
    if config.getoption("rerun_alone") and not hasattr(config, "workerinput"):
        config.pluginmanager.register(RerunAlone(config))


class RerunAlone:
    """Rerun failed tests in the process that prints the summary; judge them before it does."""

    def __init__(self, config: pytest.Config) -> None:
        self.config = config
        self.flaky: list[str] = []

    @pytest.hookimpl(trylast=True)
    def pytest_sessionfinish(self, session: pytest.Session) -> None:
        """All workers have ended: this comes after xdist's own, and before the summary."""
        if session.exitstatus != pytest.ExitCode.TESTS_FAILED:
            return
        reporter: Any = self.config.pluginmanager.get_plugin("terminalreporter")
        failures: dict[str, list[Any]] = {}
        for kind in ("failed", "error"):
            for report in reporter.stats.get(kind, []):
                failures.setdefault(report.nodeid, []).append(report)
        retried = [nodeid for nodeid, reports in failures.items() if all(map(_may_rerun, reports))]
        if not retried or len(retried) > MAX_RERUNS:
            return
        reporter.ensure_newline()
        for nodeid in retried:
            name = _without_group(nodeid)
            reporter.write_line(f"run again, alone: {name}")
            if (output := self._rerun(name)) is None:
                self.flaky.append(nodeid)
            else:
                failures[nodeid][0].sections.append(("run again, alone: not passed", output[-4000:]))
        if len(self.flaky) <= MAX_FLAKY:
            self._count_as_flaky(session, reporter, failures)

    def _rerun(self, name: str) -> str | None:
        """None if the test passed, else what pytest printed."""
        command = [sys.executable, "-m", "pytest", "-n0", "-q", "--color=no", "-p", "no:cacheprovider", name]
        root, environ = self.config.rootpath, {**os.environ, "PYTEST_ADDOPTS": ""}
        done = subprocess.run(
            command, cwd=root, env=environ, capture_output=True, text=True, errors="replace", check=False
        )
        passed = done.returncode == 0 and re.search(r"^1 passed\b", done.stdout, re.MULTILINE)
        return None if passed else done.stdout + done.stderr

    def _count_as_flaky(self, session: pytest.Session, reporter: Any, failures: dict[str, list[Any]]) -> None:
        """The closing line counts them apart, so that whoever reads only that line judges as the exit status does."""
        for kind in ("failed", "error"):
            left = [report for report in reporter.stats.pop(kind, []) if report.nodeid not in self.flaky]
            if left:
                reporter.stats[kind] = left
        if self.flaky:
            reporter.stats["flaky"] = [failures[nodeid][0] for nodeid in self.flaky]
            reporter._set_main_color()
        if not reporter.stats.keys() & {"failed", "error"}:
            session.exitstatus = pytest.ExitCode.OK

    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_terminal_summary(self, terminalreporter: Any) -> Generator[None]:
        yield
        if not self.flaky:
            return
        outcome = f"more than {MAX_FLAKY}, a failure" if len(self.flaky) > MAX_FLAKY else "passed alone"
        terminalreporter.section(f"flaky tests: {outcome}")
        for report in terminalreporter.stats.get("flaky", []):
            terminalreporter.write_line(f"first failure of {_without_group(report.nodeid)}:")
            terminalreporter.write_line(report.longreprtext)
        for nodeid in self.flaky:
            terminalreporter.write_line(f"FLAKY {_without_group(nodeid)}")


def _may_rerun(report: Any) -> bool:
    """A file that cannot be collected is no test; of one whose worker died nothing is known."""
    return getattr(report, "when", None) in ("setup", "call", "teardown") and "guarantee" not in report.keywords


def _without_group(nodeid: str) -> str:
    """Without the group that xdist appends."""
    return nodeid.rpartition("@")[0] if nodeid.rfind("@") > nodeid.rfind("]") else nodeid
