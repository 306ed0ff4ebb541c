"""A study that asks up to which load a limit is met, from its file to its findings, on a simulated queue."""

import math
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from scalograph.errors import StudyError
from scalograph.protocol.findings import Claim, Findings
from scalograph.protocol.record import Record
from scalograph.questions.within_limit.document import WithinLimit
from scalograph.questions.within_limit.published import quantities
from scalograph.study.identity import dump_study
from scalograph.study.levels import Run
from scalograph.study.load import parse
from tests.kit import simulated as searched
from tests.kit.records import record
from tests.kit.shown_numbers import check_numbers
from tests.kit.simulated import Simulated
from tests.kit.studies import facts_of

HOST = facts_of(2)
STUDY = """\
version = 1
name = "limit"
title = "How many requests a second keep the limit?"
question = "within-limit"
work = "total"
seed = 3
[workload]
command = ["true", "{rate}"]
events = true
[factors.rate]
levels = "10:1000:+5"
title = "requests/s"
[responses.p90]
from = "value.p90_ns"
unit = "ns"
limit = 2e9
"""


@dataclass
class Queue(Simulated):
    """A server that is full at a rate of 500; a run near there is noisy."""

    times: Callable[[float], float]
    failing_from: int = 10_000

    def measure(self, run: Run) -> Record:
        self.made.append(run)
        rate = int(run.configuration["rate"])
        p90 = self.times(rate) * math.exp(0.03 * math.sin(12.9898 * len(self.made)))
        return record(1.0, 1.0, status="failed" if rate >= self.failing_from else "ok", values={"p90_ns": [p90 * 1e9]})


@dataclass
class Loaded(Queue):
    """A server that answers 300 requests a second, asked by a driver that tells of it."""

    def measure(self, run: Run) -> Record:
        rate = float(run.configuration["rate"])
        answered = min(rate, 300.0)
        (p90,) = super().measure(run).values[0].values["p90_ns"]
        told = {"p90_ns": p90, "rate": answered, "requests": 5 * answered, "offered_rate": rate}
        return record(1.0, 1.0, values={name: [value] for name, value in told.items()})


class Wild(Queue):
    """A server whose response time has nothing to do with its load."""

    def measure(self, run: Run) -> Record:
        made = len(self.made)
        self.times = lambda rate: 2 + 0.3 * (-1) ** made
        return super().measure(run)


def full_at(most: float) -> Callable[[float], float]:
    return lambda rate: 0.4 / (1 - rate / most) if rate < 0.999 * most else 400.0


def asked(folder: Path, queue: Queue) -> tuple[WithinLimit, Findings]:
    _, found = searched.run(folder, queue, STUDY, HOST)
    part = found.document("within-limit", WithinLimit)
    assert part is not None and found.claim is not None
    return part, found


def test_the_highest_rate_is_found_in_a_few_runs(tmp_path: Path) -> None:
    queue = Queue(times=full_at(500))
    part, found = asked(tmp_path, queue)
    assert part.decided and part.highest is not None and len(queue.made) <= 15
    assert part.crossing.low is not None and part.crossing.high is not None
    assert part.crossing.value == pytest.approx(400, rel=0.05)
    (case,), values = cases(found), cases(found)["met"]
    assert case == "met" and values["crossing"] == (part.crossing, "requests/s")
    assert (values["limit"], values["response"], values["factor"]) == ("2 s", "p90", "")
    assert quantities(part)["limit_level"][0].estimate.value == part.crossing.value


def claim_of(found: Findings) -> Claim:
    assert found.claim is not None
    return found.claim


def cases(found: Findings) -> dict[str, dict[str, Any]]:
    return {case.case: case.values for case in claim_of(found).cases}


@pytest.mark.parametrize(
    ("times", "case"),
    [
        (lambda rate: 0.3, "always"),
        (lambda rate: 9.0, "never"),
    ],
    ids=["always", "never"],
)
def test_a_limit_that_no_level_or_every_level_meets(tmp_path: Path, times: Callable[[float], float], case: str) -> None:
    part, found = asked(tmp_path, Queue(times=times))
    assert part.decided and list(cases(found)) == [case]
    check_numbers(claim_of(found))
    assert quantities(part)["limit_level"][0].unseen


def test_levels_that_fail_are_left_out(tmp_path: Path) -> None:
    part, _ = asked(tmp_path, Queue(times=full_at(500), failing_from=450))
    assert part.highest is not None and 370 <= part.highest < 450


def test_a_study_without_a_limit_is_journaled_as_before() -> None:
    plain = dump_study(parse(STUDY.replace("limit = 2e9\n", "").replace('question = "within-limit"\n', "")))
    assert "limit" not in plain["responses"]["p90"]
    assert dump_study(parse(STUDY))["responses"]["p90"]["limit"] == 2e9


@pytest.mark.parametrize(
    ("was", "becomes", "told"),
    [
        ("limit = 2e9\n", "", "0 with a limit"),
        ("limit = 2e9\n", 'limit = 2e9\n[responses.p99]\nfrom = "value.p99_ns"\nlimit = 3e9\n', "2 with a limit"),
        (
            "[responses.p90]",
            '[responses.rate]\nfrom = "value.rate"\nbetter = "higher"\n[responses.p90]',
            "after another",
        ),
        ("limit = 2e9", 'better = "higher"\nlimit = 2e9', "higher, with a limit"),
        ("limit = 2e9\n", "limit = 2e9\n[protocol]\nruns = 3\n", "in a search"),
        ("limit = 2e9", "limit = 0", "greater than 0"),
        ('question = "within-limit"', 'question = "cliff"', "outside within-limit"),
    ],
)
def test_a_study_that_cannot_be_answered_is_refused(was: str, becomes: str, told: str) -> None:
    with pytest.raises(StudyError, match=told):
        parse(STUDY.replace(was, becomes))


def test_where_a_queue_grows_the_limit_is_met_for_a_while_only(tmp_path: Path) -> None:
    """A server of 300 requests a second, over 5 s: 9 of 10 of its answers come within 2 s up to nearly 550."""
    queue = Loaded(times=lambda rate: max(0.1, 4.5 * (1 - 300 / rate)))
    part, found = asked(tmp_path, queue)
    assert part.highest is not None and part.answered == pytest.approx(300 / part.highest, rel=0.1)
    assert list(cases(found)) == ["met", "queue"] and cases(found)["queue"]["answered"] == part.answered
    check_numbers(claim_of(found))


def test_where_all_is_answered_nothing_is_said_of_a_queue(tmp_path: Path) -> None:
    part, found = asked(tmp_path, Loaded(times=full_at(300)))
    assert part.answered is None and list(cases(found)) == ["met"]


def test_a_search_that_ends_early_is_inconclusive(tmp_path: Path) -> None:
    """Runs near the limit vary by more than the levels differ."""
    queue = Wild(times=full_at(500))
    part, found = asked(tmp_path, queue)
    assert not part.decided and list(cases(found)) == ["open"] and found.claim is not None and not found.claim.answered
    assert cases(found)["open"]["n"] == len(part.runs)
    check_numbers(claim_of(found))
