"""What a person sees while a study runs: one live line on a terminal, a few lines elsewhere."""

from collections.abc import Callable
from functools import partial
from io import StringIO
from typing import Any

import pytest
from rich.console import Console

from scalograph.analysis.stopping import Stopping
from scalograph.cli import progress
from scalograph.cli.progress import LiveProgress, eta_text, near_text
from scalograph.design.grid import GridPlanner
from scalograph.design.planner import Planner
from scalograph.design.sequential import SequentialPlanner
from scalograph.design.stopping_rule import score as score_of_run
from scalograph.verdict.judge import Judgment
from tests.kit.records import record as record_of
from tests.kit.studies import a_study, design_of

CLEAN = Judgment("clean", [])
# Scores by threads and block: 1 and 2 are still, 4 is noisy.
STILL, NOISY = (1.0, 1.001), (1.0, 1.1)

Score = Callable[[int, int], float]


def score(threads: int, block: int) -> float:
    return (NOISY if threads == 4 else STILL)[block % 2]


def still(threads: int, block: int) -> float:
    return STILL[block % 2]


def study_of(runs: int, levels: object = "1,2,4", **tables: Any) -> str:
    tables = {"baseline": {"threads": 1}, **tables}
    return a_study({"threads": levels}, protocol={"runs": runs, "timeout": "10s"}, **tables)


def grid(text: str, n_done: int = 0, limit_s: float | None = None) -> tuple[LiveProgress, GridPlanner]:
    """Plan a study in blocks, with who tells of it."""
    laid_out = design_of(text, 4)
    planner = GridPlanner(laid_out)
    return LiveProgress(laid_out, n_done, limit_s, planner=planner), planner


def sequential(text: str) -> tuple[LiveProgress, SequentialPlanner]:
    """Plan a study that ends where it is precise to 1%, with who tells of it."""
    laid_out = design_of(text, 4)
    stopping = Stopping(0.01, laid_out.study.protocol.runs)
    planner = SequentialPlanner(laid_out, stopping, partial(score_of_run, laid_out.study))
    return LiveProgress(laid_out, planner=planner), planner


def conduct(
    shown: LiveProgress, planner: Planner, scores: Score = score, judgment: Judgment = CLEAN, most: int = 10**6
) -> int:
    """The loop of `runner.run_study` without a host and a journal; how many runs there were."""
    n = 0
    while n < most and (run := planner.ask()):
        shown.run_started(run, planner.n_left)
        record = record_of(wall_s=scores(int(run.configuration["threads"]), run.block))
        planner.tell(run, record, judgment.verdict)
        shown.run_finished(run, record, judgment)
        n += 1
    return n


@pytest.fixture
def lines(capsys: pytest.CaptureFixture[str]) -> Callable[[], list[str]]:
    """What was told elsewhere than on a terminal since the last call."""
    return lambda: capsys.readouterr().err.splitlines()


@pytest.fixture
def terminal(monkeypatch: pytest.MonkeyPatch) -> StringIO:
    """What a terminal of 200 columns gets."""
    file = StringIO()
    console = Console(file=file, force_terminal=True, width=200, color_system=None)
    monkeypatch.setattr(progress, "err", lambda: console)
    return file


@pytest.fixture
def slow(monkeypatch: pytest.MonkeyPatch) -> Callable[[float], Score]:
    """Scores of runs that take so many seconds."""
    now = [0.0]
    monkeypatch.setattr(progress.time, "monotonic", lambda: now[0])

    def takes(seconds: float, threads: int, block: int) -> float:
        now[0] += seconds
        return score(threads, block)

    return lambda seconds: partial(takes, seconds)


Lines = Callable[[], list[str]]
Slow = Callable[[float], Score]


def test_a_study_of_seconds_needs_no_line_and_nothing_is_known_before_its_first_run(lines: Lines) -> None:
    shown, planner = grid(study_of(3))
    with shown:
        assert conduct(shown, planner) == 9
    assert lines() == []
    assert grid(study_of(1))[0]._line() == "[0/3]  setup"
    assert eta_text(None, 60.0, 60.0) == "limit 1 min"


def test_a_line_every_half_minute_counts_what_went_wrong(lines: Lines, slow: Slow) -> None:
    shown, planner = grid(study_of(2))
    with shown:
        conduct(shown, planner, slow(20))
    assert [line.partition("  threads=")[0] for line in lines()] == [
        "[2/6] 33%  ETA 1 min 20 s", "[4/6] 66%  ETA 40 s", "[6/6] 100%"
    ]  # fmt: skip
    shown, planner = grid(study_of(2))
    with shown:
        conduct(shown, planner, slow(30), Judgment("disturbed", []), most=1)
        conduct(shown, planner, slow(30), Judgment("failed", []), most=2)
    line = lines()[-1]
    assert line.startswith("[3/6] 50%  ETA 1 min 30 s  threads=") and "  disturbed 1, failed 2" in line


def test_a_resumed_study_counts_the_runs_before(lines: Lines, slow: Slow) -> None:
    shown, planner = grid(study_of(3), n_done=1)
    run = planner.ask()
    assert run is not None
    planner.tell(run, record_of(), "clean")
    with shown:
        conduct(shown, planner, slow(30))
    assert lines()[0].startswith("[2/9] 22%  ETA 3 min 30 s")


@pytest.mark.parametrize(("limit_s", "left"), [
    (70.0, ["limit 1 min 10 s, over by 20 s", "limit 1 min 10 s, over by 50 s"]),
    (None, ["ETA 1 s", "ETA late by 30 s"]),
])  # fmt: skip
def test_past_its_time_a_study_says_how_far(slow: Slow, limit_s: float | None, left: list[str]) -> None:
    takes = slow(30)
    shown, planner = grid(study_of(1), limit_s=limit_s)
    conduct(shown, planner, takes, most=2)
    run = planner.ask()
    assert run is not None
    shown.run_started(run, planner.n_left)
    for text in left:
        takes(1, 0)
        assert shown._line().startswith(f"[2/3] 66%  {text}  threads=")


def test_a_limit_that_ends_the_study_before_stands_beside_the_eta(slow: Slow) -> None:
    shown, planner = grid(study_of(3), limit_s=100.0)
    conduct(shown, planner, slow(30), most=1)
    assert shown._line().startswith("[1/9] 11%  ETA 4 min  limit 1 min 40 s, 1 min 10 s left  ")


def test_waiting_is_no_part_of_the_rate(slow: Slow) -> None:
    wait, takes = slow(600), slow(30)
    shown, planner = grid(study_of(2))
    for _ in range(2):
        shown.phase_began("quiet wait")
        wait(1, 0)
        assert "  quiet wait" in shown._line()
        conduct(shown, planner, takes, most=1)
        assert "quiet wait" not in shown._line()
    assert shown._line().startswith("[2/6] 33%  ETA 2 min  ")


def test_a_warm_up_is_named() -> None:
    shown, planner = grid(a_study({"threads": "1,2"}, protocol={"runs": 2, "warmup_runs": 1}))
    run = planner.ask()
    assert run is not None and run.warmup
    shown.run_started(run, planner.n_left)
    assert shown._line() == f"[0/5]  warm-up  threads={run.configuration['threads']}"


def test_a_wish_for_precision_is_told_in_figures(lines: Lines, slow: Slow) -> None:
    shown, planner = sequential(study_of(16))
    with shown:
        conduct(shown, planner, slow(30))
    told = lines()
    assert "no interval yet (asked 1%), 0 of 3 precise" in told[2]
    # 4 threads differ by 10% from run to run: t(0.95, 7) s / sqrt(8) = 4.3% of half-width.
    assert "±4.3% (asked 1%), 0 of 3 precise" in told[23]
    # The baseline is precise too, and goes on until the others are.
    assert "block 9: precise enough, no further runs of threads=2" in told
    assert "±3.9% (asked 1%), 2 of 3 precise" in "".join(told)
    shown, planner = sequential(study_of(16))
    conduct(shown, planner, lambda n, block: float(1 + 9 * block), most=6)
    assert "beyond ±100% (asked 1%)" in shown._line()


def test_what_is_noted_again_and_again_is_said_once_and_counted(lines: Lines, terminal: StringIO) -> None:
    shown, _ = grid(study_of(3))
    with shown:
        for block in range(1, 9):
            shown.run_warned(f"block {block} began on a busy machine: \x1b[31m[red]", "busy")
        shown.run_warned("other")
        assert shown._line() == "[0/9]  setup  busy blocks: 8"
    seen = terminal.getvalue()
    assert "block 1 began on a busy machine: \N{REPLACEMENT CHARACTER}[31m[red]\n" in seen
    assert "block 2" not in seen and "other\n" in seen
    assert lines() == []


def test_an_unusable_block_names_the_part_and_the_option(capsys: pytest.CaptureFixture[str]) -> None:
    """It is said with the last run of the block, not with the next periodic line."""
    planner = GridPlanner(design := design_of(study_of(3), 4))
    shown = LiveProgress(design, planner=planner, called="part 3 of 12: cliff", is_plain=True)
    while (run := planner.ask()) and run.block == 0:
        if note := planner.tell(run, record_of(wall_s=1.0), "disturbed"):
            shown.run_warned(note, "disturbed")
    err = " ".join(capsys.readouterr().err.split())
    assert "part 3 of 12: cliff: Block 1 unusable: 3 of 3 runs were disturbed" in err and "--wait-quiet 10m" in err


def test_configurations_that_become_precise_are_named_at_once_and_once(lines: Lines) -> None:
    shown, planner = sequential(study_of(16, "1,2,3,4,5,6"))
    with shown:
        conduct(shown, planner, still)
    named = "threads=1, threads=2, threads=3 and 3 more"
    assert lines()[-1] == f"block 9: precise enough, no further runs of {named}"
    assert near_text(planner.progress) == "all 6 precise (asked 1%)"
    _, planner = sequential(study_of(16))
    n_done = conduct(grid(study_of(16))[0], planner, most=27)
    assert len(planner.progress.skipped) == 1
    lines()
    with LiveProgress(design_of(study_of(16), 4), n_done, planner=planner) as shown:
        conduct(shown, planner)
    assert not [line for line in lines() if "no further runs" in line]


def test_the_live_line_shows_the_run_and_what_is_left(lines: Lines, terminal: StringIO) -> None:
    shown, planner = grid(study_of(3, ["[red]a", "b\u001bc"], baseline={}))
    with shown:
        for _ in range(2):
            run = planner.ask()
            assert run is not None and shown._live is not None
            shown.run_started(run, planner.n_left)
            shown._live.refresh()
            planner.tell(run, record_of(), "clean")
    assert "[0/6]  threads=[red]a" in terminal.getvalue()
    assert "threads=b\N{REPLACEMENT CHARACTER}c" in terminal.getvalue()
    assert lines() == []


def test_the_live_line_is_one_line_and_of_several_parts_says_which() -> None:
    shown, planner = grid(study_of(1))
    run = planner.ask()
    assert run is not None
    shown.run_started(run, planner.n_left)
    assert len(Console(width=14).render_lines(shown)) == 1
    shown = LiveProgress(design_of(study_of(2), 4), called="part 3 of 12: cpu-surface")
    assert str(shown.__rich__()).startswith("part 3 of 12: cpu-surface  [0/6]")
