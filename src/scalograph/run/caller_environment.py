"""Build the environment of runs: which of the caller's variables reach it, and which notable ones do not."""

import os
import random
import re
from collections.abc import Mapping

from scalograph.errors import HostError
from scalograph.study.control_names import DRAWN
from scalograph.study.model import Study, WorkloadUse
from scalograph.text.escape import is_text

_NAMES = ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS")
# As the caller had them, None where they were not set; empty as long as we have not changed them.
_CALLERS: dict[str, str | None] = {}


def limit_to_one_thread() -> None:
    """Limit the math libraries of this process to one thread; remember what the caller had."""
    for name in _NAMES:
        _CALLERS.setdefault(name, os.environ.get(name))
        os.environ[name] = "1"


def caller_variables(environ: Mapping[str, str]) -> dict[str, str]:
    """Return an environment of this process as the caller had it."""
    before = {name: value for name, value in _CALLERS.items() if value is not None}
    return {name: value for name, value in environ.items() if name not in _CALLERS} | before


# Nothing else reaches a run unless the study says so: a variable that nobody declared would change it unseen.
PASSED_ON = ("PATH", "HOME", "LANG", "TMPDIR")
# Not even where all are passed on: those of a `make` around us, and options that every JVM would take.
NEVER = ("MAKEFLAGS", "MFLAGS", "MAKELEVEL", "JAVA_TOOL_OPTIONS", "_JAVA_OPTIONS")
# What changes how programs scale, or which code they run; other variables hardly do.
_TELLING = re.compile(
    r"LD_LIBRARY_PATH|LD_PRELOAD|(OMP|GOMP|KMP|MKL|OPENBLAS|BLIS|NUMEXPR|RAYON|TBB|OMPI|I_MPI|UCX|MALLOC|CUDA|NUMBA)_\w+"
    r"|VECLIB_MAXIMUM_THREADS|TOKIO_WORKER_THREADS|JULIA_NUM_THREADS|GLIBC_TUNABLES"
    r"|GO(MAXPROCS|GC|MEMLIMIT|DEBUG)|PYTHON(PATH|HASHSEED|OPTIMIZE|MALLOC)|NODE_(OPTIONS|PATH)|UV_THREADPOOL_SIZE"
    r"|JAVA_TOOL_OPTIONS|_JAVA_OPTIONS|JDK_JAVA_OPTIONS|CLASSPATH|MAKEFLAGS|RUBYLIB|RUBYOPT|PERL5LIB|R_LIBS\w*"
)
MOST_NAMED = 8


def environment(use: WorkloadUse, elsewhere: Mapping[str, str] | None = None) -> dict[str, str]:
    """Return the variables that a run gets, before its levels are set.

    `elsewhere` are variables of another machine, in place of the caller's. Raises HostError: one is not UTF-8.
    """
    caller = caller_variables(os.environ) if elsewhere is None else elsewhere
    names = [name for name in caller if name not in NEVER] if use.env_all else PASSED_ON
    passed = {name: caller[name] for name in names if name in caller and name not in use.env}
    for name, value in passed.items():
        if not is_text(value):  # no specification can hold it; excluded, it would change the run unseen
            problem = f"{value[:80]!a}, bytes that are no UTF-8"
            raise HostError(f"environment: {name}", problem, "text", f"set {name} for this command")
    return {"PATH": os.defpath, "LANG": "C.UTF-8", **passed, **use.env}


MOST_PADDING, _SEEDS = 4096, 1 << 32


def draw_variables(study: Study, block: int) -> dict[str, str]:
    """Draw the variables of `protocol.vary` for a block: the same for all its runs, also after a resume.

    The size of the environment moves the stack; a hash seed changes the order of tables in Python and Perl.
    """
    drawn: dict[str, str] = {}
    for what in study.protocol.vary:
        generator = random.Random(f"{study.seed} {what} {block}")
        if what == "env":
            drawn["SCALOGRAPH_PADDING"] = "x" * generator.randrange(MOST_PADDING + 1)
        elif what == "hash-seed":
            seed = generator.randrange(1, _SEEDS)
            drawn |= {"PYTHONHASHSEED": str(seed), "PERL_HASH_SEED": f"{seed:#x}"}
    return drawn


def unpassed_variables(study: Study, environ: Mapping[str, str]) -> list[str]:
    """Return the notable variables of the caller that do not reach the study's own command, sorted.

    A study that uses a shipped workload has none: that workload declares what it needs.
    """
    use = study.workload
    if use.use is not None:
        return []
    set_by_levels = {factor.control.removeprefix("env:") for factor in study.factors.values() if factor.control}
    drawn = {name for what in study.protocol.vary for name in DRAWN[what]}
    passed = {*use.env, *set_by_levels, *drawn, *(() if not use.env_all else set(environ) - set(NEVER))}
    return sorted(name for name, value in environ.items() if value and name not in passed and _TELLING.fullmatch(name))


def unpassed_variables_note(study: Study, environ: Mapping[str, str]) -> str | None:
    """Return a note on these variables; None if there are none."""
    if not (names := unpassed_variables(study, caller_variables(environ))):
        return None
    shown = ", ".join(names[:MOST_NAMED]) + (f" and {len(names) - MOST_NAMED} more" if len(names) > MOST_NAMED else "")
    return f"not passed to the command: {shown} (--env NAME passes one, --env-all all)"
