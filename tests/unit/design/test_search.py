"""Searches are pure in what they are told; what is known well enough is asked for no more."""

import math
from collections import Counter
from collections.abc import Callable
from typing import Self

import numpy as np
import pytest

from scalograph.analysis.stopping import Stopping
from scalograph.design.planner import Design
from scalograph.design.resolve import design
from scalograph.design.search import SearchPlanner
from scalograph.design.search_steps import Search, count_levels
from scalograph.design.sequential import SequentialPlanner
from scalograph.errors import StudyError
from scalograph.questions.effective_cpus import search_state
from scalograph.questions.effective_cpus.model import Effective
from scalograph.questions.effective_cpus.model_search import Bisection
from scalograph.questions.effective_cpus.search_state import MOST, EffectiveCpusState, first_levels
from scalograph.study.levels import Run
from scalograph.study.load import parse
from tests.kit.studies import VALID, facts_of

HOST = facts_of(12)
LOCK = '[factors.lock]\nlevels = ["none", "cas"]\n'
TEXT = VALID.replace(LOCK, "").replace('levels = "1,2,4"', 'levels = "1:12"')
Time = Callable[[int], float]
Finished = tuple[Run, dict[str, float | None], str]
BUSY = "Machine too busy: 8 of 8 runs were disturbed (to wait: --wait-quiet 10m)"


class Searched:
    """A search on a machine on which the number of threads decides the time: what it was told, and its notes."""

    def __init__(self, text: str = TEXT, rounds: bool = False, most: int = MOST) -> None:
        made = design(parse(text), HOST)
        study, configurations = made.study, count_levels(made.configurations, "threads")
        self.state = EffectiveCpusState([*configurations], study.seed, rounds)
        levels = {n: (t,) for n, t in configurations.items()}
        search = Search("threads", levels, first_levels([*configurations], study.seed), self.state, most)
        reruns, waits = study.protocol.max_reruns, study.protocol.wait_quiet_s > 0
        self.planner = SearchPlanner(search, lambda record: record["score"], max_reruns=reruns, waits=waits)
        self.told, self.notes = list[Finished](), list[str]()

    def tell(self, run: Run, record: dict[str, float | None], verdict: str) -> None:
        self.told.append((run, record, verdict))
        self.notes.append(self.planner.tell(run, record, verdict))

    def go_on(self, time: Time, verdict: Callable[[Run], str] = lambda run: "clean", n_runs: int = 1000) -> Self:
        """Carry out what it asks for, with a little noise that follows from the number of a run."""
        for _ in range(n_runs):
            if (run := self.planner.ask()) is None:
                break
            judged = verdict(run)
            noise = math.exp(0.01 * math.sin(12.9898 * len(self.told)))
            self.tell(run, {"score": None if judged == "failed" else time(threads(run)) * noise}, judged)
        return self

    def replay(self, told: list[Finished], asks: bool = False) -> Self:
        """Tell it what another one was told; where it is asked before, it has to ask for the same."""
        for finished in told:
            assert not asks or self.planner.ask() == finished[0]
            self.tell(*finished)
        return self

    @property
    def result(self) -> Effective | Bisection:
        assert self.state.result is not None
        return self.state.result

    @property
    def asked(self) -> list[int]:
        return [threads(run) for run, _, _ in self.told]


def threads(run: Run) -> int:
    return int(str(run.configuration["threads"]))


def capped(cap: int) -> Time:
    return lambda k: 1 / min(k, cap)


def disturbed(*names: str) -> Callable[[Run], str]:
    """Tell of the runs of these names that they were disturbed; without names, of all."""
    return lambda run: "disturbed" if run.run in names or not names else "clean"


@pytest.mark.parametrize("cap", [1, 2, 5, 11, 12])
def test_it_finds_the_cap(cap: int) -> None:
    made = Searched().go_on(capped(cap))
    assert made.result.sure and made.result.k_eff == cap and 8 <= len(made.told) <= 14
    assert made.planner.n_left == 0


def test_every_run_has_a_name_and_a_replay_asks_the_same() -> None:
    made = Searched().go_on(capped(5))
    assert len({run.run for run, _, _ in made.told}) == len(made.told)
    assert len({(threads(run), run.replicate) for run, _, _ in made.told}) == len(made.told)
    assert {*made.asked[:5]} == {1, 4, 7, 9, 12} and Searched().replay(made.told, asks=True).planner.ask() is None
    assert Searched(TEXT.replace("seed = 0", "seed = 1")).go_on(capped(5)).asked[:5] != made.asked[:5]


def test_a_replay_decides_the_same_without_asking_and_follows_the_blocks() -> None:
    told = Searched().go_on(capped(3)).told
    assert Searched().replay(told[:-1]).planner.ask() == told[-1][0]
    made = Searched().planner
    run = made.ask()
    assert run is not None
    made.tell(Run(run.run, 7, run.configuration, 0), {"score": 1.0}, "clean")
    following = made.ask()
    assert following is not None and following.block == 8


def test_a_disturbed_run_is_asked_for_again_as_often_as_allowed() -> None:
    made = Searched().go_on(capped(5), disturbed("e0001", "e0006"))
    assert [run.run for run, _, _ in made.told[1:3]] == ["e0001", "e0001r1"] and made.asked[1] == made.asked[2]
    assert made.result.k_eff == 5 and made.result.n == len(made.told) - 2
    made = Searched(TEXT.replace("runs = 3", "runs = 3\nmax_reruns = 1")).go_on(
        capped(5), disturbed("e0000", "e0000r1")
    )
    assert [run.run for run, _, _ in made.told[:3]] == ["e0000", "e0000r1", "e0001"] and len({*made.asked[:3]}) == 1


@pytest.mark.parametrize(("verdict", "reason", "note"), [
    ("disturbed", "busy", BUSY), ("invalid", "invalid", "Not measurable: 8 of 8 runs have impossible values"),
])  # fmt: skip
def test_a_busy_machine_or_runs_that_cannot_be_end_it_with_a_note(verdict: str, reason: str, note: str) -> None:
    made = Searched().go_on(lambda k: 1.0, lambda run: verdict)
    assert (made.planner.stop_reason, len(made.notes), made.notes[-1]) == (reason, 8, note)


def test_another_start_judges_the_machine_anew_and_a_replay_of_both_asks_the_same() -> None:
    made = Searched().go_on(capped(5), disturbed())
    assert made.planner.stop_reason and len(made.told) == 8
    made.planner.resume()
    # Seven more are no reason to give up, and then it is quiet.
    assert len(made.go_on(capped(5), disturbed(), n_runs=7).told) == 15
    again = Searched().replay(made.told[:8])
    again.planner.resume()
    again.replay(made.told[8:], asks=True)
    assert not made.planner.stop_reason and again.planner.ask() == made.planner.ask()
    assert made.go_on(capped(5)).result.k_eff == 5


def test_a_replay_asks_the_same_whether_or_not_it_waits_for_quiet() -> None:
    """The command that goes on may have other options than the one that began."""
    waiting = Searched(TEXT.replace("runs = 3", 'runs = 3\nmax_reruns = 1\nwait_quiet = "10m"'))
    assert len(waiting.go_on(lambda k: 1.0, disturbed(), n_runs=13).told) == 13
    other = Searched(TEXT.replace("runs = 3", "runs = 3\nmax_reruns = 1")).replay(waiting.told)
    assert other.planner.stop_reason and not waiting.planner.stop_reason
    other.planner.resume()
    assert other.planner.ask() == waiting.planner.ask() is not None


def test_a_level_that_fails_twice_is_left_out_and_another_design_refused() -> None:
    made = Searched().go_on(capped(5), lambda run: "failed" if threads(run) == 12 else "clean")
    assert "level 12 failed 2 times: excluded" in made.notes and made.result.sure and made.result.k_eff == 5
    with pytest.raises(StudyError, match="resume: design"):
        Searched().planner.tell(Run("e0000", 0, {"threads": 13}, 0), {"score": 1.0}, "clean")


def test_a_program_of_no_model_or_an_undecided_one_is_searched_without_one(monkeypatch: pytest.MonkeyPatch) -> None:
    made = Searched().go_on(lambda k: 1 / k if k <= 7 else 0.4)  # falls apart beyond seven
    said = "no program with a cap and a serial share takes such times: searched without a model"
    assert [note for note in made.notes if note] == [said] and len(made.told) <= 30
    assert isinstance(made.result, Bisection) and made.result.k_eff == 7
    monkeypatch.setattr(search_state, "MOST_MODEL", 6)  # before it may decide
    made = Searched().go_on(capped(3))
    (note,) = [note for note in made.notes if note]
    assert note.startswith("not decided after 6 runs: ") and note.endswith("; searched on without a model")
    assert isinstance(made.result, Bisection) and made.result.k_eff == 3


def test_threads_mapped_as_published_and_the_most_runs() -> None:
    # T(1) = T(2) = 1, T(3) = T(4) = 2: the work of each thread is fixed, and they are done two by two.
    made = Searched(rounds=True).go_on(lambda threads: math.ceil(threads / 2))
    assert isinstance(made.result, Effective) and made.result.sure and made.result.k_eff == 2
    rough = Searched(most=9).go_on(capped(11), lambda run: "unverified" if run.block else "clean")
    assert len(rough.told) <= 9 < MOST


@pytest.mark.parametrize(("text", "where", "expected"), [
    (TEXT.replace("[baseline]", f"{LOCK}\n[baseline]"), "factors", "one: one program is searched"),
    (TEXT.replace('levels = "1:12"', "levels = [1]"), "factors.threads.levels", "at least two counts from 1 on"),
])  # fmt: skip
def test_refusals(text: str, where: str, expected: str) -> None:
    with pytest.raises(StudyError) as refused:
        Searched(text)
    (problem,) = refused.value.problems
    assert (problem.where, problem.expected) == (where, expected)


FOUR_CPUS = facts_of(4)
SEQUENTIAL = VALID.replace("runs = 3", "runs = 40").replace('[factors.lock]\nlevels = ["none", "cas"]\n', "")
VERSIONS = SEQUENTIAL.replace("[baseline]\nthreads = 1", "[reference]\nthreads = 1")


def planned(text: str = SEQUENTIAL) -> Design:
    return design(parse(text), FOUR_CPUS)


def counts(noise: dict[int, float], verdict: str = "clean", text: str = SEQUENTIAL) -> Counter[int]:
    """Runs by threads, where each configuration has a noise of its own."""
    rng, made = np.random.default_rng(3), Counter[int]()
    planner = SequentialPlanner(planned(text), Stopping(0.01, 16), lambda record: record["score"])
    while run := planner.ask():
        n = int(run.configuration["threads"])
        made[n] += 1
        planner.tell(run, {"score": float(np.exp(noise[n] * rng.standard_normal()))}, verdict)
    return made


def test_still_configurations_stop_early_and_the_baseline_goes_on_with_the_last() -> None:
    made = counts({1: 0.001, 2: 0.001, 4: 0.2})
    assert made[2] == 9 and made[4] == 40
    one_a_block = counts({1: 0.001, 2: 0.001, 4: 0.2})[1]
    assert one_a_block == 40 and counts({1: 0.001, 2: 0.001, 4: 0.001})[1] < 20
    assert counts({1: 0.001, 2: 0.001, 4: 0.001}, "disturbed") == {1: 40, 2: 40, 4: 40}


def test_a_replay_decides_the_same() -> None:
    rng = np.random.default_rng(5)
    told = []
    first = SequentialPlanner(planned(), Stopping(0.02, 16), lambda record: record["score"])
    while run := first.ask():
        told.append((run, {"score": float(np.exp(0.03 * rng.standard_normal()))}))
        first.tell(*told[-1], "clean")
    again = SequentialPlanner(planned(), Stopping(0.02, 16), lambda record: record["score"])
    for run, record in told:
        assert again.ask() == run
        again.tell(run, record, "clean")
    assert again.ask() is None and len(told) < 120


def test_versions_end_by_their_ratios_over_the_reference() -> None:
    """Blocks differ by half, so that no version is known well by itself."""
    made, rng, blocks = Counter[int](), np.random.default_rng(7), np.random.default_rng(8)
    planner = SequentialPlanner(planned(VERSIONS), Stopping(0.01, 16), lambda record: record["score"])
    slow, noise = {b: float(np.exp(0.3 * blocks.standard_normal())) for b in range(60)}, {1: 0.001, 2: 0.001, 4: 0.1}
    while run := planner.ask():
        n = int(run.configuration["threads"])
        made[n] += 1
        planner.tell(run, {"score": slow[run.block] * float(np.exp(noise[n] * rng.standard_normal()))}, "clean")
    assert made[2] == 9 and made[4] == made[1] == 40 + 16 // 2
