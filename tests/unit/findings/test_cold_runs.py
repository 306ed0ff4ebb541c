"""First runs that read from disk."""

from pathlib import Path
from typing import Any

import pytest

from scalograph.protocol.findings import Findings
from tests.kit.findings import ONE_FACTOR, Made, findings_of, point_at, texts
from tests.kit.records import recorded

JITTER = (0.998, 1.002, 1.0, 1.001, 0.999, 1.0)
MB = 1_000_000


def run(wall_s: float, **figures: int) -> dict[str, Any]:
    made = recorded(wall_s, wall_s, cpus=(0, 1, 2, 3))
    made["run"] |= {"n_blocks_in": 0, "n_major_faults": 0, **figures}
    return made


def study(cold: dict[int, dict[str, Any]]) -> Made:
    """Six blocks of threads 1, 2 and 4; the runs with these numbers are 20 % slower and read."""
    made = []
    for number in range(18):
        n = (1, 2, 4)[number % 3]
        wall = JITTER[number // 3] / n
        made.append(({"threads": n}, run(1.2 * wall, **cold[number]) if number in cold else run(wall)))
    return made


def doubts(found: Findings) -> list[str]:
    return [text for text in found.trust.causes if "from disk" in text]


def blocks(megabytes: int) -> dict[str, int]:
    return {"n_blocks_in": megabytes * MB // 512}


def test_only_reading_that_slows_is_a_doubt(tmp_path: Path) -> None:
    found = findings_of(tmp_path, study({}), ONE_FACTOR)
    assert doubts(found) == [] and texts(point_at(found, 1).flags) == []
    made = study({})
    made[0] = (made[0][0], run(JITTER[0], **blocks(300)))
    assert doubts(findings_of(tmp_path, made, ONE_FACTOR)) == []
    (told,) = doubts(findings_of(tmp_path, study({0: {"n_major_faults": 900}}), ONE_FACTOR))
    assert told.startswith(
        "the first run of the study waited for 900 pages from disk, the later ones none, and its score"
    )


def test_first_runs_of_the_study_that_read_are_a_doubt_with_its_cure(tmp_path: Path) -> None:
    found = findings_of(tmp_path, study({0: blocks(200), 1: blocks(140)}), ONE_FACTOR)
    (told,) = doubts(found)
    assert told == (
        "the first 2 runs of the study read 340 MB from disk, the later ones none, and their scores differ by +20 %: "
        "discard them with warmup_runs = 2 (or more)"
    )
    assert found.trust.level == "doubt"
    assert texts(point_at(found, 1).flags) == [
        "the first run read 200 MB from disk, the later ones none, and its score differs by +20 %"
    ]
    assert texts(point_at(found, 4).flags) == []


def test_a_configuration_with_files_of_its_own_is_flagged(tmp_path: Path) -> None:
    found = findings_of(tmp_path, study({2: blocks(50)}), ONE_FACTOR.replace("runs = 3", "runs = 3\nwarmup_runs = 2"))
    assert doubts(found) == []
    assert any(cause.startswith("1 of 3 configurations had cold first runs") for cause in found.trust.causes)
    assert point_at(found, 4).doubt == "its first runs were cold" and point_at(found, 1).doubt == ""
    assert texts(point_at(found, 4).flags) and texts(point_at(found, 1).flags) == []


@pytest.mark.parametrize("missing", ["n_blocks_in", "n_major_faults"])
def test_what_was_not_measured_is_not_claimed(tmp_path: Path, missing: str) -> None:
    made = study({0: {"n_blocks_in": 10 * MB, "n_major_faults": 900}})
    for _, found in made:
        found["run"].pop(missing)
    assert len(doubts(findings_of(tmp_path, made, ONE_FACTOR))) == 1
    for _, found in made:
        found["run"].pop("n_major_faults", None)
        found["run"].pop("n_blocks_in", None)
    assert doubts(findings_of(tmp_path, made, ONE_FACTOR)) == []
