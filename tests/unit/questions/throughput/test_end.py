"""Which part ends it, of runs whose parts are as full as a test says."""

from dataclasses import replace

import numpy as np
import pytest
from simulate.throughput import ENDS, answer_study, levels, network, study

from scalograph.findings.bottleneck import find_bottleneck
from scalograph.findings.driven_runs import DrivenRun, PoolUse, ProcessUse
from scalograph.questions.saturation import Saturation, bottleneck_case, part_use, part_uses
from tests.kit.findings import cases_of
from tests.kit.shown_numbers import check_numbers

RUN = DrivenRun(
    rate=100.0, sent=100.0, n_requests=1000, response_s=0.08, clients=8.0, think_s=0.0, late=0.0, driver=0.2
)


def service(name: str, used: float, *cpus: int, n_tasks: int | None = 8, waited: float = 0.02) -> ProcessUse:
    return ProcessUse(name, "service", frozenset(cpus), used, waited, n_tasks)


def limited(name: str, used: float, *cpus: int) -> ProcessUse:
    """A service that is granted half a CPU's worth of time, and had none left for a third of the run."""
    return replace(service(name, used, *cpus), quota=0.5, throttled=0.3)


def run(*processes: ProcessUse, **more: float | None) -> DrivenRun:
    return replace(RUN, processes=processes, **more)  # type: ignore[arg-type]


@pytest.mark.parametrize(("found", "kind", "names"), [
    (run(service("web", 1.97, 0, 1), service("db", 0.3, 2)), "cpu", ("web",)),
    (run(service("web", 0.97, 0, 1), service("db", 0.98, 2)), "cpu", ("db",)),
    (run(service("web", 0.99, 0), service("db", 0.97, 1)), "inconclusive", ("web",)),
    (run(service("web", 0.6, 0), service("db", 0.38, 0)), "cpu", ("web", "db")),
    (run(service("web", 0.99, 0, 1, 2, 3, n_tasks=1)), "tasks", ("web",)),
    (run(service("web", 0.5, 0), driver=0.97), "driver", ("driver",)),
    (run(service("web", 0.5, 0), late=0.03), "driver", ("driver",)),
    (run(service("web", 0.49, 0), quota=0.5, throttled=0.3), "quota", ("web",)),
    (run(service("web", 0.9, 0, 1), limited("db", 0.49, 0, 1)), "quota", ("db",)),
    (run(service("web", 0.5, 0), limited("db", 0.3, 0)), "inside", ()),
    (run(service("web", 1.1, 0, 1, 2, 3)), "inside", ()),
    (run(service("web", 1.1, 0, 1, 2, 3, waited=0.6)), "inconclusive", ()),
    (run(service("web", 0.3, 0), driver=None, late=None), "inside", ()),
    (RUN, "not known", ()),
    (run(service("web", 0.3, 0), n_errors=30), "wrong", ("answer",)),
    (replace(RUN, n_errors=30, wrong={"connect": 20, "status": 10}), "wrong", ("connect",)),
    (replace(RUN, n_errors=30, wrong={"waiting": 30}), "not known", ()),
    (run(service("web", 0.3, 0), n_errors=30, dropped=20), "backlog", ("connections",)),
    (run(service("web", 0.3, 0), dropped=9), "inside", ()),
    (run(service("web", 0.99, 0), n_errors=30, dropped=20), "cpu", ("web",)),
    (run(service("web", 0.3, 0), n_errors=9), "inside", ()),
])  # fmt: skip
def test_the_fullest_part_ends_it_unless_two_are_full(found: DrivenRun, kind: str, names: tuple[str, ...]) -> None:
    ended = find_bottleneck([found] * 3, alone_s=0.01)
    assert (ended.kind, ended.parts[0].names if ended.parts else ()) == (kind, names)


@pytest.mark.parametrize(
    ("web", "busy", "kind"), [(0.3, 1.95, "pool"), (0.3, 1.2, "inside"), (0.99, 2.0, "cpu"), (0.99, 1.2, "cpu")]
)
def test_a_pool_ends_it_where_its_holders_wait_for_nothing_full(web: float, busy: float, kind: str) -> None:
    found = replace(run(service("web", web, 0), n_errors=30 * (kind == "pool")), pool=PoolUse(2, busy, 0.06))
    ended = find_bottleneck([found] * 3, 0.01)
    assert ended.kind == kind
    ruled_out = [part for part in ended.others if part.kind == "pool"]
    assert bool(ruled_out) == (busy < 1.8), "one that is in use because the CPU is full is not ruled out"
    if kind == "pool":
        (part,) = ended.parts
        assert (part.used, part.granted, part.wait_s) == (1.95, 2, 0.06)


@pytest.mark.parametrize(("busy", "kind"), [(1.95, "pool"), (1.2, "inside")])
def test_a_pool_that_is_always_in_use_ends_it_although_no_plateau_is_seen(busy: float, kind: str) -> None:
    found = replace(run(service("web", 0.3, 0)), pool=PoolUse(2, busy, 0.06))
    assert find_bottleneck([found] * 3, 0.01, is_bounded=False).kind == kind


def test_a_pool_whose_holders_have_no_cpu_is_not_what_ends_it() -> None:
    """Neighbors may have it: 1.2 of 2 connections wait for a CPU."""
    web = replace(service("web", 0.5, 0, waited=0.6), ready=2.0)
    found = find_bottleneck([replace(run(web), pool=PoolUse(2, 1.95, 0.0134505))], 0.01)
    assert (found.kind, [part.kind for part in found.parts]) == ("inconclusive", ["pool"])
    uses = part_uses(found.parts)
    (case,) = bottleneck_case(Saturation(ends=found.kind, ended_by=uses), [*map(part_use, uses)])
    assert (case.case, case.values["part"], case.values["use"]) == ("holders", "pool", "1.95 of 2 used; wait 13.5 ms")


# Where more clients were shown to add nothing, they do not end it.
@pytest.mark.parametrize(
    ("think", "alone", "kind"),
    [(1.0, None, "clients"), (0.0, 0.078, "clients"), (0.0, 0.05, "inconclusive"), (0.0, 0.03, "inside")],
    ids=["they think", "they do not wait", "they wait a little", "they wait most of their time"],
)
def test_clients_end_it_where_they_do_not_wait(think: float, alone: float | None, kind: str) -> None:
    found = run(service("web", 0.3, 0), think_s=think)
    assert find_bottleneck([found], alone, is_bounded=False).kind == kind
    assert find_bottleneck([found], alone, is_bounded=True).kind == "inside"


def test_what_is_ruled_out_is_ranked_and_cpus_that_driver_and_service_share_are_one_part() -> None:
    ended = find_bottleneck([run(service("web", 0.99, 0), service("db", 0.4, 1), driver=0.5)], 0.01)
    ranked = [(part.kind, round(part.share, 2)) for part in ended.others]
    assert ranked == [("driver", 0.5), ("cpu", 0.4), ("clients", 0.12)]
    assert ended.grows == pytest.approx(8)
    driver = ProcessUse("load", "driver", frozenset({0}), 0.3)
    (part,) = find_bottleneck([run(service("web", 0.69, 0), driver)], 0.01).parts
    assert (part.names, part.of_driver, round(part.share, 2)) == (("web", "load"), 0.3, 0.99)


def ready(name: str, used: float, cpu: int, waited: float, ready: float | None) -> ProcessUse:
    return replace(service(name, used, cpu, waited=waited), ready=ready)


@pytest.mark.parametrize(("n_ready", "kind"), [(0.5, "inside"), (8.0, "inconclusive"), (None, "inconclusive")])
def test_waits_for_a_cpu_are_weighed_by_the_time_that_requests_wait(n_ready: float | None, kind: str) -> None:
    """Of 8 in flight 7 wait; tasks are ready for 60% of a little time without a CPU, or of much."""
    assert find_bottleneck([run(ready("web", 0.5, 0, 0.6, n_ready), in_flight=8.0)], alone_s=0.01).kind == kind
    # One that is hardly ever ready says little of them.
    both = run(ready("web", 0.5, 0, 0.1, 0.9), ready("db", 0.1, 1, 0.7, 0.1))
    assert find_bottleneck([both], 0.01).waited == pytest.approx(0.16)


CASES = {"inside": "elsewhere", "driver": "generator", "clients": "low load"}


@pytest.mark.parametrize("kind", ENDS)
def test_the_claim_names_the_bottleneck_of_a_known_service(kind: str) -> None:
    rng = np.random.default_rng(0)
    net = network(rng, kind)
    claim = answer_study(*study(rng, net, levels(net, kind)))[0].claim
    assert claim is not None and claim.matrix is not None
    ends, name = ENDS[kind]
    values = cases_of(claim)[CASES.get(ends, "bottleneck")]
    if ends in ("cpu", "quota", "pool"):
        assert name in values["part"].split() or len(net.stations) == 2
        assert values["use"] in [cell.text for row in claim.matrix.rows for cell in row.cells]
    check_numbers(claim)
