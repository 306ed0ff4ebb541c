"""Correct the times of a study: all runs of all configurations get `undisturbed` beside `wall`."""

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from statistics import median
from typing import NamedTuple

from msgspec import structs

from scalograph.analysis.quantiles import histogram
from scalograph.analysis.ratios import ratio
from scalograph.analysis.versus import CorrectionClass, check_correction
from scalograph.design.stopping_rule import reference_key
from scalograph.findings.row import Key, Row
from scalograph.protocol.record import Record
from scalograph.study.model import Response, Study
from scalograph.study.responses import CPU_USAGE, UNDISTURBED, primary_response, windows
from scalograph.verdict.cause import REPEATED, SHARE
from scalograph.verdict.speed import loop_time
from scalograph.verdict.undisturbed import MOST_OPEN, CpuUse, has_one_task, undisturbed_observations

TITLE = "undisturbed time"


class UndisturbedTime(NamedTuple):
    """Undisturbed times of one run.

    Attributes:
        values: one for each observation of the primary response, in s; empty if the record does not give them.
        open_log: half of the distance between their ends, as a log; the median over observations.
        whole_s: of the whole run; None if the record does not give it.
    """

    values: tuple[float, ...] = ()
    open_log: float = 0.0
    whole_s: float | None = None


def undisturbed_time(record: Record, elapsed: str, warmup: int, is_clean: bool) -> UndisturbedTime:
    """Read the undisturbed times of a run.

    Args:
        record: of the run.
        elapsed: source of the primary response, one that can be corrected.
        warmup: iterations that do not count.
        is_clean: whether less than 2% was taken from it.
    """
    most_taken = SHARE if is_clean else 1.0
    every = undisturbed_observations(record, elapsed, warmup, most_taken)
    open_log = median(ends.open_log for ends in every) if every else 0.0
    # If a run lost less than 2%, its wall time is more certain than ends far apart.
    is_usable = every and open_log <= MOST_OPEN / 2
    if not is_usable:
        return UndisturbedTime()
    whole = undisturbed_observations(record, "run.wall", 0, most_taken) if record.iterations else every
    values = tuple(ends.middle_ns / 1e9 for ends in every)
    return UndisturbedTime(values, open_log, whole[0].middle_ns / 1e9 if whole else None)


def iteration_times(record: Record, elapsed: str, is_corrected: bool) -> Sequence[float]:
    """Return the time of each iteration in s, those of warm-up included; undisturbed of a run that is corrected."""
    if is_corrected and elapsed.startswith("window."):
        return [ends.middle_ns / 1e9 for ends in undisturbed_observations(record, elapsed, 0)]
    return windows(record).wall_s


def loop_log(record: Record) -> float:
    """Return the log of the sentinel's loop time in ns; NaN where it is unknown.

    Several tasks of a run slow each other and the loop: such a run has no loop time.
    """
    time_ns = loop_time(record) if record.run.speed and has_one_task(record.run) else None
    return math.log(time_ns) if time_ns else math.nan


def correct_study(study: Study) -> Study:
    """Return the study with `undisturbed` as its primary response, before the one that it replaces."""
    name = primary_response(study)
    wall = study.responses[name]
    corrected = wall.model_copy(update={"source": wall.source.replace("wall", UNDISTURBED), "title": TITLE})
    responses: dict[str, Response] = {}
    for other, response in study.responses.items():
        responses |= {UNDISTURBED: corrected} if other == name else {}
        responses[other] = response
    return study.model_copy(update={"responses": responses})


def correct_rows(study: Study, rows: Iterable[Row], keep: bool) -> list[Row]:
    """Add the undisturbed time to each row that counts, or its wall time if the record does not give it.

    Such a run lost less than 2%. No other run has an undisturbed time. CPU usage is divided by undisturbed time.
    `keep`: add the time of each iteration too.
    """
    name = primary_response(study)
    usages = [other for other, response in study.responses.items() if response.source == CPU_USAGE]
    return [_correct_row(row, name, usages, keep) for row in rows]


def _correct_row(row: Row, name: str, usages: Iterable[str], keep: bool) -> Row:
    if name not in row.scores or row.verdict in REPEATED:
        return row
    values = row.undisturbed
    if not values and row.verdict == "unverified" and (row.taken is None or row.taken >= SHARE):
        return row
    score = median(values) if values else row.scores[name]
    scores = {UNDISTURBED: score, **row.scores}
    scores |= {other: row.scores[other] * row.scores[name] / score for other in usages if other in row.scores}
    observations: Mapping[str, tuple[float, ...]] = row.observations
    if keep:
        observations = {UNDISTURBED: values or row.observations[name], **observations}
    # The intervals include the distance of the ends.
    taken = 0.0 if values else row.taken
    tail = histogram(values) if row.tail and values else row.tail
    return structs.replace(row, scores=scores, observations=observations, taken=taken, tail=tail)


FEWEST = 3  # clean runs, and corrected ones, of a configuration that checks the correction
_GRAVEST: tuple[CorrectionClass, ...] = ("withdrawn", "checked", "unchecked")


class Correction(NamedTuple):
    """How a study is corrected.

    Attributes:
        response: the one that undisturbed time replaces.
        check: whether ratios of clean runs confirm those of corrected ones.
        n_clean: clean runs that the check uses.
        share: share of the time of all corrected runs that others took.
    """

    response: str
    check: CorrectionClass
    n_clean: int
    share: float


def check_study(study: Study, rows: Sequence[Row]) -> Correction:
    """Check the ratios of corrected runs by those of clean runs of the same two configurations.

    A single configuration checks nothing, because some programs need more CPU time beside others.
    """
    times: dict[Key, tuple[list[float], list[float]]] = {}
    for row in rows:
        if row.verdict in ("clean", "corrected") and row.undisturbed and not row.warmup:
            times.setdefault(row.key, ([], []))[row.verdict == "corrected"].append(median(row.undisturbed))
    usable = {key: both for key, both in times.items() if min(map(len, both)) >= FEWEST}
    references = {reference_key(study, dict(zip(study.factors, key, strict=True))) for key in usable}
    base = next((key for key in usable if key in references), None)
    others = [both for key, both in usable.items() if key != base]
    # With several checks at once, each has a higher confidence (Bonferroni).
    confidence = 1 - (1 - study.protocol.confidence) / max(1, len(others))
    over = usable[base] if base else ([], [])
    ratios = ([ratio(a, b, confidence) for a, b in zip(both, over, strict=True)] for both in others)
    words = {check_correction(clean, corrected).word for clean, corrected in ratios}
    check = min(words, key=_GRAVEST.index, default=_GRAVEST[-1])
    name = primary_response(study)
    return Correction(name, check, sum(len(clean) for clean, _ in usable.values()), taken_share(rows, name))


def taken_share(rows: Iterable[Row], name: str) -> float:
    """Return the share that others took of the time of all corrected runs; `name` is their wall time."""
    corrected = [row for row in rows if row.verdict == "corrected" and name in row.scores and row.undisturbed]
    every = [(row.scores[name], median(row.undisturbed)) for row in corrected]
    walls = sum(wall for wall, _ in every)
    return 1 - sum(time for _, time in every) / walls if walls else 0.0


def disturb_bound(rows: Sequence[Row]) -> list[Row]:
    """Return the rows with corrected runs as disturbed ones if all runs of their configuration ran on one CPU.

    A program that binds its tasks to it makes them wait for each other, even if other CPUs are free. Tasks that are not
    bound use these now and then. Where others kept them busy in all runs, the other configurations decide.
    """
    uses: dict[Key, set[CpuUse]] = {}
    for row in rows:
        if row.verdict in ("clean", "corrected") and not row.warmup:
            uses.setdefault(row.key, set()).add(row.cpu_use)
    free = {key for key, used in uses.items() if used & {"", "several"}}
    if any("several" in used for used in uses.values()) and not any(uses[key] & {"one"} for key in uses.keys() - free):
        free |= uses.keys()
    return _disturb(rows, lambda row: row.key not in free)


def disturb_again(rows: Iterable[Row]) -> list[Row]:
    """Return the rows with corrected runs as disturbed ones, since the correction does not fit the program."""
    return _disturb(rows, lambda row: True)


def _disturb(rows: Iterable[Row], is_wrong: Callable[[Row], bool]) -> list[Row]:
    return [
        structs.replace(row, verdict="disturbed") if row.verdict == "corrected" and is_wrong(row) else row
        for row in rows
    ]
