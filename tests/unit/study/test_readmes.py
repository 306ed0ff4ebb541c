"""The page of every study that ships: how it is started, how long that takes, what it decides, what is kept."""

import re
import tomllib
from pathlib import Path

import pytest

from scalograph.design.resolve import assumed_host
from scalograph.run.plan import Plan, plan
from scalograph.study.catalogue import claim_number
from scalograph.study.declare import claims_of, declare_shipped
from scalograph.study.shipped import shipped_studies, shipped_study

STUDIES = sorted(shipped_studies())
LASTS = re.compile(r"\b(seconds?|s|minutes?|hours?)\b")
SERVED = ("throughput", "within-limit")


def page(study: str) -> str:
    return (Path(shipped_study(study)) / "README.md").read_text()


@pytest.mark.parametrize("study", STUDIES)
def test_it_says_how_long_it_takes_what_it_decides_and_what_is_kept(study: str) -> None:
    # Whatever host it needs.
    text = page(study).replace(" --host guest", "")
    lines = [line.strip() for line in text.splitlines() if line.startswith("    scalograph ")]
    for form in (f"scalograph study {study} --quick", f"scalograph study {study}"):
        said = [
            after for line in lines if (after := line.removeprefix(form)) != line and after.lstrip()[:1] in ("#", "")
        ]
        assert len(said) == 1 and LASTS.search(said[0]), f"{form}: {said}"
    ranges = re.findall(r"`?([SP]\d+)-(\d+)[a-z]?`? to `?\1-(\d+)[a-z]?`?", text)
    named = set(re.findall(r"[SP]\d+-\d+", text))
    named |= {f"{paper}-{n}" for paper, low, high in ranges for n in range(int(low), int(high) + 1)}
    decided = {claim_number(claim.id) for claim in claims_of(declare_shipped(study))}
    assert decided <= named, sorted(decided - named)
    is_kept = (Path(shipped_study(study)) / "example").is_dir()
    report = f"scalograph report studies/{study}/example"
    assert (report in page(study)) == is_kept
    if is_kept:
        kept = page(study).partition("## Example run")[2]
        assert re.search(r"\bCPUs?\b", kept), "on which machine"


def asked(name: str) -> object:
    """The question of a study, as its file has it: each worker collects these tests, and one carries them out."""
    return tomllib.loads((shipped_study(name) / "study.toml").read_text(encoding="utf-8")).get("question")


SERVERS = [name for name in sorted(shipped_studies()) if asked(name) in SERVED]
# What is compiled and copied before the first run has the rest of five minutes.
MOST_S = 270
# Of a driver, and how many make a second.
WINDOWS = {"ramp_s": 1, "steady_s": 1, "down_s": 1, "warmup_ms": 1000, "steady_ms": 1000}


def driven_s(planned: Plan) -> float:
    known = planned.program.processes[-1].values
    runs = planned.runs.most_runs
    configurations = planned.design.configurations
    each = [sum(float({**known, **one}.get(name, 0)) / per for name, per in WINDOWS.items()) for one in configurations]
    return runs * max(each)


@pytest.mark.parametrize("name", SERVERS)
def test_it_ends_within_five_minutes(name: str) -> None:
    quick = declare_shipped(name, quick=True)
    budget_s = quick.study.protocol.budget_s
    assert budget_s is not None and budget_s <= MOST_S
    # No block is begun that is not expected to end in time; all that is asked for could be measured in it.
    assert 0 < driven_s(plan(quick, assumed_host(quick.study, 2), starts=False)) < budget_s


@pytest.mark.parametrize("form", ["", " --quick"])
@pytest.mark.parametrize("name", SERVERS)
def test_its_page_says_for_how_long_it_may_take(name: str, form: str) -> None:
    page = (Path(shipped_study(name)) / "README.md").read_text()
    said = re.search(rf"^    scalograph study {name}{form} +# at most ([0-9]+) (s|minutes)$", page, re.MULTILINE)
    budget_s = declare_shipped(name, quick=bool(form)).study.protocol.budget_s
    assert said is not None and budget_s == int(said[1]) * {"s": 1, "minutes": 60}[said[2]]


def test_there_are_such_studies() -> None:
    assert {"connection-pool", "database-page", "order-to-build", "servlet-throughput"} <= set(SERVERS)
