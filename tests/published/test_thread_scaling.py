"""The 74 published rows of the thread scaling study: their factors are recomputed from their times."""

import csv
from collections import Counter, defaultdict

import pytest

from scalograph.design.resolve import design
from scalograph.findings.published.published_quantities import parse_level, why_unlike
from scalograph.protocol.facts import CpuFact, HostFacts
from scalograph.study.levels import Configuration
from scalograph.study.load import load, quick_form
from scalograph.study.model import Study
from scalograph.study.shipped import shipped_study

Row = dict[str, str]
TWO_CPUS = HostFacts(cpus=(CpuFact(cpu=0, core=0), CpuFact(cpu=1, core=1)))

# Printed with two decimals; the times have so many that their own last digit does not matter.
HALF_A_DIGIT = 0.005 + 1e-4


def rows() -> list[Row]:
    with (shipped_study("thread-scaling") / "published.csv").open(newline="") as stream:
        return list(csv.DictReader(stream))


def baselines() -> dict[str, float]:
    return {row["table"]: float(row["wall_s"]) for row in rows() if row["threads"] == "1"}


def recomputed(row: Row) -> float:
    return baselines()[row["table"]] / float(row["wall_s"])


def test_all_rows_are_there() -> None:
    assert len(rows()) == 74
    counts = Counter(row["table"] for row in rows())
    assert counts == {"15": 8} | {str(table): 6 for table in (7, 8, 9, 10, 11, 12, 13, 14, 16, 17, 18)}


def test_one_table_is_one_system_one_cpu_count_and_one_lock() -> None:
    held = defaultdict(set)
    for row in rows():
        held[row["table"]].add((row["os"], row["cpus"], row["sync"]))
    assert all(len(of_table) == 1 for of_table in held.values())
    assert len(baselines()) == 12


@pytest.mark.parametrize("row", rows(), ids=lambda row: f"table {row['table']}, {row['threads']} threads")
def test_scaling_factor_follows_from_the_times(row: Row) -> None:
    # Not one of the 74 has to be excepted.
    assert recomputed(row) == pytest.approx(float(row["scaling_factor"]), abs=HALF_A_DIGIT)


def test_factors_above_the_cpus_are_known_by_name() -> None:
    """Two CPUs cannot give more than two: all of these stand on a baseline that was slow itself."""
    above = {(row["table"], row["threads"]) for row in rows() if recomputed(row) > int(row["cpus"]) * 1.02}
    assert above == {(table, n) for table in ("8", "12", "13", "14") for n in ("2", "8", "32", "128", "512")}


def test_over_one_thread_on_one_cpu_no_factor_is_above_two() -> None:
    fair = {row["sync"]: float(row["wall_s"]) for row in rows() if row["cpus"] == "1" and row["threads"] == "1"}
    windows = [row for row in rows() if row["os"] == "Windows XP" and row["cpus"] == "2"]
    factors = [fair[row["sync"]] / float(row["wall_s"]) for row in windows]
    assert len(factors) == 24
    assert max(factors) < 2.03


def test_one_thread_was_slower_on_two_cpus_than_on_one() -> None:
    alone = [row for row in rows() if row["threads"] == "1" and row["os"] == "Windows XP"]
    one = {(row["cpus"], row["sync"]): float(row["wall_s"]) for row in alone}
    assert all(one["2", lock] > 1.3 * one["1", lock] for lock in ("none", "method", "object", "cas"))


def test_the_one_lock_that_collapsed_did_so_on_one_cpu() -> None:
    halved = {(row["table"], row["threads"]) for row in rows() if recomputed(row) < 0.6}
    assert halved == {("9", n) for n in ("8", "32", "128", "512")}


def test_cpu_time_fits_between_nothing_and_all_cpus() -> None:
    # Printed in whole seconds, so half a second of play; Mac OS X printed up to 0.7 s more than one CPU has.
    late = [row for row in rows() if float(row["cpu_s"]) > int(row["cpus"]) * float(row["wall_s"]) + 1.5]
    assert late == []


def study() -> Study:
    return load(shipped_study("thread-scaling") / "study.toml")


def planned(asked: Study) -> list[Configuration]:
    return list(design(asked, TWO_CPUS).configurations)


def test_every_published_row_stands_beside_the_configuration_that_is_like_it() -> None:
    published = study().published
    assert published is not None
    for row in rows():
        wanted = {factor: parse_level(published, column, row[column]) for column, factor in published.match.items()}
        like = [t for t in planned(study()) if wanted.items() <= t.items()]
        # The first of them is the one that is shown: taken seldom, held for an addition, platform threads.
        assert {"quantum": 400, "held": 0, "kind": "platform"}.items() <= like[0].items(), row


def test_ten_blocks_stay_below_half_an_hour_on_two_cpus() -> None:
    # A configuration takes 0.8 s a run with its baselines; one of 512 threads under a collapsing lock took 5 s.
    assert len(planned(study())) <= 145
    assert not any(t["quantum"] == 2 and t["threads"] > 8 for t in planned(study()))


@pytest.mark.parametrize("asked", [study(), quick_form(study())], ids=["in full", "quick"])
def test_how_often_a_lock_is_taken_and_how_long_it_is_held_are_varied_one_at_a_time(asked: Study) -> None:
    on_two = [t for t in planned(asked) if t["cpus"] == 2 and t["kind"] == "platform" and t["threads"] in (1, 2, 8)]
    seen = {(t["lock"], t["quantum"], t["held"]) for t in on_two}
    assert {("cas", 400, 0), ("cas", 2, 0), ("object", 400, 0), ("object", 400, 200)} <= seen
    # More would be held than there is; what is not held cannot be held longer, and what is held wholly neither.
    assert not any(held and (quantum == 2 or lock not in ("object", "reentrant")) for lock, quantum, held in seen)


def test_a_coarse_lock_is_asked_where_more_cpus_could_help() -> None:
    coarse = [t for t in planned(study()) if t["lock"] == "coarse"]
    assert {(t["threads"], t["cpus"], t["quantum"]) for t in coarse} == {(n, 2, 400) for n in (1, 2, 8)}


def test_rows_in_which_creating_threads_counts_are_not_compared() -> None:
    short, long = study().published, load(shipped_study("thread-scaling-paper") / "study.toml").published
    assert short is not None and long is not None
    assert {row["threads"] for row in rows() if why_unlike(short, row)} == {"32", "128", "220", "250", "512"}
    assert not any(why_unlike(long, row) for row in rows())
