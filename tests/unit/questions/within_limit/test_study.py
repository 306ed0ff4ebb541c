"""A study that asks up to which load a limit is met, from its file to its findings, on a simulated queue."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from scalograph.protocol.findings import Claim
from scalograph.protocol.record import Record
from scalograph.protocol.response_times import middle_s
from scalograph.questions.within_limit.document import WithinLimit
from scalograph.questions.within_limit.published import quantities
from scalograph.study.identity import dump_study
from scalograph.study.levels import Configuration
from scalograph.study.load import parse
from tests.kit import simulated
from tests.kit.findings import cases_of, cells_of, claim_of, part_of
from tests.kit.records import read, record, recorded
from tests.kit.shown_numbers import check_numbers
from tests.kit.studies import a_study

P90 = {"from": "value.p90_ns", "unit": "ns", "limit": 2e9}
RATES = {"rate": {"levels": "10:1000:+5", "title": "requests/s"}}
STUDY = a_study(RATES, question="within-limit", seed=3, responses={"p90": P90})


class Queue(simulated.Machine):
    """A server whose p90 depends on the rate; of one that answers `most` a second the driver reports that."""

    def __init__(self, times: Callable[[float], float], failing_from: int = 10_000, most: float | None = None) -> None:
        super().__init__(lambda levels: times(int(levels["rate"])), lambda levels: int(levels["rate"]) >= failing_from)
        self.noise, self.most = 0.03, most

    def record(self, levels: Configuration, wall: float, **figures: Any) -> Record:
        rate, values = float(levels["rate"]), {"p90_ns": [wall * 1e9]}
        if self.most is not None:
            answered = min(rate, self.most)
            values |= {"rate": [answered], "requests": [5 * answered], "offered_rate": [rate]}
        return record(1.0, 1.0, values=values, **figures)


def full_at(most: float) -> Callable[[float], float]:
    return lambda rate: 0.4 / (1 - rate / most) if rate < 0.999 * most else 400.0


def asked(folder: Path, queue: Queue) -> tuple[WithinLimit, Claim]:
    """Return what was found, and what is said of it."""
    _, found = simulated.run(folder, queue, STUDY, 2)
    check_numbers(claim_of(found))
    return part_of(found, "within-limit", WithinLimit), claim_of(found)


def test_the_highest_rate_is_found_in_a_few_runs(tmp_path: Path) -> None:
    queue = Queue(full_at(500))
    part, said = asked(tmp_path, queue)
    assert part.decided and part.highest is not None and len(queue.made) <= 15
    assert part.crossing.low is not None and part.crossing.high is not None
    assert part.crossing.value == pytest.approx(400, rel=0.05)
    assert [*cases_of(said)] == ["met"]
    expected = {"crossing": (part.crossing, "requests/s"), "limit": "2 s", "response": "p90", "factor": ""}
    assert cases_of(said)["met"].items() >= expected.items()
    assert quantities(part)["limit_level"][0].estimate.value == part.crossing.value


@pytest.mark.parametrize(("p90_s", "case"), [(0.3, "always"), (9.0, "never")])
def test_a_limit_that_no_level_or_every_level_meets(tmp_path: Path, p90_s: float, case: str) -> None:
    part, said = asked(tmp_path, Queue(lambda rate: p90_s))
    assert part.decided and [*cases_of(said)] == [case] and quantities(part)["limit_level"][0].unseen


def test_levels_that_fail_are_left_out_and_studies_without_a_limit_journaled_as_before(tmp_path: Path) -> None:
    part, _ = asked(tmp_path, Queue(full_at(500), failing_from=450))
    assert part.highest is not None and 370 <= part.highest < 450
    plain = a_study(RATES, responses={"p90": {"from": "value.p90_ns", "unit": "ns"}})
    assert "limit" not in dump_study(parse(plain))["responses"]["p90"]
    assert dump_study(parse(STUDY))["responses"]["p90"]["limit"] == 2e9


def test_where_a_queue_grows_the_limit_is_met_for_a_while_only(tmp_path: Path) -> None:
    """A server of 300 requests a second, over 5 s: 9 of 10 of its answers come within 2 s up to nearly 550."""
    part, said = asked(tmp_path / "grows", Queue(lambda rate: max(0.1, 4.5 * (1 - 300 / rate)), most=300))
    assert part.highest is not None and part.answered == pytest.approx(300 / part.highest, rel=0.1)
    assert [*cases_of(said)] == ["met", "queue"] and cases_of(said)["queue"]["answered"] == part.answered
    part, said = asked(tmp_path / "all is answered", Queue(full_at(300), most=300))
    assert part.answered is None and [*cases_of(said)] == ["met"]


def test_a_search_that_ends_early_is_inconclusive(tmp_path: Path) -> None:
    """The response time has nothing to do with the load."""
    queue = Queue(lambda rate: 2 + 0.3 * (-1) ** len(queue.made))
    part, said = asked(tmp_path, queue)
    assert not part.decided and not said.answered and [*cases_of(said)] == ["open"]
    assert cases_of(said)["open"]["n"] == len(part.runs)


def test_of_several_limits_the_worst_decides(tmp_path: Path) -> None:
    class Failing(Queue):
        def record(self, levels: Configuration, wall: float, **figures: Any) -> Record:
            share = [0.0 if float(levels["rate"]) < 200 else 5.0 * float(levels["rate"]) / 250]
            return record(1.0, 1.0, values={"p90_ns": [wall * 1e9], "error_percent": share}, **figures)

    errors = {"from": "value.error_percent", "unit": "%", "limit": 5.0, "title": "errors"}
    study = a_study(RATES, question="within-limit", seed=3, responses={"p90": P90, "errors": errors})
    _, found = simulated.run(tmp_path, Failing(full_at(500)), study, 2)
    part, said = part_of(found, "within-limit", WithinLimit), claim_of(found)
    assert part.others == {"errors": 5.0} and part.decided
    assert part.crossing.value == pytest.approx(250, rel=0.08), "p90 alone is met up to 400"
    assert said.sentences[0].startswith("The limits of p90 (2 s) and errors (5%) are met up to")


class Counted(Queue):
    """A server of 500 requests a second, on one CPU of its own; its driver counts response times."""

    def record(self, levels: Configuration, wall: float, **figures: Any) -> Record:
        rate = min(float(levels["rate"]), 500.0)
        # A tenth of the answers take as long as p90, the others a tenth of it.
        times = {wall / 10: round(4.5 * rate), wall: round(0.5 * rate)}
        told = recorded(
            5.0, 5.0, values={"p90_ns": [wall * 1e9], "rate": [rate], "requests": [5 * rate]}, cpus=(0,), **figures
        )  # fmt: skip
        used = {"name": "web", "role": "service", "cpu_ns": round(5e9 * rate / 500), "wait_ns": 0, "n_tasks": 4}
        index = [next(i for i in range(8000) if middle_s(i) >= took) for took in times]
        counts = {"copy": 0, "phase": "steady", "operation": "get", "index": index, "count": [*times.values()]}
        return read({**told, "processes": [{"command": 0, **used}], "histograms": [counts]})


def test_goodput_and_the_bottleneck_beyond_the_limit_stand_beside_the_level(tmp_path: Path) -> None:
    part, said = asked(tmp_path, Counted(full_at(500)))
    # A tenth of the answers are about as late as they may be.
    assert part.throughput and part.goodput and 0.89 * part.throughput <= part.goodput <= part.throughput
    assert part.throughput == pytest.approx(part.highest, rel=0.02)
    beyond = part.beyond
    assert beyond is not None and (beyond.level, beyond.throughput) == (max(run.level for run in part.runs), 500)
    assert beyond.goodput == 0, "all answers come too late"
    assert (beyond.ends, beyond.within[0].kind) == ("cpu", "cpu")
    assert beyond.within[0].share == pytest.approx((part.highest or 0) / 500, rel=0.1)
    assert [*cases_of(said)] == ["met", "bottleneck"] and cases_of(said)["bottleneck"]["part"] == "CPU"
    assert cells_of(said)[f"at {beyond.level} requests/s"][-2:] == ["0/s", "1.00 of 1 used"]
