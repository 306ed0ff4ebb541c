"""Run the tests of each seeded fault in a copy of the tree, and count the faults that they find."""

import json
import os
import resource
import shutil
import signal
import subprocess
import sys
import time
from collections import Counter, defaultdict
from collections.abc import Collection, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

import seeded_faults_map as recording
from seeded_faults_places import PACKAGE, Fault, Site, sites_of

HERE = Path(__file__).resolve().parent
# end_to_end starts browsers, hosts and whole campaigns; the others run in the process of the tests.
SUITES = ("tests/unit", "tests/golden", "tests/calibration")
NEAR_S, ALL_S, CPU_LIMIT_S, MEMORY = 4.0, 12.0, 30, 8 << 30  # seconds of CPU time; a hung test ends by its limit
STARTUP = ["--hypothesis-seed=0", "-n0", "-q", "-p", "no:cacheprovider", "--tb=line", "--durations=0"]


class Chosen:
    """Plugin of pytest: run these tests alone, in this order, and write the first that fails."""

    def __init__(self, tests: Sequence[str], out: Path) -> None:
        self.ranks, self.out = {test: i for i, test in enumerate(tests)}, out

    def pytest_collection_finish(self, session: Any) -> None:
        items = [item for item in session.items if item.nodeid in self.ranks]
        session.items[:] = sorted(items, key=lambda item: self.ranks[item.nodeid])

    def pytest_runtest_logreport(self, report: Any) -> None:
        if report.failed and not self.out.exists():
            self.out.write_text(report.nodeid)


@dataclass(frozen=True)
class Ended:
    """How a run of tests ended; `code` is pytest's, or negative for a signal."""

    code: int
    cpu_s: float
    wall_s: float
    failed: str = ""


class Bench:
    """A copy of the tree where tests run, each time in a fork of this process, which has imported numpy and pytest."""

    def __init__(self, work: Path) -> None:
        self.work, self.tree = work, work / "tree"
        self.failed, self.ended = work / "failed", work / "ended"
        for folder in (self.ended, work / "map", work / "site", work / "log"):
            folder.mkdir(exist_ok=True)
        shutil.copy(HERE / "seeded_faults_map.py", work / "site" / "sitecustomize.py")

    def pytest(self, arguments: Sequence[str], plugin: Any, log: str, wall_s: float, mark: bool = False) -> Ended:
        """Run tests in a fork, within limits, and end everything that they leave."""
        self.failed.unlink(missing_ok=True)
        scratch, begin = self.work / "tmp", time.monotonic()
        shutil.rmtree(scratch, ignore_errors=True)
        scratch.mkdir()
        pid = os.fork()
        if pid == 0:
            self._child(arguments, plugin, log, mark)
        usage: Any = None
        while usage is None:
            ended, status, rusage = os.wait4(pid, os.WNOHANG)
            if ended:
                usage = rusage
            elif time.monotonic() - begin > wall_s:
                os.kill(pid, signal.SIGKILL)
                wall_s = float("inf")
            time.sleep(0.02)
        self._end_left()
        failed = self.failed.read_text() if self.failed.exists() else ""
        cpu_s = usage.ru_utime + usage.ru_stime
        return Ended(os.waitstatus_to_exitcode(status), cpu_s, time.monotonic() - begin, failed)

    def _child(self, arguments: Sequence[str], plugin: Any, log: str, mark: bool) -> None:
        code = 3
        try:
            os.setsid()
            file = os.open(self.work / "log" / log, os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
            for stream, fd in ((0, os.open(os.devnull, os.O_RDONLY)), (1, file), (2, file)):
                os.dup2(fd, stream)
            resource.setrlimit(resource.RLIMIT_CPU, (600 if mark else CPU_LIMIT_S, resource.RLIM_INFINITY))
            resource.setrlimit(resource.RLIMIT_AS, (MEMORY, resource.RLIM_INFINITY))
            os.chdir(self.tree)
            paths = [str(self.tree / "src")] + ([str(self.work / "site")] if mark else [])
            os.environ["PYTHONPATH"] = ":".join(paths)
            if mark:
                os.environ[recording.ENDED] = str(self.ended)
                recording.install()
            import pytest

            code = int(pytest.main([*arguments, *STARTUP], plugins=[plugin]))
        finally:
            sys.stdout.flush()
            os._exit(code)

    def _end_left(self) -> None:
        """Kill the processes of the namespace but the first, which waits for this one, and this one."""
        for entry in Path("/proc").iterdir():
            if entry.name.isdigit() and int(entry.name) not in (1, os.getpid()):
                try:
                    os.kill(int(entry.name), signal.SIGKILL)
                except ProcessLookupError:
                    continue

    def map(self) -> dict[str, Any]:
        """Return what each file of tests executes, of those not recorded yet by running them."""
        files = [file for suite in SUITES for file in sorted((self.tree / suite).rglob("test_*.py"))]
        answer = {}
        for file in files:
            name = file.relative_to(self.tree).as_posix()
            out = self.work / "map" / f"{name.replace('/', '.')}.json"
            if not out.exists():
                recorder = _recorder(out, self.ended)
                ended = self.pytest([name], recorder, "map.txt", 1800, mark=True)
                print(f"map {name}: {ended.cpu_s:.1f} s of CPU time, code {ended.code}", flush=True)
            answer[name] = json.loads(out.read_text()) if out.exists() else None
        return {name: recorded for name, recorded in answer.items() if recorded}

    def measure(self, site: Site, near: Sequence[str], rest: Sequence[str], log: str) -> dict[str, Any]:
        """Run the tests of a fault: those nearest to its function first, then the rest."""
        file = self.tree / PACKAGE / site.fault.file
        source, cpu_s, flaky = file.read_bytes(), 0.0, list[str]()
        try:
            _write(file, site.apply(source))
            for tests in (near, rest):
                while left := [test for test in tests if test not in flaky]:
                    outcome, ended = self._once(left, log)
                    cpu_s += ended.cpu_s
                    if outcome == "found" and ended.failed and ended.failed in left:
                        again, second = self._once([ended.failed], log)
                        cpu_s += second.cpu_s
                        if again == "not found":
                            flaky.append(ended.failed)
                            continue
                    if outcome != "not found":
                        return {"outcome": outcome, "by": ended.failed, "cpu_s": cpu_s, "flaky": flaky}
                    break
            return {"outcome": "not found", "by": "", "cpu_s": cpu_s, "flaky": flaky}
        finally:
            _write(file, source)

    def _once(self, tests: Sequence[str], log: str) -> tuple[str, Ended]:
        files = list(dict.fromkeys(test.partition("::")[0] for test in tests))
        ended = self.pytest([*files, "-x"], Chosen(tests, self.failed), log, 150)
        if ended.code in (-signal.SIGKILL, -signal.SIGXCPU):
            return "timed out", ended
        return ("not found" if ended.code in (0, 5) else "found"), ended


def _recorder(out: Path, ended: Path) -> Any:
    import pytest

    class Plugin(recording.Recorder):
        @pytest.hookimpl(wrapper=True, tryfirst=True)
        def pytest_runtest_setup(self, item: Any) -> Any:
            return (yield from self.around(item.nodeid, False))

        @pytest.hookimpl(wrapper=True, tryfirst=True)
        def pytest_runtest_call(self, item: Any) -> Any:
            return (yield from self.around(item.nodeid, True))

    return Plugin(out, ended)


def _write(file: Path, source: bytes) -> None:
    """Write a module; its compiled form goes, which may be of the same second and length."""
    file.write_bytes(source)
    for compiled in (file.parent / "__pycache__").glob(f"{file.stem}.*.pyc"):
        compiled.unlink()


def tests_by_function(recorded: Mapping[str, Any]) -> dict[str, list[tuple[int, float, str]]]:
    """Return the tests that execute each function: how many functions they execute, their cost, their names."""
    answer = defaultdict[str, list[tuple[int, float, str]]](list)
    for file in recorded.values():
        shared = set(file["shared"])
        for nodeid, test in file["tests"].items():
            cost = max(test["cpu"], test["wall"] / 4) + 0.005
            for number in {*test["hits"], *shared}:
                n = len(test["hits"]) + (10_000 if number not in test["hits"] else 0)
                answer[file["names"][number]].append((n, cost, nodeid))
    return answer


def select(tests: Collection[tuple[int, float, str]]) -> tuple[list[str], list[str]]:
    """Return the tests nearest to a function, then others, fastest first, within the seconds of a fault."""
    near, files, spent = list[tuple[float, str]](), set[str](), 0.0
    for _, cost, name in sorted(tests):
        file = name.partition("::")[0]
        if not near or (spent + cost <= NEAR_S and (file in files or len(files) < 6)):
            files.add(file)
            near.append((cost, name))
            spent += cost
    rest, taken = list[tuple[float, str]](), {name for _, name in near}
    for _, cost, name in sorted(tests, key=lambda test: test[1:]):
        if name not in taken and spent + cost <= ALL_S:
            rest.append((cost, name))
            spent += cost
    return [name for _, name in sorted(near)], [name for _, name in rest]


def run(work: Path, faults: Sequence[Fault]) -> None:
    """Measure the faults that have no result yet."""
    import numpy
    import pydantic
    import pytest
    import scipy.optimize
    import scipy.stats
    import typer.testing

    print(numpy.__name__, scipy.__name__, pydantic.__name__, pytest.__name__, typer.__name__, "imported", flush=True)
    bench, results = Bench(work), work / "results.jsonl"
    tests = tests_by_function(bench.map())
    sites = {site.fault: site for site in sites_of(bench.tree)}
    done = {json.loads(line)["number"] for line in results.read_text().splitlines()} if results.exists() else set()
    for number, fault in enumerate(faults):
        if number in done:
            continue
        # The room may be the one of the tree before.
        site = next((s for f, s in sites.items() if replace(f, room=fault.room) == fault), None)
        there = tests[f"{fault.file}:{fault.function}"]
        near, rest = select(there)
        result: dict[str, Any] = {"outcome": "not in this tree" if site is None else "not executed", "cpu_s": 0.0}
        if site and there:
            result = bench.measure(site, near, rest, f"{number:03}.txt")
        line = {"number": number, **result, "ran": len(near) + len(rest), "of": len(there), **asdict(fault)}
        with results.open("a") as out:
            out.write(json.dumps(line) + "\n")
        print(number, fault.kind, f"{fault.file}:{fault.function}", result["outcome"], flush=True)
    (work / "table.txt").write_text(table(work))


def table(work: Path) -> str:
    """Return how many faults were found, by room and by kind."""
    results = [json.loads(line) for line in (work / "results.jsonl").read_text().splitlines()]
    lines = []
    for by in ("room", "kind", None):
        groups = sorted({result[by] for result in results}) if by else ["all"]
        for group in groups:
            outcomes = Counter(r["outcome"] for r in results if not by or r[by] == group)
            n = sum(outcomes.values())
            caught = outcomes["found"] + outcomes["timed out"]
            rest = ", ".join(f"{k} {v}" for k, v in sorted(outcomes.items()) if k != "found")
            lines.append(f"{by or '':5} {group:12} {caught:3} of {n:3} found {100 * caught / n:4.0f}%   {rest}")
        lines.append("")
    seconds = sum(result["cpu_s"] for result in results)
    flaky = sorted({test for result in results for test in result.get("flaky", ())})
    return "\n".join([*lines, f"CPU time of the faults: {seconds / 60:.1f} min; tests that failed once: {flaky}", ""])


def contained(work: Path, arguments: Sequence[str]) -> None:
    """Run this program in namespaces where it sees no other process and only `work` can be written to."""
    quiet = "for d in /sys /sys/fs/cgroup /proc/sys; do mount --bind $d $d && mount -o remount,bind,ro $d; done"
    mounts = f'mount --bind "$0" "$0"; {quiet}; mount -o remount,bind,ro / || exit 9; "$@"; exit $?'
    unshare = ["unshare", "--pid", "--mount", "--fork", "--mount-proc", "--kill-child", "sh", "-c", mounts]
    own = {"TMPDIR": str(work / "tmp"), "HOME": str(work / "home"), "OPENBLAS_NUM_THREADS": "1"}
    path = f"{Path(sys.executable).parent}:{os.environ['PATH']}"
    command = [*unshare, str(work), sys.executable, HERE / "seeded_faults.py", *arguments, "--inside"]
    sys.exit(subprocess.run(command, env={**os.environ, **own, "PATH": path}, cwd=work).returncode)


def prepare(tree: Path, at: str, work: Path) -> None:
    """Clone a commit of the tree once."""
    (work / "home").mkdir(parents=True, exist_ok=True)
    if not (work / "tree").exists():
        subprocess.run(["git", "clone", "-q", "--no-hardlinks", tree, work / "tree"], check=True)
        subprocess.run(["git", "-C", work / "tree", "checkout", "-q", "--detach", at], check=True)
