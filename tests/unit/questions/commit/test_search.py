"""The search for commits on made-up histories: which versions it measures, what it names, and what it leaves open."""

import random
from collections.abc import Collection, Sequence
from math import log
from pathlib import Path

import pytest

from scalograph.questions.commit.document import commit_name
from scalograph.questions.commit.model import Block, effects
from scalograph.questions.commit.search_state import MOST_PAIRS, START, CommitState
from tests.kit import simulated
from tests.kit.findings import claim_of
from tests.kit.studies import a_study

Steps = Sequence[tuple[int, float]]


def search(n: int, steps: Steps, noise: float = 0.02, broken: Collection[int] = (), most: int = 300) -> CommitState:
    """A finished search over n versions; a step multiplies the times from its version on."""
    state, rng = CommitState([f"v{i}" for i in range(n)]), random.Random(n)

    def measure(level: int, drift: float) -> float:
        return sum(log(factor) for at, factor in steps if level >= at) + rng.gauss(drift, noise)

    for _ in range(most):
        if (level := state.next_level) is None:
            break
        drift = rng.gauss(0, 0.2)
        if level in broken:
            state.observe_failure(level)
            continue
        version = None if level == n - 1 else measure(level, drift)
        state.observe(level, (measure(0, drift), version, measure(n - 1, drift)))
    return state


def named(state: CommitState) -> list[tuple[int, int]]:
    return [(gap.first, gap.last) for gap in state.steps() if not gap.open]


@pytest.mark.parametrize(("n", "at"), [(3, 1), (3, 2), (40, 1), (40, 17), (40, 39), (300, 123)])
def test_one_step_is_placed_whatever_the_machine_does_between_blocks(n: int, at: int) -> None:
    state = search(n, [(at, 1.15)])
    assert state.is_decided and named(state) == [(at - 1, at)]
    measured = {block.level for block in state.blocks}
    assert len(measured) <= n.bit_length() + 3


def test_two_steps_are_placed_the_larger_first() -> None:
    state = search(100, [(20, 1.1), (70, 1.3)])
    assert named(state) == [(69, 70), (19, 20)]


def test_versions_that_fail_widen_the_set_and_are_not_measured_again() -> None:
    state = search(30, [(15, 1.2)], broken=(13, 14, 15))
    assert named(state) == [(12, 16)] and state.failing <= {13, 14, 15}


@pytest.mark.parametrize(("factor", "is_even"), [(1.0, True), (0.8, True)])
def test_no_slowdown_ends_the_search_before_any_version_is_built(factor: float, is_even: bool) -> None:
    state = search(30, [(15, factor)], noise=0.005)
    assert state.is_decided and state.is_even == is_even and not state.is_slower
    assert {block.level for block in state.blocks} == {29} and len(state.blocks) >= START


def test_a_slowdown_within_the_noise_is_left_open_with_the_runs_that_it_needs() -> None:
    state = search(30, [(15, 1.04)], noise=0.3)
    assert not state.is_decided and len(state.blocks) == MOST_PAIRS and state.n_more > 2 * MOST_PAIRS


def test_a_good_or_a_bad_end_that_fails_ends_the_search() -> None:
    state = search(30, [(15, 1.2)], broken=(29,))
    assert state.has_failed and state.next_level is None and not state.is_decided


def test_one_slow_run_does_not_move_an_effect() -> None:
    quiet = [Block(1, 0.0, 0.01 * (i % 3), 0.1) for i in range(8)]
    slow = [*quiet, Block(1, 0.0, 3.0, 0.1)]
    assert effects(slow).between[1].value == pytest.approx(effects(quiet).between[1].value, abs=0.02)


def test_a_study_of_too_few_runs_has_no_answer(tmp_path: Path) -> None:
    text = a_study(
        {"version": ["a", "b", "c"]}, question="commit", responses={"wall": {"from": "window.wall", "unit": "s"}},
        protocol={"budget_runs": 2},
    )  # fmt: skip
    _, found = simulated.run(tmp_path, simulated.Machine(lambda levels: 1.0), text, 2)
    assert not claim_of(found).answered and found.parts["commit"].data is None
    assert claim_of(found).cases[0].case == "no answer"


@pytest.mark.parametrize(("version", "name"), [
    ("0012-use-a-map-3f2c1a9b00", "3f2c1a9 (use a map)"), ("0001-3f2c1a9b00", "3f2c1a9"), ("17.0.2", "17.0.2"),
])  # fmt: skip
def test_a_commit_is_named_by_its_hash_and_subject(version: str, name: str) -> None:
    assert commit_name(version) == name


def test_a_drift_that_cancels_in_pairs_raises_no_doubt_and_a_hash_stays_as_it_is(tmp_path: Path) -> None:
    versions = ["0000-first-aaaaaaaaaa", "0001-second-bbbbbbbbbb", "0002-third-cccccccccc"]
    text = a_study(
        {"version": versions}, question="commit", responses={"wall": {"from": "window.wall", "unit": "s"}},
        protocol={"budget_runs": 200},
    )  # fmt: skip
    machine = simulated.Machine(lambda levels: (1.2 if levels["version"] != versions[0] else 1) * drift())

    def drift() -> float:
        return 1 + 0.1 * (len(machine.made) // 9 % 4)

    _, found = simulated.run(tmp_path, machine, text, 2)
    assert claim_of(found).sentences[0].startswith("bbbbbbb (second) takes 2")
    assert found.trust.level == "reliable" and "drift" not in found.trust.codes[:1]
