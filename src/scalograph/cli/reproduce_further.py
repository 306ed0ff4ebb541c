"""A part of which claims are not resolved goes on: further blocks make their intervals narrower."""

from math import ceil
from pathlib import Path
from statistics import fmean

from scalograph.cli.overrides import overridden
from scalograph.design.replay import seconds_per_block
from scalograph.errors import ProtocolError
from scalograph.protocol import findings_file, journal, results
from scalograph.questions.registry import is_search
from scalograph.study.declare import Declared
from scalograph.study.journaled import journaled


def unresolved(folder: Path) -> list[str]:
    """Return the ids of the claims of a finished part that are not resolved; none where its results cannot be read."""
    try:
        found = findings_file.read(results.at(folder).findings)
    except ProtocolError:
        return []
    return [claim.id for claim in found.published_claims if claim.decision == "not resolved"]


def as_begun(folder: Path, declared: Declared) -> Declared:
    """Return an interrupted part with the runs and the time that its latest start gave it."""
    study = declared.study
    for event in journal.read(folder / "journal.jsonl"):
        if event["event"] in ("study", "resume") and "study" in event:
            study = journaled(event["study"])
    begun, now = study.protocol, declared.study.protocol
    if is_search(study.question) or begun.runs <= now.runs:
        return declared
    return overridden(declared, None if begun.budget_s is None else f"{begun.budget_s:.0f}s", runs=begun.runs)


def further(folder: Path, declared: Declared, seconds: float) -> Declared | None:
    """Return a part as it is to go on.

    Args:
        folder: its results.
        declared: as it was run.
        seconds: that further blocks may take.

    Returns:
        The study with as many blocks more as take that long, by those that were made, and one at least; None where no
        claim of it is unresolved, or what it runs next is decided by its runs.
    """
    study = declared.study
    if is_search(study.question) or study.protocol.precision is not None or not unresolved(folder):
        return None
    blocks = [spent for block, spent in seconds_per_block(journal.read(folder / "journal.jsonl")).items() if block >= 0]
    if not blocks:
        return None
    each = fmean(blocks)
    n_more = ceil(seconds / each) if each else 1
    return overridden(declared, f"{ceil(sum(blocks) + max(seconds, each))}s", runs=len(blocks) + n_more)
