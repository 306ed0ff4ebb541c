"""A claim of a paper about two groups of settings, as a user has it decided, on a machine whose times are made up."""

from itertools import product
from pathlib import Path
from typing import Any

import pytest

from tests.kit.command import simulated
from tests.kit.results import complete, findings_in
from tests.kit.studies import a_study, write_study

# Two settings for a factor of swapping, one for a factor of caches: more settings alone look like more of an effect.
LEVELS = {"swap": (0, 1, 2), "write": (0, 1, 2), "cache": (0, 1), "reserve": (0, 1)}
OF = {"swap": "swapping", "write": "swapping", "cache": "caches", "reserve": "caches"}
GROUPS = {"kind": "contrast", "groups": ["swapping", "caches"]}
STUDY = a_study(
    {name: {"levels": list(levels), "group": OF[name]} for name, levels in LEVELS.items()},
    question="tunables", plan="one-at-a-time", seed=5, protocol={"runs": 4, "max_reruns": 0},
    published={"claims": [
        {"id": "P0-1", "sentence": "Settings of swapping matter more than those of caches.", **GROUPS,
         "holds": [1, "any"]},
        {"id": "P0-2", "sentence": "They matter less.", **GROUPS, "holds": ["any", 1]},
        {"id": "P0-3", "sentence": "Writing matters as much as anything.", "kind": "count",
         "quantity": "sensitivity_rank", "where": {"write": 2}, "holds": [1, 9]},
    ]},
    quick={"factors": {"write": [0]}},
)  # fmt: skip


def claims(folder: Path, swapping: float, caches: float, *words: str) -> list[dict[str, Any]]:
    """The decided claims of a study in which each setting of a group makes runs so many times as fast."""
    walls = {
        f"true {a} {b} {c} {d}": 0.1 / (swapping ** ((a > 0) + (b > 0)) * caches ** (c + d))
        for a, b, c, d in product(*LEVELS.values())
    }
    complete("run", write_study(folder, STUDY), *words, "-o", "results", cwd=folder, env=simulated(folder, walls))
    found: dict[str, Any] = findings_in(folder / "results")
    return list(found["published_claims"])


@pytest.mark.parametrize(
    ("swapping", "caches", "decisions"),
    [
        (1.2, 1.02, ["holds", "does not hold"]),
        (1.02, 1.2, ["does not hold", "holds"]),
        (1.0, 1.0, ["not resolved", "not resolved"]),
    ],
)
def test_a_claim_about_groups_is_decided_by_their_contrast(
    tmp_path: Path, swapping: float, caches: float, decisions: list[str]
) -> None:
    found = claims(tmp_path, swapping, caches)
    assert [one["decision"] for one in found] == [*decisions, "holds"]
    assert found[0]["quantity"] == "mean change by the factors of swapping over that by those of caches"


def test_a_form_that_leaves_a_factor_of_a_group_out_does_not_decide(tmp_path: Path) -> None:
    first, _, third = claims(tmp_path, 1.2, 1.02, "--quick")
    assert first["decision"] == third["decision"] == "not measured"
    assert first["why"] == "the quick form leaves out settings of write: run the full form"
    assert third["why"] == "the quick form leaves out write 2: run the full form"
