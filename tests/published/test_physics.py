"""Published tables and claims: gates object where figures cannot be; the same words are read alike in each study."""

import csv
import re
from collections import defaultdict
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from scalograph.analysis.estimate import Estimate
from scalograph.analysis.physics import ObservedLevel, cpu_time_across, physics_flags
from scalograph.findings.published.published_quantities import list_objections, read_rows
from scalograph.study.declare import declare
from scalograph.study.load import load
from scalograph.study.model import Published
from scalograph.study.published_claim import PublishedClaim
from scalograph.study.shipped import shipped_catalogue, shipped_study
from tests.published.claims import printed_rows

LOOP = Path(__file__).parent / "process-loop-1cpu.csv"
# One loop alone, measured for itself and printed with two decimals.
ONE_LOOP_S = Estimate(4.02, 4.015, 4.025, 0.95, 1, "printed")


def printed(text: str, digit: float) -> Estimate:
    """A printed figure, and half of its last digit to either side."""
    value = float(text)
    return Estimate(value, value - digit / 2, value + digit / 2, 0.95, 1, "printed")


def tables() -> dict[str, list[ObservedLevel]]:
    found = defaultdict(list)
    for row in printed_rows("thread-scaling"):
        times = printed(row["wall_s"], 0.0001), printed(row["cpu_s"], 1)
        level = ObservedLevel(int(row["threads"]), int(row["cpus"]), *times, printed(row["scaling_factor"], 0.01))
        found[row["table"]].append(level)
    return dict(found)


def objections(study: str, published: Published | None = None) -> tuple[list[str], list[Any]]:
    """What the report says beside each published row, and the rows."""
    declared = declare(shipped_study(study)).study
    assert declared.published is not None
    published = published or declared.published
    names, rows = read_rows(published, shipped_study(study) / "published.csv")
    others = [name for name in names if name not in declared.published.values]
    return list_objections(declared, published, others if published is declared.published else names, rows), rows


def test_objects_to_tables_8_and_12_to_14_of_thread_scaling_and_to_no_other() -> None:
    objected = {name: physics_flags(curve, 1, "total") for name, curve in tables().items()}
    assert {name for name, found in objected.items() if found} == {"8", "12", "13", "14"}
    for name in ("8", "12", "13", "14"):
        fast = [o.n for o in objected[name] if o.gate == "speedup above the CPUs"]
        assert fast == [2, 8, 32, 128, 512]
    one = {name: curve[0] for name, curve in tables().items()}
    pairs = (("7", "8"), ("9", "12"), ("10", "13"), ("11", "14"))  # one CPU, two CPUs: the same lock
    for fewer, more in pairs:
        baselines = {one[name].n_cpus: one[name].cpu for name in (fewer, more)}
        found = cpu_time_across({n: cpu for n, cpu in baselines.items() if cpu})
        assert list(found) == [2]


def loop() -> Iterator[ObservedLevel]:
    with LOOP.open(newline="") as stream:
        for row in csv.DictReader(stream):
            n, wall = int(row["processes"]), float(row["wall_s"])
            # Whole seconds, perhaps cut off: the true time may be up to a second longer.
            whole = Estimate(wall, wall - 1, wall + 1, 0.95, 1, "printed")
            yield ObservedLevel(n, 1, whole) if n > 1 else ObservedLevel(1, 1, ONE_LOOP_S, ONE_LOOP_S)


def test_objects_to_five_rows_of_the_process_loop_and_to_no_other() -> None:
    found = physics_flags(list(loop()), 1, "per-worker")
    assert [o.n for o in found] == [10, 18, 21, 23, 24]
    assert {o.gate for o in found} == {"time below the CPU time"}
    with LOOP.open(newline="") as stream:
        printed = {row["processes"]: row["wall_s"] for row in csv.DictReader(stream)}
    ours = {row["processes"]: row for row in printed_rows("cpu-surface")}
    assert {n: row["wall_s"] for n, row in ours.items()} == {**printed, "1": "4.02"}
    assert {row["cpus"] for row in ours.values()} == {"1"}
    for n, row in ours.items():
        assert row["scaling_factor"] == f"{int(n) * 4.02 / float(row['wall_s']):.1f}"
    texts, rows = objections("cpu-surface")
    found = {int(row["processes"] or 0): text for row, text in zip(rows, texts, strict=True) if text}
    too_fast = {10: "speedup above the CPUs"}  # of which more need not be said
    assert found == {n: too_fast.get(n, "time below the CPU time") for n in (10, 18, 21, 23, 24)}


def test_the_report_objects_beside_the_published_rows_where_they_tell_their_cpus() -> None:
    published = declare(shipped_study("thread-scaling")).study.published
    assert published is not None
    texts, rows = objections("thread-scaling")
    assert {row["table"] for row, text in zip(rows, texts, strict=True) if text} == {"8", "12", "13", "14"}
    assert texts.count("speedup above the CPUs") == 20
    blind = published.model_copy(update={"match": {"threads": "threads", "sync": "lock"}})
    assert {*objections("thread-scaling", blind)[0]} == {""}


# Words of a sentence -> the range of a ratio of times, or of speeds, that bears it out.
READINGS: dict[str, tuple[float | None, float | None]] = {
    r"take the same time|take as long as|takes as long as counting|in proportion": (0.95, 1.05),
    r"takes? twice as long|doubles": (1.7, 2.3),
    r"nearly twice": (1.5, 2.1),
    r"halves": (0.43, 0.59),
    r"(is|are|task) slower|rises from 2 to|system time grows": (1.05, None),
}


@cache
def claims() -> tuple[PublishedClaim, ...]:
    """Those of all studies that ship, each once."""
    found = {}
    for file in sorted(shipped_catalogue().parent.glob("*/study.toml")):
        published = load(file).published
        found |= {claim.id: claim for claim in (published.claims if published else ())}
    return (*found.values(),)


@pytest.mark.parametrize("words", READINGS)
def test_like_sentences_have_like_ranges(words: str) -> None:
    like = [claim for claim in claims() if re.search(words, claim.sentence) and "printed errors" not in claim.sentence]
    assert like and {claim.id: claim.bounds for claim in like} == {claim.id: READINGS[words] for claim in like}


def test_each_sentence_stands_alone_and_its_range_holds_what_was_printed() -> None:
    leaning = re.compile(r"^(It|They|There)\b|\b(with it|do so too)\b")
    assert [claim.id for claim in claims() if leaning.search(claim.sentence)] == []
    assert [claim.id for claim in claims() if not claim.place] == []
    for claim in claims():
        printed = claim.published if isinstance(claim.published, list) else [claim.published]
        low, high = claim.bounds if not claim.unlike else (None, None)
        for value in (one for one in printed if one is not None):
            assert low is None or value * (1 + 0.001) >= low, claim.id
            assert high is None or value * (1 - 0.001) <= high, claim.id
