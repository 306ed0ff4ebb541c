"""The plan of a study that has results: from its study.toml, once that is shown to be the journal's study."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from scalograph.control.consent import NO_CONSENT, Consent
from scalograph.errors import Problem, ProtocolError, StudyError
from scalograph.protocol import journal
from scalograph.protocol.facts import HostFacts
from scalograph.protocol.results import Results
from scalograph.run.plan import Plan, plan
from scalograph.study import identity
from scalograph.study.declare import declare

# What is run must be the same; another machine, kernel or JVM is told, and for the reader to judge.
_SAME = ("study_hash", *identity.NEVER)
_OWN = Problem(
    "profile", "what is run is taken from the study", "",
    "name the study's file with --study where it has a workload or files of its own",
)  # fmt: skip


def planned_again(
    made: Results, file: Path | None, facts: HostFacts, consent: Consent = NO_CONSENT
) -> tuple[Plan, list[str]]:
    """The plan of this study, in full or quick form, whichever was run; and what differs since, in words.

    Commands come from study.toml, never from the journal.

    Args:
        made: where the results are.
        file: the study; None takes the copy in the results.
        facts: of this host.
        consent: what may be done to the whole machine.

    Raises:
        ProtocolError: there is no readable journal.
        StudyError: the study cannot be planned here, or differs from the journal's.
    """
    if not made.journal.exists():
        raise ProtocolError(str(made.journal), "no such file", "a results folder", "run the study first")
    before, file = journal.first_event(made.journal), file or made.study
    tried = [_tried(file, quick, facts, before, consent) for quick in (False, True)]
    planned, found = next((each for each in tried if not _other(each[1])), tried[0])
    if other := _other(found):
        names = ", ".join(dict.fromkeys(difference.key for difference in other[:6]))
        fix = "profile the study that was run"
        raise StudyError.one(str(file), f"another study: {names} differ", "the study of the journal", fix)
    return planned, [f"{d.key} is now {d.now!r}, was {d.before!r} when the study ran"[:1000] for d in found]


def _tried(
    file: Path, quick: bool, facts: HostFacts, before: Mapping[str, Any], consent: Consent
) -> tuple[Plan, list[identity.Difference]]:
    try:
        planned = plan(declare(file, quick), facts, consent=consent)
    except StudyError as error:
        raise StudyError([*error.problems, _OWN]) from error
    found = identity.differences(before, planned.first_event(""))
    # A start may have asked for other runs than the file.
    return planned, [one for one in found if one.name != "study_hash"] if planned.differs_in_runs(before) else found


def _other(found: list[identity.Difference]) -> list[identity.Difference]:
    return [difference for difference in found if difference.name in _SAME]
