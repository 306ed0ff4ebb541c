"""What more time would buy, from made-up runs at made-up times; and where nothing is offered."""

from pathlib import Path

import pytest
from msgspec import structs

from scalograph.findings.quality_flags import QualityFlags
from scalograph.findings.sample import samples_by_configuration
from scalograph.findings.study_verdict import judge_study, more_time, seconds_per_counted_block
from scalograph.findings.table import Table
from tests.kit.findings import ONE_FACTOR, Made, runs_of, table_of

PM = "\N{PLUS-MINUS SIGN}"


def noisy(spread: float = 0.05, n_blocks: int = 12) -> Made:
    """Two threads gain 2, but their runs differ by so much; those of one thread do not."""
    one, two = runs_of({1: 1.0}, n_blocks, spread=0.0), runs_of({2: 0.5}, n_blocks, spread=spread)
    return [run for pair in zip(one, two, strict=True) for run in pair]


def timed(folder: Path, made: Made, seconds: float, text: str = ONE_FACTOR, waits: int = 0) -> Table:
    """A study whose runs begin so many seconds apart, and an hour later after each of so many waits."""
    table = table_of(folder, made, text)
    starts = [seconds * i + 3600.0 * min(i // 3, waits) for i in range(len(table.rows))]
    table.rows[:] = [structs.replace(row, start_s=start) for row, start in zip(table.rows, starts, strict=True)]
    table.end_reason = "complete"
    return table


def offer(table: Table, error: float = 0.01) -> str:
    return "".join(caveat.text for caveat in more_time(table, [*samples_by_configuration(table).values()], error))


def test_five_minutes_are_offered_or_less_where_it_halves_the_interval(tmp_path: Path) -> None:
    # 12 blocks of 20 s; 15 more in 5 minutes: sqrt(12 / 27) = 0.67.
    assert offer(timed(tmp_path, noisy(), 10.0)) == f"5 min more (--runs 18) would narrow {PM}3% to about {PM}1.8%"
    # 12 blocks of 2 s: 36 more halve it.
    assert offer(timed(tmp_path, noisy(), 1.0)) == f"2 min more (--runs 39) would narrow {PM}3% to about {PM}1.4%"
    assert offer(timed(tmp_path, noisy(), 1.0, waits=4)) == offer(timed(tmp_path, noisy(), 1.0))


def test_a_requested_precision_is_the_limit(tmp_path: Path) -> None:
    table = timed(tmp_path, noisy(n_blocks=24), 1.0, ONE_FACTOR.replace("runs = 3", 'runs = 24\nprecision = "1%"'))
    assert offer(table).startswith("3 min more would narrow")
    table.study = table.study.model_copy(
        update={"protocol": table.study.protocol.model_copy(update={"precision": 0.05})}
    )
    assert offer(table) == ""


def test_nothing_is_offered_where_precision_does_not_limit_or_the_answer_is_another(tmp_path: Path) -> None:
    assert offer(timed(tmp_path, noisy(0.01), 1.0)) == ""  # narrow
    assert offer(timed(tmp_path, noisy(), 1.0), error=0.04) == ""  # runs that lost time are worse
    assert offer(timed(tmp_path, noisy(n_blocks=2), 1.0)) == ""  # too few
    assert offer(timed(tmp_path, noisy(), 60.0)) == ""  # too slow: three blocks more
    assert offer(timed(tmp_path, noisy(), 0.0)) == ""  # nobody knows how long runs take
    table = timed(tmp_path, noisy(), 10.0)
    table.study = table.study.model_copy(update={"question": "throughput"})
    assert offer(table) == ""


def test_an_interrupted_study_is_resumed_rather_than_enlarged(tmp_path: Path) -> None:
    table = timed(tmp_path, noisy(), 10.0)
    table.end_reason = "interrupted"
    verdict = judge_study(table, [*samples_by_configuration(table).values()], [], QualityFlags())
    assert verdict.points[:2] == [
        "Interrupted after 24 of 24 runs; --resume continues.",
        f"5 min more would narrow {PM}3% to about {PM}1.8%.",
    ]


@pytest.mark.parametrize(("n_blocks", "seconds"), [(12, 2.0), (6, 4.0)])
def test_blocks_that_do_not_count_make_those_that_do_slower(tmp_path: Path, n_blocks: int, seconds: float) -> None:
    table = timed(tmp_path, noisy(), 1.0)
    assert seconds_per_counted_block(table.rows, n_blocks) == seconds
    assert seconds_per_counted_block([], n_blocks) == 0


def test_of_several_configurations_the_leading_one_is_named(tmp_path: Path) -> None:
    made = [run for run in noisy() for run in ([run, ({"threads": 4}, run[1])] if run[0]["threads"] == 1 else [run])]
    assert f" would narrow {PM}3% at 2 threads to about {PM}" in offer(timed(tmp_path, made, 10.0))
