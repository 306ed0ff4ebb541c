"""How much a service carries, from runs that are made up: the claim, the table, the figure, what papers ask for."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from scalograph.errors import StudyError
from scalograph.protocol.findings import Findings
from scalograph.questions.throughput.chart import figures
from scalograph.questions.throughput.document import LoadedGroup, Throughputs
from scalograph.questions.throughput.published import quantities
from scalograph.study.load import parse
from scalograph.text.axes import Factors, Levels
from tests.kit.findings import JITTER, Made, findings_of
from tests.kit.records import recorded

STUDY = """\
version = 1
name = "page"
title = "How much does the page carry?"
question = "throughput"
work = "total"
seed = 0

[workload]
command = ["./load", "{clients}"]

[factors.clients]
levels = [1, 2, 4, 8]

[factors.servers]
levels = [1, 2]

[responses.rate]
from = "value.rate"
unit = "1/s"
better = "higher"

[protocol]
runs = 3
"""
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


def groups(found: Findings) -> list[LoadedGroup]:
    part = found.document("throughput", Throughputs)
    assert part is not None
    return part.groups


def test_the_claim_says_how_much_and_that_more_add_nothing(tmp_path: Path) -> None:
    found = findings_of(tmp_path, made(), STUDY)
    (one,) = groups(found)
    assert (one.state, one.at, one.is_clients, one.ends) == ("found", 2, True, "not known")
    assert one.knee is not None and one.knee.value == pytest.approx(2.0, rel=0.01)
    assert found.claim is not None and found.claim.answered and found.claim.figure == "response rate"
    first, second, *_ = found.claim.sentences
    assert first.startswith(
        "The service carries 100.0 requests/s [97.5, 102.5] with 2 clients; more clients add nothing"
    )
    assert second.startswith("There the median request takes 14.0 ms, 99 % at most 80.0 ms; requests queue from")


def test_what_is_carried_has_the_name_that_the_study_gives_it(tmp_path: Path) -> None:
    found = findings_of(tmp_path, made(), STUDY.replace('unit = "1/s"', 'unit = "1/s"\ntitle = "pages"'))
    assert found.claim is not None and "carries 100.0 pages/s [" in found.claim.sentences[0]
    assert "pages/s" in str(figures(found)[0].views[0].plots[0].title)


def test_the_setting_that_carries_most_is_told(tmp_path: Path) -> None:
    found = findings_of(tmp_path, made(servers=(1, 2)), STUDY)
    assert [one.group for one in groups(found)] == [{"servers": 2}, {"servers": 1}]
    assert found.claim is not None and "with 2 clients, 2 servers" in found.claim.sentences[0]
    assert [table.id for table in found.tables if table.question == "throughput"] == ["throughput-0", "throughput-1"]


@pytest.mark.parametrize(
    ("slower", "told"),
    [
        ({1: 20.0, 2: 40.0, 4: 79.0, 8: 80.0}, "; more clients add nothing (with 1 server they do)"),
        ({1: 10.0, 2: 20.0, 4: 40.0, 8: 79.0}, "; more clients add nothing (with 1 server they do)"),
        ({1: 60.0, 2: 60.0, 4: 60.0, 8: 60.0}, "; more clients add nothing"),
    ],
)
def test_a_setting_in_which_more_do_add_is_named(tmp_path: Path, slower: dict[int, float], told: str) -> None:
    one = made(slower)
    other = [({**levels, "servers": 2}, record) for levels, record in made({n: 2 * r for n, r in CARRIED.items()})]
    found = findings_of(tmp_path, [*one, *other], STUDY)
    assert found.claim is not None
    assert found.claim.sentences[0].removesuffix(".").endswith(f"with 2 clients, 2 servers{told}")


def test_a_rate_that_still_rises_is_no_most(tmp_path: Path) -> None:
    found = findings_of(tmp_path, made({1: 50.0, 2: 100.0, 4: 199.0, 8: 395.0}), STUDY)
    (one,) = groups(found)
    assert (one.state, one.ends, one.plateau.value, one.knee) == ("rising", "clients", None, None)
    assert found.claim is not None and "; it still rises: the clients limit it" in found.claim.sentences[0]


@pytest.mark.parametrize(("values", "how"), [({"late_share": 0.05}, "late"), ({"driver_cpu_ns": 9.6e9}, "CPU")])
def test_where_the_driver_gives_out_first_nothing_is_said_of_the_service(
    tmp_path: Path, values: dict[str, float], how: str
) -> None:
    found = findings_of(tmp_path, made(**values), STUDY)
    assert {point.driver_limits for point in groups(found)[0].points} == {how}
    assert found.claim is not None and not found.claim.answered
    assert found.claim.sentences[0].startswith("Cannot be said how much the service carries: the driver gives out")
    assert "the driver limits 4 configurations of 4" in " ".join(found.trust.causes)
    part = found.document("throughput", Throughputs)
    assert part is not None and quantities(part)["plateau"][0].unseen


def test_runs_that_break_littles_law_do_not_count(tmp_path: Path) -> None:
    wrong = ({"clients": 4, "servers": 1}, load(4, 400.0, mean_ns=20e6))
    found = findings_of(tmp_path, [*made(), wrong], STUDY)
    (one,) = groups(found)
    point = one.point(4)
    assert point is not None and (point.n, point.n_unlawful) == (3, 1)
    assert point.rate.value == pytest.approx(100, rel=0.01)
    assert "Little's law: 1 run left out" in " ".join(found.trust.causes)


def test_a_load_of_which_no_run_counts_is_in_the_table_alone(tmp_path: Path) -> None:
    short = [
        ({"clients": n, "servers": 1}, load(n, rate * jitter, **({"in_flight": 2 * n} if n == 8 else {})))
        for jitter in JITTER
        for n, rate in CARRIED.items()
    ]
    found = findings_of(tmp_path, short, STUDY)
    (one,) = groups(found)
    assert [point.level for point in one.points_with_runs] == [1, 2, 4] and one.state == "found"
    table = next(table for table in found.tables if table.id == "throughput-0")
    assert table.rows[-1][-1] == "3 runs against Little's law"


def test_a_driver_without_a_cpu_is_told_and_the_service_is_spoken_of(tmp_path: Path) -> None:
    found = findings_of(tmp_path, made(late_share=0.05, own_late_share=0.0), STUDY)
    assert {point.driver_limits for point in groups(found)[0].points} == {"no CPU"}
    assert found.claim is not None and found.claim.answered
    assert "the driver had to wait for a CPU in 4 configurations of 4" in " ".join(found.trust.causes)


def test_wrong_answers_are_told_and_end_what_nothing_else_ends(tmp_path: Path) -> None:
    found = findings_of(tmp_path, made(errors=30.0, errors_connect=30.0), STUDY)
    assert "wrong answers" in " ".join(found.trust.causes)
    assert (groups(found)[0].ends, groups(found)[0].ended_by[0].names) == ("wrong", ["connect"])
    assert found.claim is not None
    assert "; more clients add nothing: 3 % of the requests get no connection" in found.claim.sentences[0]


def test_connections_that_are_dropped_end_it_or_are_ruled_out(tmp_path: Path) -> None:
    full = findings_of(tmp_path, made(errors=30.0, listen_drops=200), STUDY).claim
    assert full is not None and "for 20 % of the requests a connection is dropped" in full.sentences[0]
    clean = findings_of(tmp_path, made(errors=30.0, listen_drops=0), STUDY).claim
    assert clean is not None and clean.sentences[-1] == "Ruled out: driver 20 % of its CPU and dropped connections."


def test_a_load_that_gets_wrong_answers_carries_less(tmp_path: Path) -> None:
    runs = [
        (levels, load(8, 40.0 * x, errors=200.0) if levels["clients"] == 8 else one)
        for x in JITTER
        for levels, one in made()[:4]
    ]
    found = findings_of(tmp_path, runs, STUDY)
    assert found.claim is not None
    assert "8 clients, where 50 % of the requests get no right answer)" in found.claim.sentences[0]


def test_a_row_with_many_wrong_answers_says_so(tmp_path: Path) -> None:
    found = findings_of(tmp_path, made(errors=30.0), STUDY)
    assert {row[-1] for row in found.tables[0].rows} == {"wrong answers"}


def test_a_row_with_few_wrong_answers_does_not(tmp_path: Path) -> None:
    found = findings_of(tmp_path, made(errors=1.0), STUDY)
    assert "wrong answers" not in found.tables[0].rows[0] and "wrong answers" in " ".join(found.trust.causes)


def test_what_papers_ask_for(tmp_path: Path) -> None:
    part = findings_of(tmp_path, made(servers=(1, 2)), STUDY).document("throughput", Throughputs)
    assert part is not None
    offered = quantities(part)
    plateaus = [(one.group, one.estimate.value) for one in offered["plateau"]]
    assert plateaus == [({"servers": 2}, 2.0), ({"servers": 1}, 2.0)]
    (corner,) = offered["corner_over_best"]
    assert corner.group == {} and corner.estimate.value == pytest.approx(1.0, rel=0.02)


def test_the_corner_is_that_of_each_setting_of_what_counts_nothing(tmp_path: Path) -> None:
    text = STUDY.replace("[responses.rate]", "[factors.cap]\nlevels = [0, 1]\n[responses.rate]")
    capped = [({**levels, "cap": cap}, run) for levels, run in made(servers=(1, 2)) for cap in (0, 1)]
    part = findings_of(tmp_path, capped, text).document("throughput", Throughputs)
    assert part is not None
    assert [one.group for one in quantities(part)["corner_over_best"]] == [{"cap": 0}, {"cap": 1}]


def test_one_load_has_an_answer_and_no_figure(tmp_path: Path) -> None:
    found = findings_of(tmp_path, made({4: 100.0}), STUDY)
    assert figures(found) == []
    assert found.claim is not None
    assert found.claim.sentences[0] == "The service carries 100.0 requests/s [97.5, 102.5] with 4 clients."


def test_every_setting_is_drawn(tmp_path: Path) -> None:
    (figure,) = figures(findings_of(tmp_path, made(servers=(1, 2)), STUDY))
    assert [view.name for view in figure.views] == ["servers: 2", "servers: 1"]
    rate, times = figure.views[0].plots
    asked, most, measured = (trace["y"] for trace in rate.data)
    assert asked == pytest.approx([100, 200, 400, 800], rel=0.02) and most == pytest.approx([200] * 4, rel=0.01)
    assert measured == pytest.approx([100, 200, 200, 200], rel=0.01)
    assert len(times.data) == 3


def test_a_group_is_not_named_by_what_all_have(tmp_path: Path) -> None:
    silent = [({"clients": n, "servers": 1}, recorded(10.0)) for _ in JITTER for n in (1, 2)]
    factors = Factors(findings_of(tmp_path, silent, STUDY))
    factors.known["front"] = Levels("front", "in front", "", ["direct"])
    assert factors.group({"front": "direct", "servers": 2}) == "servers: 2"


def test_without_a_driver_it_cannot_be_said(tmp_path: Path) -> None:
    silent = [({"clients": n, "servers": 1}, recorded(10.0)) for _ in JITTER for n in (1, 2)]
    found = findings_of(tmp_path, silent, STUDY)
    assert found.claim is not None and found.claim.sentences == ["Cannot be said: no run tells rate."]
    assert found.claim.figure == "response rate"


@pytest.mark.parametrize(
    ("was", "becomes", "told"),
    [
        ('from = "value.rate"', 'from = "run.cpu"', "no rate"),
        ('from = "value.rate"', "from = [1]", "no rate"),
        ("[protocol]", '[responses.wall]\nfrom = "window.wall"\n[protocol]', "a wall time"),
        ("levels = [1, 2]\n", 'levels = [1, 2]\nrole = "size"\n', "outside break-even"),
    ],
)
def test_a_study_that_cannot_be_answered_is_refused(was: str, becomes: str, told: str) -> None:
    with pytest.raises(StudyError, match=told):
        parse(STUDY.replace(was, becomes))


def test_what_a_driver_does_not_tell_is_absent_and_said(tmp_path: Path) -> None:
    runs = made()
    for _, record in runs:
        (told,) = record["values"]
        for name in ("mean_ns", "in_flight", "cycle_ns", "late_share"):
            del told["values"][name]
    found = findings_of(tmp_path, runs, STUDY)
    (one,) = groups(found)
    assert (one.state, one.at, one.knee, one.is_clients) == ("found", 2, None, True)
    assert all((point.n_unchecked, point.response.value, point.late) == (3, None, None) for point in one.points)
    (table,) = [table for table in found.tables if table.question == "throughput"]
    assert not {"mean", "late"} & {column.name for column in table.columns}
    assert "Little's law not checked in 12 of 12 runs" in " ".join(found.warnings)
    assert found.claim is not None and "the median request takes 14.0 ms" in found.claim.sentences[1]
