import pytest

from scalograph.analysis.verdict import judge, n_cpus

from .records import record


@pytest.mark.parametrize(
    ("found", "verdict"),
    [
        (record(), "clean"),
        (record(neighbor_s=0.0199), "clean"),
        (record(neighbor_s=0.02), "contaminated"),
        (record(neighbor_s=0.03, cpus=(0, 1)), "clean"),  # 1.5 % of two CPUs
        (record(steal_s=0.02), "clean"),  # two ticks say nothing
        (record(steal_s=0.03), "contaminated"),
        (record(neighbor_s=None), "undecided"),
        (record(1.0, 1.2), "impossible"),
        (record(1.0, 1.2, cpus=(0, 1)), "clean"),
        (record(status="timeout", reason="still running"), "failed"),
        (record(0.001, 0.02), "clean"),  # CPU time is counted in ticks: a short run may show two too many
    ],
)
def test_verdicts(found: dict, verdict: str) -> None:
    assert judge(found).verdict == verdict


def test_each_cause_has_its_amount_and_words() -> None:
    causes = judge(record(neighbor_s=0.25, steal_s=0.5)).causes
    assert [(c["cause"], c["amount"]) for c in causes] == [("neighbor", 0.25), ("steal", 0.5)]
    assert causes[0]["text"] == "someone else had its CPU for 25.0 % of the time"


def test_an_undecided_run_says_why() -> None:
    found = record(neighbor_s=None)
    found["run"]["degraded"] = [{"what": "switch records", "why": "too many", "fix": ""}]
    assert judge(found).causes[0]["text"] == "too many"


def test_cpus_are_those_of_all_copies_together() -> None:
    found = record(cpus=(0,))
    found["copies"].append(
        {**found["copies"][0], "copy": 1, "in_force": {**found["copies"][0]["in_force"], "cpus": [3]}}
    )
    assert n_cpus(found) == 2
