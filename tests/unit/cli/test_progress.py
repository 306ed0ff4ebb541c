"""What a person sees while a study runs: one live line on a terminal, a few lines elsewhere."""

from collections.abc import Callable
from io import StringIO

import pytest
from rich.console import Console

from scalograph.analysis.stopping import Stopping
from scalograph.cli import pipeline
from scalograph.cli.pipeline import LiveProgress, left_text
from scalograph.design.grid import GridPlanner
from scalograph.design.planner import Design, Planner
from scalograph.design.resolve import design
from scalograph.design.sequential import SequentialPlanner
from scalograph.study.load import parse
from scalograph.verdict.judge import Judgment
from tests.kit.studies import VALID, facts_of

HOST = facts_of(4)
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
        shown.run_started(run, planner.n_left)
        record = {"score": scores(int(run.configuration["threads"]), run.block)}
        planner.tell(run, record, judgment.verdict)
        shown.run_finished(run, record, judgment)
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
    monkeypatch.setattr(pipeline, "err", lambda: console)
    return file


def slow(monkeypatch: pytest.MonkeyPatch, seconds: float, scores: Score = score) -> Score:
    """Scores of runs that take so long."""
    now = [0.0]
    monkeypatch.setattr(pipeline.time, "monotonic", lambda: now[0])

    def takes(threads: int, block: int) -> float:
        now[0] += seconds
        return scores(threads, block)

    return takes


def test_a_study_of_seconds_needs_no_line(capsys: pytest.CaptureFixture[str]) -> None:
    made = planned(3)
    with plain(made, planner := GridPlanner(made)) as shown:
        assert conduct(shown, planner) == 9
    assert said(capsys) == []


def test_a_line_every_half_minute(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    takes = slow(monkeypatch, 20)
    made = planned(2)
    with plain(made, planner := GridPlanner(made)) as shown:
        conduct(shown, planner, takes)
    assert said(capsys) == ["run 2 of 6, about 1 min 20 s left", "run 4 of 6, about 40 s left", "run 6 of 6"]


def test_a_line_counts_what_went_wrong(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    takes = slow(monkeypatch, 30)
    made = planned(2)
    planner = GridPlanner(made)
    with plain(made, planner) as shown:
        conduct(shown, planner, takes, Judgment("disturbed", []), most=1)
        conduct(shown, planner, takes, Judgment("failed", []), most=2)
    assert said(capsys)[-1] == "run 3 of 6, about 1 min 30 s left, 1 disturbed, 2 failed"


def test_a_resumed_study_counts_the_runs_before(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    takes = slow(monkeypatch, 30)
    made = planned(3)
    planner = GridPlanner(made)
    run = planner.ask()
    assert run is not None
    planner.tell(run, {}, "clean")
    with plain(made, planner, n_done=1) as shown:
        conduct(shown, planner, takes)
    assert said(capsys)[0] == "run 2 of 9, about 3 min 30 s left"


@pytest.mark.parametrize("budget_s", [70.0, None])
def test_past_its_time_a_study_says_how_far(monkeypatch: pytest.MonkeyPatch, budget_s: float | None) -> None:
    takes = slow(monkeypatch, 30)
    made = planned(1)
    shown = plain(made, planner := GridPlanner(made), budget_s=budget_s)
    conduct(shown, planner, takes, most=2)
    takes(1, 0)
    assert shown._line() == f"run 2 of 3, {'over the budget by 20 s' if budget_s else 'about 1 s left'}"
    takes(1, 0)
    assert shown._line() == f"run 2 of 3, {'over the budget by 50 s' if budget_s else 'over by 30 s'}"


def test_nothing_is_known_before_the_first_run() -> None:
    made = planned(1)
    assert plain(made, GridPlanner(made))._line() == "run 0 of 3"
    assert left_text(None, 60.0) == "at most 1 min left"


def test_a_wish_for_precision_is_told_in_figures(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    takes = slow(monkeypatch, 30)
    made = planned(16)
    with plain(made, planner := sequential(made)) as shown:
        conduct(shown, planner, takes)
    lines = said(capsys)
    assert lines[2].endswith("no interval yet (asked 1 %), 0 of 3 precise")
    # 4 threads differ by 10 % from run to run: t(0.95, 7) s / sqrt(8) = 4.3 % of half-width.
    assert lines[23].endswith("+-4.3 % (asked 1 %), 0 of 3 precise")
    # The baseline is precise too, and goes on until the others are.
    assert "block 9: precise enough, no further runs of threads=2" in lines
    assert "+-3.9 % (asked 1 %), 2 of 3 precise" in "".join(lines)


def test_an_interval_without_bounds_is_no_percentage() -> None:
    made = planned(16)
    conduct(shown := plain(made, planner := sequential(made)), planner, lambda n, block: float(1 + 9 * block), most=6)
    assert "beyond +-100 % (asked 1 %)" in shown._line()


def test_what_is_noted_again_and_again_is_said_once_and_counted(
    capsys: pytest.CaptureFixture[str], terminal: StringIO
) -> None:
    made = planned(3)
    with plain(made, GridPlanner(made)) as shown:
        for block in range(1, 9):
            shown.run_warned(f"block {block} began on a busy machine: \x1b[31m[red]", "busy")
        shown.run_warned("other")
        assert shown._line() == "run 0 of 9, busy again: 7 times"
    seen = terminal.getvalue()
    assert "block 1 began on a busy machine: \N{REPLACEMENT CHARACTER}[31m[red]\n" in seen
    assert "block 2" not in seen and "other\n" in seen
    assert said(capsys) == []


def test_all_configurations_that_become_precise_at_once_are_named(capsys: pytest.CaptureFixture[str]) -> None:
    text = ONE_FACTOR.replace("runs = 3", "runs = 16").replace('"1,2,4"', '"1,2,3,4,5,6"')
    made = design(parse(text), HOST)
    with plain(made, planner := sequential(made)) as shown:
        conduct(shown, planner, still)
    named = "threads=1, threads=2, threads=3 and 3 more"
    assert said(capsys)[-1] == f"block 9: precise enough, no further runs of {named}"
    assert pipeline._near(planner.progress) == "all 6 precise (asked 1 %)"


def test_what_an_earlier_start_has_forgone_is_not_said_again(capsys: pytest.CaptureFixture[str]) -> None:
    made = planned(16)
    planner = sequential(made)
    before = conduct(plain(made, GridPlanner(made)), planner, most=27)
    assert len(planner.progress.skipped) == 1
    said(capsys)
    with plain(made, planner, n_done=before) as shown:
        conduct(shown, planner)
    assert not [line for line in said(capsys) if "no further runs" in line]


def test_the_live_line_shows_the_run_and_what_is_left(terminal: StringIO, capsys: pytest.CaptureFixture[str]) -> None:
    text = ONE_FACTOR.replace('"1,2,4"', '["[red]a", "b\\u001bc"]').replace("[baseline]\nthreads = 1\n", "")
    made = design(parse(text), HOST)
    planner = GridPlanner(made)
    with plain(made, planner) as shown:
        for _ in made.configurations:
            run = planner.ask()
            assert run is not None and shown._live is not None
            shown.run_started(run, planner.n_left)
            shown._live.refresh()
            planner.tell(run, {}, "clean")
    assert "run 0 of 6  threads=[red]a" in terminal.getvalue()
    assert "threads=b\N{REPLACEMENT CHARACTER}c" in terminal.getvalue()
    assert said(capsys) == []


def test_the_live_line_is_one_line_however_narrow_the_terminal() -> None:
    made = planned(1)
    shown = plain(made, planner := GridPlanner(made))
    run = planner.ask()
    assert run is not None
    shown.run_started(run, planner.n_left)
    assert len(Console(width=14).render_lines(shown)) == 1


def test_a_part_of_several_says_which_it_is() -> None:
    made = planned(2)
    shown = LiveProgress(made, 0, None, None, "part 3 of 12: cpu-surface")
    assert str(shown.__rich__()).startswith(f"part 3 of 12: cpu-surface, run 0 of {made.n_runs}")
