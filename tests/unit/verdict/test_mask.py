"""Runs that left the CPUs they were given: none of them is believed, and none of them is the machine's fault."""

from typing import Any

import pytest

from scalograph.verdict.judge import Judgment, judge
from tests.kit.records import read, recorded


def verdict_on(found: dict[str, Any]) -> Judgment:
    return judge(read(found))


def ran(outside_s: float | None, *per_cpu_s: float, changed: dict[str, Any] | None = None) -> dict[str, Any]:
    """A run that was given CPU 0."""
    outside_ns = None if outside_s is None else round(outside_s * 1e9)
    found = recorded(cpu_s=sum(per_cpu_s), per_cpu_s=per_cpu_s, outside_ns=outside_ns)
    found["copies"][0]["changed"] = changed
    return found


@pytest.mark.parametrize(("found", "verdict"), [
    (ran(0.0, 1.0, 0.0, changed={}), "clean"),
    (ran(0.07, 0.001, 0.07, changed={"cpus": [1]}), "failed"),
    (ran(0.02, 0.98, 0.02, changed={}), "failed"),  # a child that went elsewhere
    (ran(0.019, 0.98, 0.019, changed={}), "clean"),
    (ran(0.00005, 0.0001, 0.00005, changed={}), "clean"),  # nobody's decision is so short
    (ran(0.0, 1.0, 0.0, changed={"cpus": [1]}), "clean"),  # it went there to end
    (ran(None, 1.0, changed={"cpus": [0, 1]}), "failed"),  # nobody saw where it was
    (ran(None, 1.0, changed={"nice": 5}), "clean"),
    (ran(None, 1.0), "clean"),  # of a probe that does not ask
    (ran(1.0, 1.0, 1.0, changed={"cpus": [0, 1]}), "failed"),  # impossible on one CPU, and known why
])  # fmt: skip
def test_what_ran_outside_its_cpus_is_not_believed(found: dict[str, Any], verdict: str) -> None:
    assert verdict_on(found).verdict == verdict


def test_the_share_and_the_mask_are_told() -> None:
    (cause,) = verdict_on(ran(0.07, 0.001, 0.07, changed={"cpus": [1]})).causes
    assert (cause.cause, round(cause.amount or 0, 3), cause.unit) == ("left its CPUs", 0.986, "of CPU time")
    told = "at least 90 % of its CPU time was not on CPU 0, which it was given; its mask was CPU 1 at its end"
    assert cause.text == told


def test_runs_alike_are_told_alike() -> None:
    texts = {verdict_on(ran(share, 1 - share, share, changed={})).causes[0].text for share in (0.91, 0.95, 0.99)}
    assert len(texts) == 1


def test_a_copy_may_use_the_cpus_of_another() -> None:
    found = ran(None, 1.0, changed={"cpus": [1]})
    placed = {**found["copies"][0]["in_force"], "cpus": [1]}
    found["copies"].append({**found["copies"][0], "copy": 1, "in_force": placed, "changed": {}})
    assert verdict_on(found).verdict == "clean"


@pytest.mark.parametrize(("outside_s", "told"), [(None, "left its CPUs"), (0.0, "CPU seconds")])
def test_more_cpu_time_than_there_was_names_what_may_be_behind_it(outside_s: float | None, told: str) -> None:
    judged = verdict_on(ran(outside_s, 1.5))
    assert judged.verdict == "invalid" and told in judged.causes[0].text


@pytest.mark.parametrize(("quota", "containment", "verdict"), [
    (0.5, "cgroup", "failed"), (None, "cgroup", "clean"), (0.5, "namespace", "clean"),
])  # fmt: skip
def test_who_leaves_the_cgroup_leaves_the_quota(quota: float | None, containment: str, verdict: str) -> None:
    left = {"what": "cgroup leaf", "why": "processes left it", "fix": "start no container"}
    found = recorded(degraded=[left], quota_cpus=quota)
    found["header"]["containment"] = containment
    assert verdict_on(found).verdict == verdict
