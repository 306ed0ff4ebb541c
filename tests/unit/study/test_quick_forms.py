"""Quick forms of studies of servers end within five minutes: by their declarations, as their pages say."""

import re
import tomllib
from pathlib import Path

import pytest

from scalograph.design.resolve import assumed_host
from scalograph.run.plan import Plan, plan
from scalograph.study.declare import declare_shipped
from scalograph.study.shipped import shipped_studies, shipped_study

SERVED = ("throughput", "within-limit")


def asked(name: str) -> object:
    """The question of a study, as its file has it: each worker collects these tests, and one carries them out."""
    return tomllib.loads((shipped_study(name) / "study.toml").read_text(encoding="utf-8")).get("question")


STUDIES = [name for name in sorted(shipped_studies()) if asked(name) in SERVED]
# What is compiled and copied before the first run has the rest of five minutes.
MOST_S = 270
# Of a driver, and how many make a second.
WINDOWS = {"ramp_s": 1, "steady_s": 1, "down_s": 1, "warmup_ms": 1000, "steady_ms": 1000}


def driven_s(planned: Plan) -> float:
    """For how long drivers send in all runs."""
    known = planned.program.processes[-1].values
    runs = planned.runs.most_runs
    configurations = planned.design.configurations
    each = [sum(float({**known, **one}.get(name, 0)) / per for name, per in WINDOWS.items()) for one in configurations]
    return runs * max(each)


@pytest.mark.parametrize("name", STUDIES)
def test_it_ends_within_five_minutes(name: str) -> None:
    quick = declare_shipped(name, quick=True)
    budget_s = quick.study.protocol.budget_s
    assert budget_s is not None and budget_s <= MOST_S
    # No block is begun that is not expected to end in time; all that is asked for could be measured in it.
    assert 0 < driven_s(plan(quick, assumed_host(quick.study, 2), starts=False)) < budget_s


@pytest.mark.parametrize("form", ["", " --quick"])
@pytest.mark.parametrize("name", STUDIES)
def test_its_page_says_for_how_long_it_may_take(name: str, form: str) -> None:
    page = (Path(shipped_study(name)) / "README.md").read_text()
    said = re.search(rf"^    scalograph study {name}{form} +# at most ([0-9]+) (s|minutes)$", page, re.MULTILINE)
    budget_s = declare_shipped(name, quick=bool(form)).study.protocol.budget_s
    assert said is not None and budget_s == int(said[1]) * {"s": 1, "minutes": 60}[said[2]]


def test_there_are_such_studies() -> None:
    assert {"connection-pool", "database-page", "order-to-build", "servlet-throughput"} <= set(STUDIES)
