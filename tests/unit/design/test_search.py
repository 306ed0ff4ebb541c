"""The search for effective CPUs: pure in what it is told, careful with disturbed and failing runs."""

import math
from collections.abc import Callable

import pytest

from scalograph.design.planner import Design
from scalograph.design.resolve import design
from scalograph.design.search import SearchPlanner
from scalograph.design.search_steps import Search, count_levels
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


def planned(text: str = TEXT) -> Design:
    return design(parse(text), HOST)


def planner(text: str = TEXT, rounds: bool = False, most: int = MOST) -> SearchPlanner:
    made = planned(text)
    study, configurations = made.study, count_levels(made.configurations, "threads")
    state = EffectiveCpusState([*configurations], study.seed, rounds)
    levels = {n: (t,) for n, t in configurations.items()}
    search = Search("threads", levels, first_levels([*configurations], study.seed), state, most)
    waits = study.protocol.wait_quiet_s > 0
    return SearchPlanner(search, lambda record: record["score"], max_reruns=study.protocol.max_reruns, waits=waits)


def found(made: SearchPlanner) -> Effective | Bisection:
    assert isinstance(made.state, EffectiveCpusState) and made.state.result is not None
    return made.state.result


def threads(run: Run) -> int:
    return int(str(run.configuration["threads"]))


def conducted(made: SearchPlanner, time: Time, verdict: Callable[[Run], str] = lambda run: "clean") -> list[Finished]:
    """All runs with a little noise that follows from their number, and what was told of them."""
    told: list[Finished] = []
    while run := made.ask():
        judged = verdict(run)
        noise = math.exp(0.01 * math.sin(12.9898 * len(told)))
        told.append((run, {"score": None if judged == "failed" else time(threads(run)) * noise}, judged))
        made.tell(*told[-1])
    return told


def capped(cap: int) -> Time:
    return lambda k: 1 / min(k, cap)


@pytest.mark.parametrize("cap", [1, 2, 5, 11, 12])
def test_it_finds_the_cap(cap: int) -> None:
    made = planner()
    told = conducted(made, capped(cap))
    assert found(made).sure and found(made).k_eff == cap and 8 <= len(told) <= 14
    assert made.n_left == 0


def test_every_run_has_a_name_and_a_replay_asks_the_same() -> None:
    told = conducted(planner(), capped(5))
    assert len({run.run for run, _, _ in told}) == len(told)
    assert len({(threads(run), run.replicate) for run, _, _ in told}) == len(told)
    assert {threads(run) for run, _, _ in told[:5]} == {1, 4, 7, 9, 12}
    again = planner()
    for run, record, verdict in told:
        assert again.ask() == run
        again.tell(run, record, verdict)
    assert again.ask() is None
    other = conducted(planner(TEXT.replace("seed = 0", "seed = 1")), capped(5))
    assert [threads(run) for run, _, _ in other[:5]] != [threads(run) for run, _, _ in told[:5]]


def test_a_replay_decides_the_same_without_asking_and_follows_the_blocks() -> None:
    told = conducted(planner(), capped(3))
    again = planner()
    for finished in told[:-1]:
        again.tell(*finished)
    assert again.ask() == told[-1][0]
    made = planner()
    run = made.ask()
    assert run is not None
    made.tell(Run(run.run, 7, run.configuration, 0), {"score": 1.0}, "clean")
    following = made.ask()
    assert following is not None and following.block == 8


def test_a_disturbed_run_is_asked_for_again_as_often_as_allowed() -> None:
    disturbed = {"e0001", "e0006"}
    made = planner()
    told = conducted(made, lambda k: 1 / min(k, 5), lambda run: "disturbed" if run.run in disturbed else "clean")
    names = [run.run for run, _, _ in told]
    assert names[1:3] == ["e0001", "e0001r1"] and threads(told[1][0]) == threads(told[2][0])
    assert found(made).k_eff == 5 and found(made).n == len(told) - 2
    made = planner(TEXT.replace("runs = 3", "runs = 3\nmax_reruns = 1"))
    bad = {"e0000", "e0000r1"}
    told = conducted(made, capped(5), lambda run: "disturbed" if run.run in bad else "clean")
    assert [run.run for run, _, _ in told[:3]] == ["e0000", "e0000r1", "e0001"]
    assert len({threads(run) for run, _, _ in told[:3]}) == 1


BUSY = "machine busy, not measurable now: 8 of 8 runs were disturbed (wait for quiet: --wait-quiet 10m)"


@pytest.mark.parametrize(("verdict", "reason", "note"), [
    ("disturbed", "busy", BUSY), ("invalid", "invalid", "not measurable: 8 of 8 runs cannot be as recorded"),
])  # fmt: skip
def test_a_busy_machine_or_runs_that_cannot_be_end_it_with_a_note(verdict: str, reason: str, note: str) -> None:
    made, notes = planner(), []
    while run := made.ask():
        notes.append(made.tell(run, {"score": 1.0}, verdict))
    assert (made.stop_reason, len(notes), notes[-1]) == (reason, 8, note)


def test_another_start_judges_the_machine_anew_and_a_replay_of_both_asks_the_same() -> None:
    made, told = planner(), list[Finished]()

    def go_on(verdict: str) -> None:
        while run := made.ask():
            told.append((run, {"score": 1 / min(threads(run), 5)}, verdict))
            made.tell(*told[-1])

    go_on("disturbed")
    assert made.stop_reason and len(told) == 8
    made.resume()
    # Seven more are no reason to give up, and then it is quiet.
    for _ in range(7):
        run = made.ask()
        assert run is not None
        told.append((run, {"score": 1.0}, "disturbed"))
        made.tell(*told[-1])
    again = planner()
    for finished in told[:8]:
        again.tell(*finished)
    again.resume()
    for finished in told[8:]:
        assert again.ask() == finished[0]
        again.tell(*finished)
    assert not made.stop_reason and again.ask() == made.ask()
    go_on("clean")
    assert found(made).k_eff == 5


def test_a_replay_asks_the_same_whether_or_not_it_waits_for_quiet() -> None:
    """The command that goes on may have other options than the one that began."""
    waiting = planner(TEXT.replace("runs = 3", 'runs = 3\nmax_reruns = 1\nwait_quiet = "10m"'))
    told = list[Finished]()
    for _ in range(13):
        run = waiting.ask()
        assert run is not None
        told.append((run, {"score": 1.0}, "disturbed"))
        waiting.tell(*told[-1])
    other = planner(TEXT.replace("runs = 3", "runs = 3\nmax_reruns = 1"))
    for finished in told:
        other.tell(*finished)
    assert other.stop_reason and not waiting.stop_reason
    other.resume()
    assert other.ask() == waiting.ask() and other.ask() is not None


def test_a_level_that_fails_twice_is_left_out() -> None:
    made, notes = planner(), []
    while run := made.ask():
        failing = threads(run) == 12
        record = {"score": None if failing else 1 / min(threads(run), 5)}
        notes.append(made.tell(run, record, "failed" if failing else "clean"))
    assert "level 12 failed 2 times: left out" in notes and found(made).sure and found(made).k_eff == 5


def test_a_program_of_no_model_or_an_undecided_one_is_searched_without_one(monkeypatch: pytest.MonkeyPatch) -> None:
    made, notes = planner(), []
    told = 0
    while run := made.ask():  # falls apart beyond seven
        k, told = threads(run), told + 1
        notes.append(made.tell(run, {"score": (1 / k if k <= 7 else 0.4) * (1 + 0.002 * (told % 5))}, "clean"))
    assert [note for note in notes if note] == [
        "no program with a cap and a serial share takes such times: searched without a model"
    ]
    assert isinstance(found(made), Bisection) and found(made).k_eff == 7 and told <= 30
    monkeypatch.setattr(search_state, "MOST_MODEL", 6)  # before it may decide
    made, notes = planner(), []
    while run := made.ask():
        notes.append(made.tell(run, {"score": 1 / min(threads(run), 3)}, "clean"))
    (note,) = [note for note in notes if note]
    assert note.startswith("not decided after 6 runs: ") and note.endswith("; searched on without a model")
    assert isinstance(found(made), Bisection) and found(made).k_eff == 3


def test_threads_mapped_as_published_and_the_most_runs() -> None:
    # T(1) = T(2) = 1, T(3) = T(4) = 2: the work of each thread is fixed, and they are done two by two.
    made = planner(rounds=True)
    conducted(made, lambda threads: math.ceil(threads / 2))
    assert isinstance(found(made), Effective) and found(made).sure and found(made).k_eff == 2
    rough = planner(most=9)
    told = conducted(rough, lambda k: 1 / min(k, 11), lambda run: "unverified" if run.block else "clean")
    assert len(told) <= 9 < MOST


@pytest.mark.parametrize(("text", "where", "expected"), [
    (TEXT.replace("[baseline]", f"{LOCK}\n[baseline]"), "factors", "one: one program is searched"),
    (TEXT.replace('levels = "1:12"', "levels = [1]"), "factors.threads.levels", "at least two counts from 1 on"),
])  # fmt: skip
def test_refusals(text: str, where: str, expected: str) -> None:
    with pytest.raises(StudyError) as refused:
        planner(text)
    (problem,) = refused.value.problems
    assert (problem.where, problem.expected) == (where, expected)


def test_a_run_of_another_design_is_refused() -> None:
    with pytest.raises(StudyError, match="resume: design"):
        planner().tell(Run("e0000", 0, {"threads": 13}, 0), {"score": 1.0}, "clean")
