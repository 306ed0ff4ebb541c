"""A part of which claims are not resolved goes on: further blocks make their intervals narrower."""

from math import ceil
from pathlib import Path
from statistics import fmean

from scalograph.cli.overrides import overridden
from scalograph.design.replay import seconds_per_block
from scalograph.errors import ProtocolError
from scalograph.protocol import findings_file, journal, results
from scalograph.protocol.findings import Findings
from scalograph.questions.registry import is_search
from scalograph.study.declare import Declared
from scalograph.study.journaled import journaled

# As `protocol.runs` may be.
MOST_RUNS = 10_000


def unresolved(folder: Path) -> list[str]:
    """Return the ids of the claims of a finished part that are not resolved; none where its results cannot be read."""
    try:
        return _open(findings_file.read(results.at(folder).findings))
    except ProtocolError:
        return []


def may_decide(found: Findings, declared: Declared) -> bool:
    """Tell whether further runs of a part may decide a claim of it."""
    return _is_in_blocks(declared) and bool(_open(found))


def _open(found: Findings) -> list[str]:
    return [claim.id for claim in found.published_claims if claim.decision == "not resolved"]


def as_begun(folder: Path, declared: Declared) -> Declared:
    """Return a part with the runs and the time that its latest start gave it, if that was further.

    Raises:
        ProtocolError: its journal cannot be read.
    """
    study, now = declared.study, declared.study.protocol
    if not _is_in_blocks(declared):
        return declared
    for number, event in enumerate(journal.read(folder / "journal.jsonl"), 1):
        with journal.understood(event, number):
            if event["event"] in ("study", "resume") and "study" in event:
                study = journaled(event["study"])
    begun = study.protocol
    is_longer = begun.budget_s is not None and begun.budget_s > (now.budget_s or 0)
    if begun.runs <= now.runs and not (now.budget_s and is_longer):
        return declared
    return overridden(declared, f"{begun.budget_s:.0f}s" if is_longer else None, runs=max(begun.runs, now.runs))


def _is_in_blocks(declared: Declared) -> bool:
    """Tell whether more blocks can follow: what a search runs next is decided by its runs."""
    return not is_search(declared.study.question) and declared.study.protocol.precision is None


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
    if not _is_in_blocks(declared) or not unresolved(folder):
        return None
    spent = seconds_per_block(journal.read(folder / "journal.jsonl"))
    blocks = [took for block, took in spent.items() if block >= 0]
    if not blocks:
        return None
    each = fmean(blocks)
    n_more = max(1, min(round(seconds / each), MOST_RUNS - len(blocks))) if each else 1
    # So that none of these is cut off by what the loop itself takes.
    budget = ceil(sum(spent.values()) + (n_more + 0.5) * each) + 1
    return overridden(declared, f"{budget}s", runs=max(declared.study.protocol.runs, len(blocks) + n_more))
