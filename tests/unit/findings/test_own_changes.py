"""What programs change of their own settings is told, and where they keep to fewer CPUs it is marked."""

from pathlib import Path
from typing import Any

import pytest

from scalograph.findings.run_notes import explain_fewer_cpus, own_changes
from tests.kit.findings import ONE_FACTOR, findings_of, point_at, texts
from tests.kit.records import read, recorded

FOUR = (0, 1, 2, 3)


def changed(what: dict[str, Any] | None, *per_cpu_s: float) -> dict[str, Any]:
    found = recorded(cpu_s=sum(per_cpu_s), per_cpu_s=per_cpu_s, cpus=FOUR)
    found["copies"][0]["changed"] = what
    return found


@pytest.mark.parametrize(
    ("what", "told"),
    [
        (None, ()),
        ({}, ()),
        ({"cpus": [1]}, ("its CPUs from 0-3 to 1",)),
        ({"nice": 5}, ("its nice value from 0 to 5",)),
        ({"policy": "rr", "priority": 3}, ("its policy from other to rr:3",)),
        ({"policy": "batch", "nice": -1}, ("its policy from other to batch", "its nice value from 0 to -1")),
    ],
)
def test_changes_are_told_with_what_was_set(what: dict[str, Any] | None, told: tuple[str, ...]) -> None:
    assert own_changes(read(changed(what, 1.0))) == told


@pytest.mark.parametrize(
    ("what", "per_cpu_s", "kept"),
    [
        ({"cpus": [1]}, (0.0, 1.0, 0.0, 0.0), "it kept to CPU 1 of 0-3"),
        ({"cpus": [0, 1]}, (0.5, 0.5, 0.005, 0.0), "it kept to CPUs 0-1 of 0-3"),
        ({"cpus": [0]}, (0.3, 0.3, 0.3, 0.3), ""),  # one thread on each: it bound them
        ({"cpus": [0, 1, 2, 3, 4]}, (1.0, 0.0, 0.0, 0.0), ""),
        ({}, (1.0, 0.0, 0.0, 0.0), ""),
        ({"cpus": [1]}, (), ""),
    ],
)
def test_who_keeps_to_fewer_cpus(what: dict[str, Any], per_cpu_s: tuple[float, ...], kept: str) -> None:
    assert explain_fewer_cpus(read(changed(what, *per_cpu_s))) == kept


def test_findings_tell_it_at_its_point(tmp_path: Path) -> None:
    made = []
    for block in range(6):
        for n in (1, 2):
            found = recorded((1 + block / 100) / n, per_cpu_s=(0.0, 1.0, 0.0, 0.0), cpus=FOUR)
            found["copies"][0]["changed"] = {"cpus": [1]} if n == 2 else {}
            made.append(({"threads": n}, found))
    told = findings_of(tmp_path, made, ONE_FACTOR)
    assert texts(point_at(told, 2).flags) == ["in 6 of 6 runs the program changed its CPUs from 0-3 to 1"]
    assert (point_at(told, 1).doubt, point_at(told, 2).doubt) == ("", "it kept to CPU 1 of 0-3")
