"""How many threads may be started, how one busy thread is spread, and CPUs that are masked or offline."""

from collections.abc import Mapping

import pytest

from scalograph.design.resolve import assumed_host, design
from scalograph.errors import Exit, HostError
from scalograph.protocol.published_claim import Decision
from scalograph.study.declare import declare_shipped
from scalograph.study.scalars import Level
from tests.published.claims import decisions, found

OF_THE_JVM, OF_THE_PROBE = 19, 2


def limited(configuration: Mapping[str, Level]) -> dict[str, float]:
    """Each task that the limit leaves is a thread; virtual threads are no tasks."""
    allowed = int(configuration["tasks"])
    started = 1000 if configuration["kind"] == "virtual" else allowed - OF_THE_JVM - OF_THE_PROBE
    return {"started": started, "tasks": allowed - OF_THE_PROBE, "peak_threads": started}


@pytest.mark.parametrize("quick", [False, True])
def test_it_leads_with_how_many_threads_were_started(quick: bool) -> None:
    claim = found("thread-limit", limited, quick=quick, noise=0.0).claim
    assert claim is not None
    assert claim.sentences[0].startswith("Threads started goes from 79 with platform threads to 1,000 with virtual")


def test_each_further_task_is_a_thread_and_stacks_are_none() -> None:
    tables = {table.title: table for table in found("thread-limit", limited, noise=0.0).tables}
    for title in ("Platform threads started, of 1000", "Platform threads with stacks of 16 MB started, of 1000"):
        (_, *started) = zip(*tables[title].rows, strict=True)
        assert [[round(cell.value) for cell in column] for column in started] == [[79, 179, 379, 779]] * len(started)


def test_a_host_that_grants_no_limit_skips_it_in_one_message() -> None:
    study = declare_shipped("thread-limit").study
    bound = assumed_host(study, 2).model_copy(update={"refused": {"tasks": "no cgroup has the controller pids here"}})
    with pytest.raises(HostError, match=r"factors.tasks: tasks 100 is refused here \(no cgroup") as raised:
        design(study, bound)
    assert raised.value.exit_code == Exit.HOST


@pytest.mark.parametrize(("share", "n_cpus", "decision"), [
    (0.51, 2, "holds"), (0.55, 2, "holds"), (0.6, 2, "not resolved"), (0.999, 2, "does not hold"),
    (None, 2, "not measured"), (1.0, 1, "cannot be seen here"),
])  # fmt: skip
def test_one_busy_thread_on_two_cpus(share: float | None, n_cpus: int, decision: Decision) -> None:
    shown = {2: share and {"wall": 1.0, "busiest": share}}
    found = decisions("thread-affinity", lambda t: shown.get(t["cpus"], {"wall": 1.0, "busiest": 1.0}), n_cpus=n_cpus)
    assert found == {"S0-14": decision}


@pytest.mark.parametrize("quick", [False, True])
@pytest.mark.parametrize(("slower", "is_told"), [(1.0, False), (1.3, True)])
def test_the_way_to_one_cpu_matters_only_where_it_does(slower: float, is_told: bool, quick: bool) -> None:
    offline = {"wall": 0.6 * slower, "visible_cpus": 1.0, "online_cpus": 1.0}
    masked = {"wall": 0.6, "visible_cpus": 1.0, "online_cpus": 2.0}
    claim = found("cpus-offline", lambda t: masked if t["online"] is False else offline, quick=quick).claim
    assert claim is not None and claim.answered
    assert ("CPUs online" in claim.sentences[0]) == is_told, claim.sentences
