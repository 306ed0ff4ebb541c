"""How many threads may be started: what the study says of runs at a limit of tasks, and where none is granted."""

from collections.abc import Mapping

import pytest

from scalograph.design.resolve import assumed_host, design
from scalograph.errors import Exit, HostError
from scalograph.study.declare import declare_shipped
from scalograph.study.scalars import Level
from tests.published.claims import found

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
