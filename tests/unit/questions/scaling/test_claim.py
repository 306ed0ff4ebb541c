"""What a sweep says first: the largest contrast that its intervals carry, the exception, the end."""

from collections.abc import Callable, Sequence

import numpy as np
import pytest
from msgspec import structs

from scalograph.findings.curves import make_curves
from scalograph.findings.row import Row
from scalograph.findings.sample import samples_by_configuration
from scalograph.findings.table import Table
from scalograph.protocol.findings import Claim
from scalograph.questions.scaling.claim import _Sentences, claim
from scalograph.questions.scaling.model_claim import Decline, compare_points, find_best_gain
from scalograph.questions.scaling.truth import SHAPES, simulate_study
from scalograph.simulate.noise import Noise
from scalograph.text.cell_numbers import cell_number

QUIET = Noise(0.003, 0.003)


def table(*shapes: str, noise: Noise = QUIET) -> Table:
    return simulate_study(np.random.default_rng(7), [SHAPES[shape] for shape in shapes], noise)


def said(given: Table) -> Claim:
    taken = samples_by_configuration(given)
    found = claim(given, taken, make_curves(given, taken))
    assert found is not None
    return found


@pytest.mark.parametrize(
    ("shapes", "begins"),
    [
        (["linear"], "4 threads are "),
        (
            ["linear", "linear", "linear", "slower"],
            "4 threads are 4.0x as fast as 1, but not with lock 3: then more ",
        ),
        (["cap", "cap", "cap", "flat"], "2 threads are 2.0x as fast as 1, but not with lock 3: then "),
        (["cliff", "flat", "flat", "flat"], "4 threads with lock 0 are "),
        (["flat", "flat"], "More threads change nothing: "),
        (["slower", "flat"], "More threads never help: "),
        # The fewest threads that gain as much stand for all that gain as much.
        (["noisy"], "4 threads"),
    ],
)
def test_one_claim_and_its_exception(shapes: Sequence[str], begins: str) -> None:
    found = said(table("linear", noise=Noise(0.02, 0.03)) if shapes == ["noisy"] else table(*shapes))
    assert found.sentences[0].startswith(begins), found.sentences
    assert found.answered and len(" ".join(found.sentences).split()) <= 55


def test_settings_of_several_kinds_are_counted_and_named() -> None:
    first = said(table("linear", "linear", "linear", "linear", "slower", "flat")).sentences[0]
    assert " in 4 of 6 settings; in 2 others 1.00x down to 0." in first and first.endswith(" (lock 4 or lock 5).")


Change = Callable[[Row], Row | None]


@pytest.mark.parametrize(
    ("shapes", "noise", "change", "begins"),
    [
        (["flat", "flat"], Noise(0.5, 0.6), None, "Cannot be said: "),
        (["flat"], Noise(0.02, 0.06), None,
         "Cannot be said: no difference from 1 thread is resolved; one of up to 18 % is possible."),
        (["linear", "linear"], QUIET, lambda row: structs.replace(row, verdict="disturbed"),
         "Cannot be said: 50 of 50 runs were disturbed."),
        (["linear"], QUIET, lambda row: None if row.configuration["threads"] == 1 else row,
         "Cannot be said: no run with 1 thread succeeded."),
        (["linear"], QUIET, lambda row: structs.replace(row, scores={**row.scores, "wall": 0.0}),
         "Cannot be said: wall time of 0 or less has no speedup."),
    ],
    ids=["too wide", "no difference", "disturbed", "no baseline", "no time"],
)  # fmt: skip
def test_what_cannot_be_said_has_its_reason(
    shapes: list[str], noise: Noise, change: Change | None, begins: str
) -> None:
    given = table(*shapes, noise=noise)
    given.rows[:] = [new for row in given.rows if (new := change(row) if change else row) is not None]
    found = said(given)
    assert not found.answered and (found.sentences == [begins] or begins.endswith(": "))
    assert found.sentences[0].startswith(begins)


def test_where_it_ends_is_told_by_what_makes_the_difference() -> None:
    found = said(table("linear", "cliff"))
    assert "At 16 threads, lock 0 keeps" in found.sentences[1] or "At 8 threads, lock 0 keeps" in found.sentences[1]
    assert "lock 1 falls to 0.5" in found.sentences[1]
    assert "threads it falls to 0.5" in said(table("cliff", "cliff")).sentences[1]


def test_the_matrix_holds_what_the_sentence_says() -> None:
    shown = said(table("linear", "linear", "linear", "slower")).matrix
    assert shown is not None and shown.title == "speedup over 1 thread" and shown.columns[-1].endswith("threads")
    assert shown.rows_are == "lock" and [row.label for row in shown.rows] == ["0, 1, 2", "3"]
    first, last = (row.cells[shown.columns.index("4")].estimate for row in shown.rows)
    assert first and last and first.contains(4.0) and last.contains(0.7)
    assert all(cell.doubt == "" for row in shown.rows for cell in row.cells)


def test_few_clean_runs_are_marked() -> None:
    given = table("linear", "cap")

    def lost(row: Row) -> bool:
        return row.configuration == {"threads": 8, "lock": "0"} and row.block > 1

    given.rows[:] = [structs.replace(row, verdict="disturbed") if lost(row) else row for row in given.rows]
    shown = said(given).matrix
    assert shown is not None
    doubts = [cell.doubt for row in shown.rows for cell in row.cells if cell.doubt]
    assert doubts == ["2 clean runs, 5 asked"]


def test_settings_without_a_run_are_named_beside_the_claim() -> None:
    given = table("linear", "linear")
    given.rows[:] = [row for row in given.rows if row.configuration["lock"] == "0"]
    found = said(given)
    assert "not resolved: lock 1" in found.sentences[0]
    assert found.matrix is not None and [row.label for row in found.matrix.rows] == ["lock 0"]


def test_settings_that_were_not_measured_there_are_not_counted() -> None:
    given = table("linear", "linear", "linear", "cliff", "slower", "flat")
    taken = samples_by_configuration(given)
    points = compare_points(given, taken, make_curves(given, taken))
    found = find_best_gain(given, points)
    assert found is not None and len(found.members) == 4 and len(found.unless) == 2
    kept, fallen = ([p for p in points if p.level == 16 and p.curve.group["lock"] == lock] for lock in ("0", "3"))
    words, of = _Sentences(given, points), [("lock", "0"), ("lock", "3")]
    told = words._decline(found, Decline(16, [kept, fallen], of))
    assert told.startswith("Of those 4, 2 were measured at 16 threads: lock 0 keeps ")
    every = [p for p in points if p.level == 16 and p.curve.group["lock"] in ("0", "1", "2")]
    assert words._decline(found, Decline(16, [every, fallen], of)).startswith("Of those 4, at 16 threads, ")


def faster_than_can_be(n: float) -> float:
    return 20.0 if n > 1 else 1.0


def test_a_speedup_that_cannot_be_does_not_lead() -> None:
    rng = np.random.default_rng(7)
    first = said(simulate_study(rng, [faster_than_can_be, SHAPES["linear"]], QUIET)).sentences[0]
    assert first.startswith("4 threads") and "20" not in first and "not resolved: lock 0" in first
    alone = said(simulate_study(rng, [faster_than_can_be], QUIET))
    assert alone.sentences[0].startswith("Cannot be said: ") and "more than the CPUs can give" in alone.sentences[0]
    assert not alone.answered


def test_the_matrix_has_no_number_for_an_interval_wider_than_a_factor_of_two() -> None:
    given = simulate_study(np.random.default_rng(3), [SHAPES["linear"]] * 2, Noise(0.1, 0.4), n_blocks=2)
    shown = said(given).matrix
    assert shown is not None
    cells = [
        (e, cell_number(e)) for row in shown.rows for cell in row.cells if (e := cell.estimate) and e.low and e.high
    ]
    assert {text == "not resolved" for _, text in cells} >= {True}
    assert all((text == "not resolved") == (e.high > 2 * e.low) for e, text in cells if e.low and e.high)
