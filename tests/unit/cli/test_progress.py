"""What a person sees while a study runs: a bar on a terminal, sentences elsewhere."""

from collections.abc import Callable
from io import StringIO

import pytest
from rich.console import Console

from scalograph.analysis.stopping import Stopping
from scalograph.cli import progress
from scalograph.cli.progress import LiveProgress
from scalograph.design.grid import GridPlanner
from scalograph.design.planner import Design, Planner
from scalograph.design.resolve import design
from scalograph.design.sequential import SequentialPlanner
from scalograph.protocol.facts import CpuFact, HostFacts
from scalograph.study.load import parse
from scalograph.verdict.judge import Judgment

from ..study.example import VALID

HOST = HostFacts(cpus=tuple(CpuFact(cpu=n, core=n) for n in range(4)))
ONE_FACTOR = VALID.replace('[factors.lock]\nlevels = ["none", "cas"]\n', "")
CLEAN = Judgment("clean", [])
# Scores by threads and block: 1 and 2 are still, 4 is noisy.
STILL, NOISY = (1.0, 1.001), (1.0, 1.1)

Score = Callable[[int, int], float]


def score(threads: int, block: int) -> float:
    return (NOISY if threads == 4 else STILL)[block % 2]


def still(threads: int, block: int) -> float:
    return STILL[block % 2]


def planned(runs: int) -> Design:
    return design(parse(ONE_FACTOR.replace("runs = 3", f"runs = {runs}")), HOST)


def sequential(made: Design) -> SequentialPlanner:
    return SequentialPlanner(made, Stopping(0.01, made.study.protocol.runs), lambda record: record["score"])


def conduct(
    shown: LiveProgress, planner: Planner, scores: Score = score, judgment: Judgment = CLEAN, most: int = 10**6
) -> int:
    """The loop of `runner.run_study` without a host and a journal; how many runs there were."""
    n = 0
    while n < most and (run := planner.ask()):
        shown.asked(run, planner.n_left)
        record = {"score": scores(int(run.treatment["threads"]), run.block)}
        planner.tell(run, record, judgment.verdict)
        shown.told(run, record, judgment)
        n += 1
    return n


def said(capsys: pytest.CaptureFixture[str]) -> list[str]:
    return capsys.readouterr().err.splitlines()


def plain(made: Design, planner: Planner, n_done: int = 0, budget_s: float | None = None) -> LiveProgress:
    return LiveProgress(made, n_done, budget_s, planner)


@pytest.fixture
def terminal(monkeypatch: pytest.MonkeyPatch) -> StringIO:
    """What a terminal of 200 columns gets."""
    file = StringIO()
    console = Console(file=file, force_terminal=True, width=200, color_system=None)
    monkeypatch.setattr(progress, "err", lambda: console)
    return file


def test_a_grid_says_a_sentence_a_block(capsys: pytest.CaptureFixture[str]) -> None:
    made = planned(3)
    with plain(made, planner := GridPlanner(made)) as shown:
        assert conduct(shown, planner) == 9
    assert said(capsys) == [
        "block 1 of 3 done, run 3 of 9, about 1 s left",
        "block 2 of 3 done, run 6 of 9, about 1 s left",
    ]


def test_a_block_that_takes_long_says_so_in_between(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    now = [0.0]
    monkeypatch.setattr(progress.time, "monotonic", lambda: now[0])

    def takes_20_s(threads: int, block: int) -> float:
        now[0] += 20
        return 1.0

    made = planned(2)
    with plain(made, planner := GridPlanner(made)) as shown:
        conduct(shown, planner, takes_20_s)
    assert said(capsys) == [
        "block 1 of 2, run 2 of 6, about 1 min 20 s left",
        "block 1 of 2 done, run 3 of 6, about 1 min left",
        "block 2 of 2, run 5 of 6, about 20 s left",
    ]


def test_first_runs_that_are_discarded_are_no_block(capsys: pytest.CaptureFixture[str]) -> None:
    text = ONE_FACTOR.replace("runs = 3", "runs = 1\nwarmup_runs = 2")
    made = design(parse(text), HOST)
    with plain(made, planner := GridPlanner(made)) as shown:
        conduct(shown, planner)
    assert said(capsys) == ["warm-up done, run 2 of 5, about 1 s left"]


def test_a_sentence_counts_what_went_wrong(capsys: pytest.CaptureFixture[str]) -> None:
    made = planned(2)
    with plain(made, planner := GridPlanner(made)) as shown:
        conduct(shown, planner, judgment=Judgment("failed", []))
    assert said(capsys) == ["block 1 of 2 done, run 3 of 6, about 1 s left, 3 failed"]


def test_a_repeated_run_counts_as_one_more(capsys: pytest.CaptureFixture[str]) -> None:
    made = planned(2)
    planner = GridPlanner(made)
    with plain(made, planner) as shown:
        conduct(shown, planner, judgment=Judgment("contaminated", []), most=1)
        conduct(shown, planner)
    assert said(capsys) == ["block 1 of 2 done, run 4 of 7, about 1 s left, 1 disturbed"]


def test_a_resumed_study_counts_the_runs_before(capsys: pytest.CaptureFixture[str]) -> None:
    made = planned(3)
    planner = GridPlanner(made)
    for run in [planner.ask() for _ in range(1)]:
        assert run is not None
        planner.tell(run, {}, "clean")
    with plain(made, planner, n_done=1) as shown:
        conduct(shown, planner)
    assert said(capsys)[0].startswith("block 1 of 3 done, run 3 of 9")


def test_no_more_time_is_left_than_the_budget_has(capsys: pytest.CaptureFixture[str]) -> None:
    made = planned(2)
    planner = GridPlanner(made)
    with plain(made, planner, budget_s=0.0) as shown:
        shown._began -= 1000.0  # a thousand seconds ago
        conduct(shown, planner)
    assert said(capsys) == ["block 1 of 2 done, run 3 of 6, about 1 s left"]


def test_a_wish_for_precision_is_told_in_figures(capsys: pytest.CaptureFixture[str]) -> None:
    made = planned(16)
    with plain(made, planner := sequential(made)) as shown:
        conduct(shown, planner)
    lines = said(capsys)
    assert lines[0].endswith("at most 1 s left, no interval yet (asked 1 %), 0 of 3 treatments precise")
    # 4 threads differ by 10 % from run to run: t(0.95, 7) s / sqrt(8) = 4.3 % of half-width.
    assert lines[7].endswith("+-4.3 % (asked 1 %), 0 of 3 treatments precise")
    # The baseline is precise too, and goes on until the others are.
    assert lines[8] == "block 9: precise enough, no further runs of threads=2"
    assert lines[9].endswith("+-3.9 % (asked 1 %), 2 of 3 treatments precise")
    assert len(lines) == 16


def test_an_interval_without_bounds_is_no_percentage(capsys: pytest.CaptureFixture[str]) -> None:
    made = planned(16)
    with plain(made, planner := sequential(made)) as shown:
        conduct(shown, planner, lambda threads, block: float(1 + 9 * block))
    assert "beyond +-100 % (asked 1 %)" in said(capsys)[1]


def test_a_note_is_said_beside_the_blocks(capsys: pytest.CaptureFixture[str], terminal: StringIO) -> None:
    made = planned(3)
    with plain(made, GridPlanner(made)) as shown:
        shown.noted("machine busy: \x1b[31m[red]")
    assert "machine busy: \N{REPLACEMENT CHARACTER}[31m[red]\n" in terminal.getvalue()
    assert said(capsys) == []


def test_all_treatments_that_become_precise_at_once_are_named(capsys: pytest.CaptureFixture[str]) -> None:
    text = ONE_FACTOR.replace("runs = 3", "runs = 16").replace('"1,2,4"', '"1,2,3,4,5,6"')
    made = design(parse(text), HOST)
    with plain(made, planner := sequential(made)) as shown:
        conduct(shown, planner, still)
    named = "threads=1, threads=2, threads=3 and 3 more"
    assert said(capsys)[-1] == f"block 9: precise enough, no further runs of {named}"
    assert progress._near(planner.reached, " treatments") == "all 6 treatments precise (asked 1 %)"


def test_what_an_earlier_start_has_forgone_is_not_said_again(capsys: pytest.CaptureFixture[str]) -> None:
    made = planned(16)
    planner = sequential(made)
    before = conduct(plain(made, GridPlanner(made)), planner, most=27)
    assert len(planner.reached.forgone) == 1
    said(capsys)
    with plain(made, planner, n_done=before) as shown:
        conduct(shown, planner)
    assert not [line for line in said(capsys) if "no further runs" in line]


def test_a_bar_shows_the_run_and_what_is_left(terminal: StringIO, capsys: pytest.CaptureFixture[str]) -> None:
    made = planned(3)
    with plain(made, planner := GridPlanner(made)) as shown:
        conduct(shown, planner, most=5)
    seen = terminal.getvalue()
    assert "block 2/3" in seen
    assert "56%" in seen  # 5 of 9 runs
    assert "about 1 s left" in seen
    assert said(capsys) == []


def test_a_bar_shows_how_near_the_precision_is(terminal: StringIO) -> None:
    made = planned(16)
    with plain(made, planner := sequential(made)) as shown:
        conduct(shown, planner, most=30)
    seen = terminal.getvalue()
    assert "+-3.6 % (asked 1 %), 2 of 3 precise" in seen
    assert "block 9: precise enough, no further runs of threads=2\n" in seen.replace("\r", "")


def test_a_bar_shows_levels_as_text(terminal: StringIO) -> None:
    text = ONE_FACTOR.replace('"1,2,4"', '["[red]a", "b\\u001bc"]').replace("[baseline]\nthreads = 1\n", "")
    made = design(parse(text), HOST)
    planner = GridPlanner(made)
    with plain(made, planner) as shown:
        for _ in made.treatments:
            run = planner.ask()
            assert run is not None
            shown.asked(run, planner.n_left)
            shown._bar.refresh() if shown._bar else None
            planner.tell(run, {}, "clean")
    assert "threads=[red]a" in terminal.getvalue()
    assert "threads=b\N{REPLACEMENT CHARACTER}c" in terminal.getvalue()
