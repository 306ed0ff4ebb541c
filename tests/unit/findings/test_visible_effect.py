"""The smallest effect that the runs of a table can show stands beside it."""

import re
from pathlib import Path

import pytest

from scalograph.protocol.findings import Findings
from tests.kit.findings import CONFIGURATIONS, ONE_FACTOR, findings_of
from tests.kit.records import recorded
from tests.kit.studies import VALID

RESPONSES = (
    '\n[responses.wall]\nfrom = "window.wall"\nunit = "s"\n\n[responses.nice]\nfrom = "value.nice"\nbetter = "none"\n'
)


def notes(found: Findings) -> dict[str, str]:
    return {table.id: table.note for table in found.tables}


def study(tmp_path: Path, wishes: str = "") -> Findings:
    """Ten blocks; with `cas` runs differ ten times as much as without a lock."""
    made = []
    for block in range(10):
        for t in CONFIGURATIONS:
            spread = 0.10 if t["lock"] == "cas" else 0.01
            wall = 1 + spread * (block - 4.5) / 4.5
            made.append((t, recorded(wall, cpus=(0, 1), values={"nice": [5.0]})))
    return findings_of(tmp_path, made, VALID + RESPONSES + wishes)


def wish(response: str, where: str = "") -> str:
    return f'\n[[tables]]\ntitle = "T"\nrows = "threads"\nresponse = "{response}"\nwhere = {{ lock = "{where}" }}\n'


def effect(note: str) -> float:
    (found,) = re.findall(r"n = 10 runs: effects on wall between two configurations from ([\d.]+) % are visible", note)
    return float(found)


def test_the_note_says_what_the_study_says(tmp_path: Path) -> None:
    made = [({"threads": n}, recorded((1 + 0.01 * (i % 3)) / n, cpus=(0, 1))) for i in range(10) for n in (1, 2, 4)]
    found = findings_of(tmp_path, made, ONE_FACTOR)
    assert found.noise
    least = f"{found.noise.minimum_detectable_percent:.2g} %"
    told = f"n = 10 runs: effects on wall time between two configurations from {least} are visible"
    assert notes(found)["configurations"].endswith(f"the other factors equal; {told}")


def test_each_table_has_the_effect_of_its_own_runs_once(tmp_path: Path) -> None:
    found = notes(study(tmp_path, wish("wall", "none") + wish("wall", "cas")))
    assert effect(found["declared-1"]) == pytest.approx(10 * effect(found["declared-0"]), rel=0.2)
    found = notes(study(tmp_path, 3 * wish("wall", "none")))
    assert [note.count("are visible") for name, note in found.items() if name.startswith("declared")] == [1, 0, 0]
    assert notes(study(tmp_path, wish("nice", "none")))["declared-0"] == ""


def test_one_configuration_alone_is_not_too_noisy_to_compare(tmp_path: Path) -> None:
    made = [({"threads": 1}, recorded(1 + 0.9 * (i % 3), cpus=(0, 1))) for i in range(6)]
    alone = findings_of(tmp_path, made, ONE_FACTOR)
    assert alone.trust.sentence.startswith("Runs differ by ")
    two = findings_of(tmp_path, [*made, *(({"threads": 2}, one) for _, one in made)], ONE_FACTOR)
    assert two.trust.sentence == "Too noisy to compare." and "too noisy to compare" in " ".join(notes(two).values())
    told = [alone.trust.sentence, *alone.trust.points, *alone.trust.causes, *notes(alone).values()]
    assert "compare" not in " ".join(told)
