"""A study whose times are corrected: `undisturbed` beside `wall`, of all runs of all configurations at once."""

from collections.abc import Iterable, Mapping
from statistics import median
from typing import NamedTuple

from msgspec import structs

from scalograph.findings.row import Row
from scalograph.protocol.record import Record
from scalograph.study.model import Response, Study
from scalograph.study.responses import ELAPSED, primary_response
from scalograph.verdict.undisturbed import MOST_OPEN, undisturbed_observations

UNDISTURBED = "undisturbed"
TITLE = "undisturbed time"


class UndisturbedTime(NamedTuple):
    """Undisturbed times of one run.

    Attributes:
        values: one for each observation of the primary response, in s; empty where the record cannot tell.
        open_log: half of the distance of their ends, as a log; the median.
    """

    values: tuple[float, ...] = ()
    open_log: float = 0.0


def undisturbed_time(record: Record, elapsed: str, warmup: int) -> UndisturbedTime:
    """Read the undisturbed times of a run.

    Args:
        record: of the run.
        elapsed: source of the primary response, of those that can be corrected.
        warmup: iterations that do not count.
    """
    every = undisturbed_observations(record, elapsed, warmup)
    open_log = median(ends.open_log for ends in every) if every else 0.0
    # Ends far apart say less than wall time does of a run that lost less than 2%.
    is_usable = every and open_log <= MOST_OPEN / 2
    return UndisturbedTime(tuple(ends.middle_ns / 1e9 for ends in every), open_log) if is_usable else UndisturbedTime()


def correct_study(study: Study) -> Study:
    """Return the study with `undisturbed` before its primary response, which it replaces as that."""
    name = primary_response(study)
    wall = study.responses[name]
    corrected = wall.model_copy(update={"source": wall.source.replace("wall", UNDISTURBED), "title": TITLE})
    responses: dict[str, Response] = {}
    for other, response in study.responses.items():
        responses |= {UNDISTURBED: corrected} if other == name else {}
        responses[other] = response
    return study.model_copy(update={"responses": responses})


def is_correctable(study: Study) -> bool:
    """Return whether the primary response of a study is an elapsed time that can be corrected."""
    return study.responses[primary_response(study)].source in ELAPSED and UNDISTURBED not in study.responses


def correct_rows(rows: Iterable[Row], name: str, keep: bool) -> list[Row]:
    """Add the undisturbed time to each row; where the record cannot tell it of a run, that of `name`.

    Such a run counts only if less than 2% was taken from it. `keep`: the time of each iteration too.
    """
    return [_correct_row(row, name, keep) for row in rows]


def _correct_row(row: Row, name: str, keep: bool) -> Row:
    if name not in row.scores:
        return row
    values = row.undisturbed
    score = median(values) if values else row.scores[name]
    observations: Mapping[str, tuple[float, ...]] = row.observations
    if keep:
        observations = {UNDISTURBED: values or row.observations[name], **observations}
    taken = 2 * row.open_log if values and row.verdict != "disturbed" else row.taken
    return structs.replace(row, scores={UNDISTURBED: score, **row.scores}, observations=observations, taken=taken)


def taken_share(rows: Iterable[Row], name: str) -> float:
    """Return the share that others took of the time of all corrected runs; `name` is their wall time."""
    every = [row.scores for row in rows if row.verdict == "corrected" and name in row.scores]
    walls = sum(scores[name] for scores in every)
    return 1 - sum(scores[UNDISTURBED] for scores in every) / walls if walls else 0.0
