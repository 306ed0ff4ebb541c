"""Levels that are slower than both neighbors, and the best ones, of runs whose truth is known."""

from collections.abc import Mapping
from pathlib import Path

import numpy as np
import pytest

from scalograph.analysis.estimate import Estimate
from scalograph.protocol.findings import Findings
from scalograph.questions.scaling.document import LocalSlowdown, Swept, SweptCurve
from scalograph.questions.scaling.tables import neighbor_sentences
from tests.kit.findings import findings_of, part_of, table_of
from tests.kit.records import recorded
from tests.kit.studies import a_study

LEVELS = (1, 2, 8, 32, 128)
# Times over that of one thread; at eight there is a bump.
BUMP, FLAT = {2: 0.55, 8: 0.62, 32: 0.55, 128: 0.54}, {2: 0.55, 8: 0.55, 32: 0.55, 128: 0.55}
CLAIMS = [
    {"id": "S0-12", "sentence": "Eight threads are slower than two and than thirty-two.", "kind": "location",
     "quantity": "slower_than_both", "where": {"threads": 8}, "holds": [1.05, "any"]},
    {"id": "S2-2", "sentence": "More threads gain up to 128.", "kind": "location", "quantity": "best_level",
     "holds": [128, 128]},
]  # fmt: skip
STUDY = a_study({"threads": [*LEVELS], "lock": ["none", "cas"]}, baseline={"threads": 1}, published={"claims": CLAIMS})


def found(folder: Path, of_none: Mapping[int, float], of_cas: Mapping[int, float], noise: float = 0.004) -> Findings:
    rng = np.random.default_rng(3)
    times = {"none": {1: 1.0, **of_none}, "cas": {1: 1.0, **of_cas}}
    made = [
        ({"threads": n, "lock": lock}, recorded(of[n] * float(np.exp(noise * rng.standard_normal())), cpus=(0, 1, 2)))
        for _ in range(5)
        for lock, of in times.items()
        for n in LEVELS
    ]
    return findings_of(folder, made, STUDY)


def levels_of(found: Findings) -> Swept:
    return part_of(found, "scaling", Swept)


def test_a_level_that_is_slower_than_both_neighbors_is_told(tmp_path: Path) -> None:
    said = found(tmp_path, BUMP, FLAT)
    shown = [(curve.group, bump.level) for curve in levels_of(said).curves for bump in curve.bumps if bump.shown]
    assert shown == [({"lock": "none"}, 8)]
    (text,) = [text for text in said.answer if "slower than both" in text]
    assert text.startswith("8 threads are slower than both 2 and 32 threads with lock none: 1")
    assert [claim.decision for claim in said.published_claims] == ["does not hold", "inconclusive"]
    assert [len(claim.figures) for claim in said.published_claims] == [2, 2]


def test_one_in_every_setting_is_one_sentence_and_where_none_is_there_is_none(tmp_path: Path) -> None:
    said = found(tmp_path, BUMP, BUMP)
    (text,) = [text for text in said.answer if "slower than both" in text]
    assert " in 2 of 2 curves, most with lock " in text
    assert said.published_claims[0].decision == "holds"
    bump = levels_of(said).curves[0].bumps[1]
    assert (bump.below, bump.level, bump.above) == (2, 8, 32)
    assert bump.slower.value == pytest.approx(0.62 / 0.55, rel=0.01) and bump.slower.contains(0.62 / 0.55)
    said = found(tmp_path, FLAT, FLAT)
    assert not [text for text in said.answer if "slower than both" in text]
    assert {2, 32, 128} <= {*levels_of(said).curves[0].may_be_best} <= {2, 8, 32, 128}


def test_the_best_level_spans_alike_ones_and_unknown_amounts_have_no_number(tmp_path: Path) -> None:
    falling = {2: 0.9, 8: 0.8, 32: 0.7, 128: 0.6}
    said = found(tmp_path, falling, falling)
    assert [claim.decision for claim in said.published_claims] == ["does not hold", "holds"]
    bump = LocalSlowdown(level=8, below=2, above=32, slower=Estimate(3.0, 1.2, 7.0), shown=True)
    swept = Swept(curves=[SweptCurve(group={"lock": "none"}, factor="threads", bumps=[bump])])
    read = table_of(tmp_path, [({"threads": n, "lock": "none"}, recorded(1.0)) for n in LEVELS], STUDY)
    (text,) = neighbor_sentences(read, swept)
    assert text == "8 threads are slower than both 2 and 32 threads: by how much is inconclusive."
