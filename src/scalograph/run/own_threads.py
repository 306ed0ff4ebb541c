"""Threads of our own linear algebra: one, whatever the caller set; what the caller set is kept for runs.

More would take the CPUs that are measured, and are slower for matrices of our size. numpy reads these variables when it
is first imported: `one_thread` comes before.
"""

import os
from collections.abc import Mapping

_NAMES = ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS")
# As the caller had them, None where they were not set; empty as long as we have not changed them.
_CALLERS: dict[str, str | None] = {}


def one_thread() -> None:
    """Set the variables for this process, and remember what the caller had."""
    for name in _NAMES:
        _CALLERS.setdefault(name, os.environ.get(name))
        os.environ[name] = "1"


def of_caller(environ: Mapping[str, str]) -> dict[str, str]:
    """Return an environment of ours as the caller had it."""
    before = {name: value for name, value in _CALLERS.items() if value is not None}
    return {name: value for name, value in environ.items() if name not in _CALLERS} | before
