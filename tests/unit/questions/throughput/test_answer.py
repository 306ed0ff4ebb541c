"""Throughput of a service, from made-up runs: the claim, the table, the chart, what papers ask for."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from scalograph.protocol.findings import Findings
from scalograph.questions.throughput.chart import figures
from scalograph.questions.throughput.document import LoadedGroup, Throughputs
from scalograph.questions.throughput.published import quantities
from scalograph.text.axes import Factors, Levels
from tests.kit.findings import JITTER, Made, cases_of, cells_of, claim_of, findings_of, part_of, table_named
from tests.kit.records import recorded
from tests.kit.shown_numbers import check_numbers
from tests.kit.studies import a_study

RATE = {"from": "value.rate", "unit": "1/s", "better": "higher"}
FACTORS: dict[str, Any] = {"clients": [1, 2, 4, 8], "servers": [1, 2]}


def study(title: str = "", **more: object) -> str:
    rate = {**RATE, "title": title} if title else RATE
    return a_study({**FACTORS, **more}, question="throughput", responses={"rate": rate}, protocol={"runs": 3})


STUDY = study()
CARRIED = {1: 50.0, 2: 100.0, 4: 100.0, 8: 100.0}


def load(clients: int, rate: float, **values: float) -> dict[str, Any]:
    """A run of 10 s in which the driver had so many clients, which do not think."""
    took = clients / rate * 1e9
    told = {
        "rate": rate, "requests": 10 * rate, "errors": 0, "mean_ns": took, "p50_ns": 0.7 * took, "p90_ns": 2 * took,
        "p99_ns": 4 * took, "in_flight": clients, "clients": clients, "cycle_ns": 0, "late_share": 0, "threads": 1,
        "driver_cpu_ns": 2e9,
    }  # fmt: skip
    return recorded(10.0, 5.0, values={name: [x] for name, x in (told | values).items()})


def made(rates: Mapping[int, float] = CARRIED, servers: tuple[int, ...] = (1,), **values: float) -> Made:
    return [
        ({"clients": n, "servers": s}, load(n, s * rate * jitter, **values))
        for jitter in JITTER
        for s in servers
        for n, rate in rates.items()
    ]


def with_eight(rate: float = 100.0, **values: float) -> Made:
    """Runs of which those of eight clients have another rate or other values."""
    return [
        ({**levels}, load(8, rate * JITTER[i // 4], **values) if levels["clients"] == 8 else run)
        for i, (levels, run) in enumerate(made())
    ]


def wild(servers: int = 1) -> Made:
    """Runs that differ too much."""
    return [({"clients": n, "servers": servers}, load(n, 100 * x)) for n in CARRIED for x in (0.2, 1.0, 3.0)]


def groups(found: Findings) -> list[LoadedGroup]:
    return part_of(found, "throughput", Throughputs).groups


def test_the_claim_says_how_much_and_that_more_add_nothing(tmp_path: Path) -> None:
    found = findings_of(tmp_path, made(), STUDY)
    (one,) = groups(found)
    assert (one.state, one.at, one.is_clients, one.ends) == ("found", 2, True, "not known")
    assert one.knee is not None and one.knee.value == pytest.approx(2.0, rel=0.01)
    claim, first = claim_of(found), claim_of(found).cases[0]
    assert claim.answered and claim.figure == "response rate"
    assert (first.case, first.values["level"], first.values["who"]) == ("plateau", "2 clients", "")
    assert claim.matrix is not None and "requests queue from " in claim.matrix.note
    assert cells_of(found)["p50 / p99"][1] == "14.0 / 80.0 ms"


FALLING = {1: 50.0, 2: 100.0, 4: 70.0, 8: 40.0}


@pytest.mark.parametrize(
    "runs",
    [made(), made({4: 100.0}), made({1: 50.0, 2: 100.0, 4: 199.0, 8: 395.0}), made(servers=(1, 2)),
     made(FALLING, errors=30.0), made(errors=30.0, listen_drops=200), [*made(FALLING), *made(FALLING, (2,))]],
)  # fmt: skip
def test_every_number_of_the_claim_is_a_cell_of_a_row_that_shows(tmp_path: Path, runs: Made) -> None:
    check_numbers(claim_of(findings_of(tmp_path, runs, STUDY)))


def test_what_is_carried_has_the_name_that_the_study_gives_it(tmp_path: Path) -> None:
    found = findings_of(tmp_path, made(), study("pages"))
    claim = claim_of(found)
    assert claim.matrix is not None and claim.cases[0].values["rate"][1] == claim.matrix.unit == "pages/s"
    assert "pages/s" in str(figures(found)[0].views[0].plots[0].title)


def test_every_setting_is_told_drawn_and_offered_to_papers_the_largest_first(tmp_path: Path) -> None:
    found = findings_of(tmp_path, made(servers=(1, 2)), STUDY)
    assert [one.group for one in groups(found)] == [{"servers": 2}, {"servers": 1}]
    assert claim_of(found).cases[0].values["who"] == "2 servers"
    assert [*cells_of(found)] == ["2 servers", "1 server", "p50 / p99"]
    assert [table.id for table in found.tables if table.question == "throughput"] == ["throughput-0", "throughput-1"]
    (figure,) = figures(found)
    assert [view.name for view in figure.views] == ["servers: 2", "servers: 1"]
    rate, times = figure.views[0].plots
    asked, most, measured = (trace["y"] for trace in rate.data)
    assert asked == pytest.approx([100, 200, 400, 800], rel=0.02) and most == pytest.approx([200] * 4, rel=0.01)
    assert measured == pytest.approx([100, 200, 200, 200], rel=0.01)
    assert len(times.data) == 3
    offered = quantities(part_of(found, "throughput", Throughputs))
    plateaus = [(one.group, one.estimate.value) for one in offered["plateau"]]
    assert plateaus == [({"servers": 2}, 2.0), ({"servers": 1}, 2.0)]
    (corner,) = offered["corner_over_best"]
    assert corner.group == {} and corner.estimate.value == pytest.approx(1.0, rel=0.02)
    capped = [({**levels, "cap": cap}, run) for levels, run in made(servers=(1, 2)) for cap in (0, 1)]
    part = part_of(findings_of(tmp_path, capped, study(cap=[0, 1])), "throughput", Throughputs)
    assert [one.group for one in quantities(part)["corner_over_best"]] == [{"cap": 0}, {"cap": 1}]


@pytest.mark.parametrize(("slower", "elsewhere"), [
    ({1: 20.0, 2: 40.0, 4: 79.0, 8: 80.0}, ("1 server", "4 clients")),
    ({1: 10.0, 2: 20.0, 4: 40.0, 8: 79.0}, ("1 server", "8 clients")),
    ({1: 60.0, 2: 60.0, 4: 60.0, 8: 60.0}, None),
])  # fmt: skip
def test_gains_from_load_are_named(tmp_path: Path, slower: dict[int, float], elsewhere: tuple[str, str] | None) -> None:
    other = [({**levels, "servers": 2}, record) for levels, record in made({n: 2 * r for n, r in CARRIED.items()})]
    cases = cases_of(findings_of(tmp_path, [*made(slower), *other], STUDY))
    assert (cases["plateau"]["level"], cases["plateau"]["who"]) == ("2 clients", "2 servers")
    rises = cases.get("rises elsewhere")
    assert (rises and (rises["who"], rises["level"])) == elsewhere


def test_what_may_carry_as_much_and_what_is_inconclusive_are_named(tmp_path: Path) -> None:
    alike = [({**levels, "servers": n}, run) for levels, run in made() for n in (1, 2)]
    found = findings_of(tmp_path, [*alike, *wild(3)], study(servers=[1, 2, 3]))
    beside = cases_of(found)["beside"]
    assert (len(beside["near"]), beside["left"]) == (1, ["3 servers"]) and "3 servers" in cells_of(found)
    silent = [({"clients": n, "servers": 2}, recorded(10.0)) for n in CARRIED]
    found = findings_of(tmp_path, [*made(), *silent], STUDY)
    assert cases_of(found)["plateau"]["who"] == "1 server" and cases_of(found)["beside"]["left"] == ["2 servers"]
    assert [*cells_of(found)][:2] == ["1 server", "2 servers"]


LATE = [({**levels, "servers": 2}, run) for levels, run in made({4: 300.0, 8: 300.0}, late_share=0.05)]
NOISY = [({"clients": n, "servers": 1}, load(n, 100 * x)) for n in (4, 8) for x in (0.9, 1.0, 1.1)]


@pytest.mark.parametrize(
    ("runs", "cases"),
    [([*made(), *LATE], ["generator"]), (NOISY, ["open", "test more"]), (made()[:4], ["one run"]),
     (wild(), ["too noisy"])],
    ids=["the generator saturates at the highest rate", "no plateau is shown", "one run", "runs vary too much"],
)  # fmt: skip
def test_what_leaves_the_maximum_open(tmp_path: Path, runs: Made, cases: list[str]) -> None:
    found = findings_of(tmp_path, runs, STUDY)
    assert [*cases_of(found)] == cases and not claim_of(found).answered


@pytest.mark.parametrize(("busy", "cases"), [(0.97, ["full", "bottleneck", "from"]), (0.5, ["open", "test more"])])
def test_a_part_that_is_full_is_named_although_the_plateau_is_open(
    tmp_path: Path, busy: float, cases: list[str]
) -> None:
    pool = {"pool_size": 1.0, "pool_busy": busy, "pool_wait_ns": 1e6}
    runs = [({"clients": n, "servers": 1}, load(n, 100 * x, **pool)) for n in (4, 8) for x in (0.9, 1.0, 1.1)]
    found = findings_of(tmp_path, runs, STUDY)
    assert [*cases_of(found)] == cases and claim_of(found).answered == (busy > 0.9)
    if busy > 0.9:
        assert cases_of(found)["bottleneck"]["part"] == "pool"


def test_a_rate_that_still_rises_is_no_most(tmp_path: Path) -> None:
    found = findings_of(tmp_path, made({1: 50.0, 2: 100.0, 4: 199.0, 8: 395.0}), STUDY)
    (one,) = groups(found)
    assert (one.state, one.ends, one.plateau.value, one.knee) == ("rising", "clients", None, None)
    assert [*cases_of(found)][:1] == ["rising"] and "low load" in cases_of(found)


@pytest.mark.parametrize(("values", "how"), [({"late_share": 0.05}, "late"), ({"driver_cpu_ns": 9.6e9}, "CPU")])
def test_where_the_driver_saturates_nothing_is_said(tmp_path: Path, values: dict[str, float], how: str) -> None:
    found = findings_of(tmp_path, made(**values), STUDY)
    assert {point.driver_limits for point in groups(found)[0].points} == {how} and not claim_of(found).answered
    assert [*cases_of(found)] == ["generator"] and "generator limits" in found.trust.codes
    assert quantities(part_of(found, "throughput", Throughputs))["plateau"][0].unseen


def test_runs_that_break_littles_law_do_not_count(tmp_path: Path) -> None:
    wrong = ({"clients": 4, "servers": 1}, load(4, 400.0, mean_ns=20e6))
    found = findings_of(tmp_path, [*made(), wrong], STUDY)
    (one,) = groups(found)
    point = one.point(4)
    assert point is not None and (point.n, point.n_unlawful) == (3, 1)
    assert point.rate.value == pytest.approx(100, rel=0.01)
    assert "excluded (Little's law): 1;" in " ".join(found.trust.causes)
    found = findings_of(tmp_path, with_eight(in_flight=16), STUDY)
    (one,) = groups(found)
    assert [point.level for point in one.points_with_runs] == [1, 2, 4] and one.state == "found"
    assert table_named(found, "throughput-0").rows[-1][-1] == "3 runs against Little's law"


def test_a_driver_without_a_cpu_is_told_and_the_service_is_spoken_of(tmp_path: Path) -> None:
    found = findings_of(tmp_path, made(late_share=0.05, own_late_share=0.0), STUDY)
    assert {point.driver_limits for point in groups(found)[0].points} == {"no CPU"} and claim_of(found).answered
    assert "generator waits" in found.trust.codes


def test_failed_requests_end_it_where_nothing_else_does_and_carry_less(tmp_path: Path) -> None:
    found = findings_of(tmp_path, made(errors=30.0, errors_connect=30.0), STUDY)
    assert "wrong answers" in found.trust.codes
    assert (groups(found)[0].ends, groups(found)[0].ended_by[0].names) == ("wrong", ["connect"])
    own = cases_of(found)["bottleneck"]
    assert (own["part"], own["use"], own["cause"]) == ("failed requests", "3.0% of requests", "refused connections")
    full = cases_of(findings_of(tmp_path, made(errors=30.0, listen_drops=200), STUDY))["bottleneck"]
    assert (full["part"], full["use"]) == ("dropped connections", "20% of requests")
    clean = cases_of(findings_of(tmp_path, made(errors=30.0, listen_drops=0), STUDY))["bottleneck"]
    assert clean["part"] == "failed requests"
    falls = cases_of(findings_of(tmp_path, with_eight(rate=40.0, errors=200.0), STUDY))["falls"]
    assert (falls["last"], falls["failed"]) == ("8 clients", "50% of requests")


@pytest.mark.parametrize("errors", [30.0, 1.0])
def test_a_row_with_many_wrong_answers_says_so(tmp_path: Path, errors: float) -> None:
    found = findings_of(tmp_path, made(errors=errors), STUDY)
    rows = found.tables[0].rows
    assert {row[-1] for row in rows} == {"wrong answers"} if errors > 1 else "wrong answers" not in rows[0]
    assert "wrong answers" in found.trust.codes


def test_one_load_has_an_answer_and_no_figure(tmp_path: Path) -> None:
    found = findings_of(tmp_path, made({4: 100.0}), STUDY)
    assert figures(found) == []
    only = cases_of(found)["only"]
    assert (only["level"], only["who"]) == ("4 clients", "")


def test_without_a_driver_it_cannot_be_said(tmp_path: Path) -> None:
    silent = [({"clients": n, "servers": 1}, recorded(10.0)) for _ in JITTER for n in (1, 2)]
    found = findings_of(tmp_path, silent, STUDY)
    claim = claim_of(found)
    assert claim.sentences == ["No answer: rate was not recorded."] and claim.figure == "response rate"
    factors = Factors(found)
    factors.known["front"] = Levels("front", "in front", "", ["direct"])
    assert factors.group({"front": "direct", "servers": 2}) == "servers: 2", "no group is named by what all have"


def test_what_a_driver_does_not_tell_is_absent_and_said(tmp_path: Path) -> None:
    runs = made()
    for _, record in runs:
        for name in ("mean_ns", "in_flight", "cycle_ns", "late_share"):
            del record["values"][0]["values"][name]
    found = findings_of(tmp_path, runs, STUDY)
    (one,) = groups(found)
    assert (one.state, one.at, one.knee, one.is_clients) == ("found", 2, None, True)
    assert all((point.n_unchecked, point.response.value, point.late) == (3, None, None) for point in one.points)
    assert not {"mean", "late"} & {column.name for column in table_named(found, "throughput-0").columns}
    assert "Little's law not checked in 12 of 12 runs" in " ".join(found.warnings)
    assert cells_of(found)["p50 / p99"][1] == "14.0 / 80.0 ms"


def test_a_run_with_the_median_rate_is_drawn_over_time_and_a_second_without_an_answer_is_a_gap(tmp_path: Path) -> None:
    seconds = {"rate_second": [90, 0, 110], "p50_second_ns": [1e6, 0, 2e6], "p99_second_ns": [3e6, 0, 8e6]}
    runs = made()
    for i, (_, record) in enumerate(runs):
        more = i // len(CARRIED) * 10
        record["values"][0]["values"] |= {n: [x + more * (n == "rate_second") for x in xs] for n, xs in seconds.items()}
    found = findings_of(tmp_path, runs, STUDY)
    (one,), timed = groups(found), figures(found)[1]
    middle = 10 * sorted(range(len(JITTER)), key=lambda i: JITTER[i])[len(JITTER) // 2]
    assert one.top.seconds["rate"] == [90 + middle, middle, 110 + middle]
    assert timed.id == "throughput-time" and len(timed.views) == 4
    assert timed.views[0].name.startswith(f"clients: {one.at}")
    rate, times = timed.views[0].plots
    assert rate.data[0]["y"] == one.top.seconds["rate"]
    assert [trace["y"] for trace in times.data] == [[1, None, 2], [3, None, 8]]
    assert [word["text"] for word in times.layout["annotations"]] == ["p50", "p99"]
