"""A part that was run on a busy machine is run once more; the quieter of its two results stays."""

import shutil
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from scalograph.cli import last_stops
from scalograph.errors import ProtocolError
from scalograph.protocol import findings_file, journal, results
from scalograph.protocol.findings import Findings

# A part of which a larger share of runs was disturbed is worth another try.
BUSY = 0.1


def is_busy(folder: Path) -> bool:
    """Tell whether more runs of a finished part were disturbed than one would leave it at."""
    return disturbed(folder) > BUSY


def disturbed(folder: Path) -> float:
    """Return the share of a part's runs that were disturbed or failed, 0 to 1; 1 where its results cannot be read."""
    try:
        found = findings_file.read(results.at(folder).findings)
    except ProtocolError:
        return 1.0
    return _share(found)


def _share(found: Findings) -> float:
    n_done, verdicts = found.runs.n_done, found.runs.verdicts
    bad = sum(verdicts.get(name, 0) for name in ("contaminated", "impossible")) + found.runs.n_failed
    return bad / n_done if n_done else 1.0


def run_again(folder: Path, run: Callable[[Path], None], has_ended: Callable[[Path], bool]) -> str:
    """Run a part in a folder beside its own, and keep the quieter result; killed at any moment, one is whole.

    A few runs before the machine was busy again, or the budget ended, are no result to put in its place.

    Args:
        folder: the part's results.
        run: carries the part out in the folder that it is given, or goes on there.
        has_ended: tells whether it came to its end there: all runs, or the time of the part itself.

    Returns:
        Which of both stays, and why, in words.
    """
    new = again_at(folder)
    run(new)
    if not has_ended(new):
        return "the earlier result stays: the new one is not finished, and goes on with --resume --again"
    last_stops.analyze(new)
    if disturbed(new) >= disturbed(folder):
        shutil.rmtree(new)
        return "the earlier result stays: the new one was disturbed as much"
    folder.rename(_old(folder))
    new.rename(folder)
    shutil.rmtree(_old(folder))
    return "the new result stays: fewer of its runs were disturbed"


def end_reason(file: Path) -> str | None:
    """Return why the last start of a journal ended; None if it was cut short.

    Raises:
        ProtocolError: it cannot be read.
    """
    last: Mapping[str, Any] = {}
    for event in journal.read(file, whole=False):
        last = event
    return str(last.get("reason")) if last.get("event") == "end" else None


def again_at(folder: Path) -> Path:
    """Return where a part is run once more."""
    return folder.with_name(f"{folder.name}.again")


def settle(folder: Path) -> None:
    """End an exchange of results that was cut short."""
    old = _old(folder)
    if old.is_dir() and not folder.exists():
        old.rename(folder)
    elif old.is_dir():
        shutil.rmtree(old)


def _old(folder: Path) -> Path:
    return folder.with_name(f"{folder.name}.old")
