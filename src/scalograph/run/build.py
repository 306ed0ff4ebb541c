"""Compile a workload once for each source, compiler and release; keep the result in a cache."""

import shutil
import subprocess
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from scalograph.errors import HostError, StudyError
from scalograph.protocol.facts import Jvm
from scalograph.run.interrupts import run_or_refuse, tool_environment
from scalograph.study.workload import Build, Workload
from scalograph.system.private_dir import cache_folder, cache_key, fill_atomically

TIMEOUT_S = 300
SHOWN_LINES = 12
_INSTALL = {
    "javac": "apt install openjdk-17-jdk-headless",
    "cc": "apt install gcc libc6-dev",
    "mpicc": "apt install libopenmpi-dev openmpi-bin",
    "cargo": "apt install rustup && rustup default stable",
}
# A compiler that lives for two seconds: half of its CPU time went to compiling what it would hardly use.
_QUICK = ("-J-XX:TieredStopAtLevel=1", "-J-XX:+UseSerialGC")
# Where cargo keeps what it makes on the way.
_SCRATCH = ".target"


@dataclass(frozen=True)
class _Compiler:
    program: str
    version: str


@dataclass(frozen=True)
class _Step:
    plan: Build
    sources: Sequence[Path]
    compiler: _Compiler
    jars: Sequence[Path] = ()


def build(
    folder: Path, workload: Workload, jvms: Sequence[Jvm] = (), where: Path | None = None,
    fetched: Mapping[str, Path] | None = None, tell: Callable[[str], object] = str,
) -> Path | None:  # fmt: skip
    """Return the folder with the compiled workload, `{build}` of its template; None if nothing is compiled.

    The first of `jvms` with a compiler compiles. `fetched` holds the file of each artifact, `where` is a cache other
    than the user's, `tell` receives an announcement of a slow compilation.

    Raises StudyError: the declaration names no source, or one outside the folder; HostError: no compiler, the compiler
    refused, or the cache cannot be written.
    """
    steps = _steps(folder, workload, jvms, fetched or {})
    if not steps:
        return None
    target = (where or cache_folder() / "builds") / f"{workload.name}-{_key(folder, steps)}"
    if not target.is_dir():
        if any(step.plan.tool == "cargo" for step in steps):  # it takes half a minute, and fetches libraries too
            tell(f"{workload.name}: compiled by cargo, once; kept in {target}")
        with fill_atomically(target, "builds") as partial:
            for step in steps:
                _compile(folder, step, partial)
    return target


def _steps(folder: Path, workload: Workload, jvms: Sequence[Jvm], fetched: Mapping[str, Path]) -> list[_Step]:
    """Return the compilations, each with the jars of its own table and those that no level selects."""
    shared = [jar for plan in workload.build if not plan.when for jar in plan.jars]
    return [
        _Step(
            plan,
            own_files(folder, plan.sources, "build.sources"),
            _compiler(plan.tool, jvms),
            [fetched[jar.artifact] for jar in dict.fromkeys((*shared, *plan.jars))],
        )
        for plan in workload.build
        if plan.tool
    ]


def own_files(folder: Path, patterns: Sequence[str], key: str) -> list[Path]:
    """Return the files of a workload's folder that match patterns, each once.

    Raises StudyError: a pattern matches no file, or one outside the folder; `key` of workload.toml holds it.
    """
    home = folder.resolve()
    files: list[Path] = []
    for pattern in patterns:
        outside = Path(pattern).is_absolute() or ".." in Path(pattern).parts
        matching = [] if outside else sorted(path for path in folder.glob(pattern) if path.is_file())
        if not matching or not all(path.resolve().is_relative_to(home) for path in matching):
            where = f"{folder.name}/workload.toml: {key}"
            raise StudyError.one(where, f'no file for "{pattern}"', "files inside the workload's folder", "correct it")
        files += [path for path in matching if path not in files]
    return files


def _compiler(tool: str, jvms: Sequence[Jvm]) -> _Compiler:
    beside = next((jvm.javac for jvm in jvms if jvm.javac), None) if tool == "javac" else None
    program = beside or shutil.which(tool)
    if program is None:
        available = "only Java runtimes without a compiler" if tool == "javac" and jvms else "nothing"
        raise HostError(tool, f"{available} on PATH", "a compiler for the workload's sources", _INSTALL[tool])
    program = str(Path(program).absolute())
    asked = _run([program, "-version" if tool == "javac" else "--version"], "tell its version")
    if asked.returncode:
        raise HostError(program, f"exit code {asked.returncode} when asked for its version", "0", _INSTALL[tool])
    return _Compiler(program, (asked.stdout or asked.stderr).splitlines()[0])


def _key(folder: Path, steps: Sequence[_Step]) -> str:
    words = [
        # A jar lies in a folder that is named by its checksum.
        (str(s.plan.tool), s.compiler.version, str(s.plan.release), *s.plan.flags, *(jar.parent.name for jar in s.jars))
        for s in steps
    ]
    return cache_key(folder, [file for s in steps for file in s.sources], [word for of in words for word in of])


def _compile(folder: Path, step: _Step, target: Path) -> None:
    done = _run(_command(folder, step, target.resolve()), "compile")
    if done.returncode:
        output = (done.stderr.strip() or done.stdout.strip()).replace(f"{folder.resolve()}/", "").splitlines()
        outcome = f"{step.plan.tool} exit code {done.returncode}"
        fix = "\n".join([f"{step.compiler.version} says:", *output[:SHOWN_LINES]])
        raise HostError(f"workload {folder.name}", outcome, "sources that compile", fix)
    shutil.rmtree(target / _SCRATCH, ignore_errors=True)


def _command(folder: Path, step: _Step, target: Path) -> list[str]:
    plan, compiler = step.plan, step.compiler
    files = [str(source.resolve()) for source in step.sources]
    if plan.tool == "javac":
        release = ["--release", str(plan.release)] if plan.release else []
        # Classes of the tables above are seen too. No processor of annotations that a jar may bring is run.
        path = ["-proc:none", "-cp", ":".join(map(str, (target, *step.jars)))]
        return [compiler.program, *_QUICK, *plan.flags, *release, *path, "-d", str(target), *files]
    if plan.tool == "cargo":
        # Nothing is written into the folder of a workload: a shipped one may belong to somebody else.
        places = ["--path", str(folder.resolve()), "--root", str(target), "--target-dir", str(target / _SCRATCH)]
        return [compiler.program, "install", "--quiet", "--locked", "--no-track", *places, *plan.flags]
    # Libraries among the flags (-lm) must come after what needs them.
    libraries = [flag for flag in plan.flags if flag.startswith("-l")]
    others = [flag for flag in plan.flags if flag not in libraries]
    return [compiler.program, *others, "-o", str(target / "main"), *files, *libraries]


def _run(argv: Sequence[str], what: str) -> subprocess.CompletedProcess[str]:
    # Without the caller's JAVA_TOOL_OPTIONS and the like, nor what cargo finds in the folder it is called from: a build
    # depends on nothing that its key does not hold.
    late = (argv[0], f"did not {what} within {TIMEOUT_S} s", "an answer", "try it by hand")
    absent = (argv[0], "cannot be started", "a compiler", "install it again")
    return run_or_refuse(argv, tool_environment(), TIMEOUT_S, Path("/"), late, absent)
