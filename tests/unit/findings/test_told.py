import tomllib
from pathlib import Path
from typing import Any

import pytest
from scipy import stats

from scalograph.analysis.estimate import Estimate
from scalograph.findings import table
from scalograph.findings.simultaneous_intervals import at_once
from scalograph.findings.told import MAX_SENTENCES, Line, phrase
from scalograph.questions.assemble import findings
from scalograph.text.scale import Scale

from ..findings.test_table import TREATMENTS, write
from ..records import record
from ..study.example import VALID

JITTER = (-0.1, 0.0, 0.1)


def line(*cells: tuple[float | None, ...], labels: str = "", ordered: bool = True, unit: str = "") -> Line:
    """Cells are (low, value, high), or (value,) where the interval has no width."""
    docs = [Estimate(low=cell[0], value=cell[len(cell) // 2], high=cell[-1]) for cell in cells]
    names = labels.split() or [str(i) for i in range(1, len(cells) + 1)]
    return Line("priority", ordered, names, docs, Scale(1.0, unit))


@pytest.mark.parametrize(
    ("given", "said"),
    [
        (line((4,), (2,), (0,), (-5,)), "it falls from 4 (priority 1) to -5 (4)"),
        (line((0,), (0,), (0,)), "it is 0 throughout"),
        (line((7,)), "it is 7 (priority 1)"),
        (
            line((11, 12, 13), (30, 31, 32), (88, 89, 90), unit="%"),
            "it rises from 12.0 % [11.0, 13.0] (priority 1) to 89.0 % [88.0, 90.0] (3)",
        ),
        (
            line((49.4, 49.9, 50.4), (49.6, 50, 50.5), unit="%"),
            "no difference along priority is seen (intervals from 49.4 to 50.5 %)",
        ),
        (
            line((1,), (9,), (3,)),
            "it goes from 1 (priority 1) to 3 (3), not steadily: between 1 (priority 1) and 9 (2)",
        ),
        (
            line((1,), (9,), (1,)),
            "it lies between 1 (priority 1) and 9 (2), and whether it ends higher or lower than it begins is not seen",
        ),
        (line((2,), (3,), labels="self child", ordered=False), "it is 2 (priority self) and 3 (child)"),
    ],
)
def test_what_a_line_does_is_said(given: Line, said: str) -> None:
    assert phrase(given) == said


def test_without_intervals_nothing_is_claimed() -> None:
    cells = [Estimate(value=1.0), Estimate(value=9.0)]
    assert (
        phrase(Line("threads", True, ["1", "2"], cells, Scale(1.0, "s"))) == "1.0 to 9.0 s, too few runs for intervals"
    )


def test_many_rows_without_an_order_are_bounded() -> None:
    told = phrase(line(*((float(i),) for i in range(9)), labels="a b c d e f g h i", ordered=False))
    assert told == "it lies between 0 (priority a) and 8 (i)"


RESPONSES = """
[responses.nice]
from = "value.nice"
title = "nice value"
better = "none"

[responses.share]
from = "value.share"
unit = "%"
better = "none"

[responses.wall]
from = "window.wall"
unit = "s"
"""


def wish(response: str, title: str = "Nice value") -> str:
    return f'\n[[tables]]\ntitle = "{title}"\nrows = "threads"\ncolumns = "lock"\nresponse = "{response}"\n'


def answer(tmp_path: Path, text: str) -> list[str]:
    """`nice` falls under `cas` and is 0 without a lock; `share` is 50 for both."""
    assert tomllib.loads(text)
    made: list[tuple[dict[str, Any], dict[str, Any]]] = []
    for j in JITTER:
        for t in TREATMENTS:
            nice = 5.0 - t["threads"] if t["lock"] == "cas" else 0.0
            made.append((t, record(1 + j / 10, cpus=(0, 1), values={"nice": [nice], "share": [50 + j]})))
    return findings(table.load(write(tmp_path / "journal.jsonl", made, text)), tmp_path).answer


def test_a_table_of_a_study_is_told_first_and_each_column_is_named(tmp_path: Path) -> None:
    found = answer(tmp_path, VALID + RESPONSES + wish("nice"))
    assert found[0] == (
        "Nice value: with lock none, it is 0 throughout; with lock cas, it falls from 4 (threads 1) to 1 (4)."
    )
    assert found[1].startswith("Along threads:")


def test_columns_that_do_the_same_are_told_once(tmp_path: Path) -> None:
    text = VALID + RESPONSES + wish("share", "Share (equal is 50 %)")
    assert answer(tmp_path, text)[0].startswith(
        "Share (equal is 50 %): with lock none and cas alike, no difference along threads is seen (intervals from"
    )


def test_many_columns_that_do_the_same_are_counted(tmp_path: Path) -> None:
    locks = ["none", "cas", *(f"lock{i}" for i in range(30))]
    text = (VALID + RESPONSES + wish("share")).replace('["none", "cas"]', str(locks).replace("'", '"'))
    made = [
        ({"threads": n, "lock": lock}, record(1.0, cpus=(0, 1), values={"nice": [0.0], "share": [50.0]}))
        for lock in locks
        for n in (1, 2, 4)
        for _ in range(3)
    ]
    design = {"treatments": [dict(t) for t, _ in made[::3]], "runs": [3] * (len(made) // 3)}
    first = findings(table.load(write(tmp_path / "journal.jsonl", made, text, design=design)), tmp_path).answer[0]
    assert first.endswith(" more alike, it is 50 % throughout.") and "lock29" not in first and "lock none, cas" in first


def test_tables_of_speedups_and_of_what_they_are_taken_on_are_left_to_the_curves(tmp_path: Path) -> None:
    with_baseline = VALID + RESPONSES + wish("wall", "Times") + wish("speedup", "Factors")
    assert not any(text.startswith(("Times", "Factors")) for text in answer(tmp_path, with_baseline))
    without = with_baseline.replace("[baseline]\nthreads = 1\n", "")
    (text,) = answer(tmp_path, without)
    assert text.startswith("Times: with lock none and cas alike, no difference along threads is seen")


def test_sentences_are_bounded(tmp_path: Path) -> None:
    found = answer(tmp_path, VALID + RESPONSES + wish("nice") * (MAX_SENTENCES + 3))
    assert found[MAX_SENTENCES] == "3 further tables are below."
    assert sum(text.startswith("Nice value") for text in found) == MAX_SENTENCES


def test_a_table_whose_cells_hold_no_run_is_not_told(tmp_path: Path) -> None:
    text = (VALID + RESPONSES + wish("nice")).replace('from = "value.nice"', 'from = "value.absent"')
    assert not any("Nice value" in sentence for sentence in answer(tmp_path, text))


def test_a_difference_is_claimed_only_where_all_intervals_together_leave_none() -> None:
    cells = [Estimate(low=x - 0.1, value=x, high=x + 0.1, n=5) for x in (1.0, 1.1, 1.25)]
    two = Line("jobs", True, ["1", "3"], [cells[0], cells[2]], Scale(1.0, ""))
    assert phrase(two).startswith("no difference along jobs is seen"), "each alone would be apart"
    far = [Estimate(low=x - 0.1, value=x, high=x + 0.1, n=5) for x in (1.0, 1.5, 2.0)]
    assert phrase(Line("jobs", True, ["1", "2", "3"], far, Scale(1.0, ""))).startswith(
        "it rises from 1.00 [0.90, 1.10]"
    )


def test_intervals_that_hold_at_once_are_wider() -> None:
    found = at_once(Estimate(low=0.8, value=1.0, high=1.25, n=5), 4)
    assert found.confidence == pytest.approx(0.9875)
    wider = stats.t.ppf(1 - 0.0125 / 2, 4) / stats.t.ppf(0.975, 4)
    assert (found.low, found.high) == pytest.approx((0.8**wider, 1.25**wider))
    below = at_once(Estimate(low=-1.0, value=0.0, high=1.0, n=5), 4)
    assert (below.low, below.high) == pytest.approx((-wider, wider))
    same = Estimate(low=0.8, value=1.0, high=1.25, n=1)
    assert at_once(same, 4) is same and at_once(found, 1) is found
