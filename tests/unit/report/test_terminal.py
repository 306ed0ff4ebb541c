"""The terminal: golden text, widths, what is left out where there is no room, and no name that steers it."""

import io
import os
import re
from dataclasses import replace
from pathlib import Path

import pytest
from rich.cells import cell_len
from rich.console import Console
from tests.kit import samples

from scalograph.analysis.estimate import Estimate
from scalograph.protocol.findings import (
    Claim,
    Column,
    DegradedRuns,
    Findings,
    Matrix,
    MatrixCell,
    MatrixRow,
    TableDoc,
    Trust,
)
from scalograph.report.screen import Screen, screen
from scalograph.report.terminal_first import render_first
from scalograph.report.terminal_table import render

GOLDEN = Path(__file__).with_name("golden")
ESC = "\x1b"


def printed(findings: Findings, width: int, **options: object) -> str:
    """What lands in a file."""
    stream = io.StringIO()
    settings: dict[str, object] = {"file": stream, "width": width, "force_terminal": False, **options}
    render(screen(findings), Console(**settings))  # type: ignore[arg-type]
    return stream.getvalue()


def with_table(table: TableDoc) -> Findings:
    findings: Findings = samples.bare()
    findings.tables = [table]
    return findings


@pytest.mark.parametrize("case", ["small 80", "small 160", "hostile 80", "all_failed 80", "bare 80"])
def test_golden_text(case: str) -> None:
    name, width = case.split()[0], int(case.split()[1])
    text = printed(getattr(samples, name)(), width)
    path = GOLDEN / f"{name}_{width}.txt"
    if os.environ.get("UPDATE_GOLDEN"):
        path.write_text(text, encoding="utf-8")
    assert text == path.read_text(encoding="utf-8")


@pytest.mark.parametrize("width", [40, 80, 160])
def test_no_line_is_wider_than_the_terminal_or_ends_in_blanks(width: int) -> None:
    findings = samples.full(n=2)
    findings.reproduce = []  # commands to copy are never wrapped
    for line in printed(findings, width).splitlines():
        assert cell_len(line) <= width and line == line.rstrip()


@pytest.mark.parametrize("width", [40, 80, 160])
def test_every_number_of_a_table_survives_every_layout(width: int) -> None:
    findings = samples.small()
    wide = {word for word in printed(findings, 400).split() if word[0] in "0123456789[-"}
    assert wide <= set(printed(findings, width).replace(",\n", " ").split())


def test_a_narrow_terminal_stacks_rows() -> None:
    columns = [Column(name="lock", kind="label"), Column(name="a very descriptive column", kind="estimate")]
    estimate = Estimate(value=12345.678, low=12345.6, high=12345.7)
    table = TableDoc(id="t", title="T", columns=columns, rows=[["x" * 40, estimate]])
    assert f"lock: {'x' * 40}\n  a very descriptive column  12,345.68 [12,345.60, 12,345.70]\n" in printed(
        with_table(table), 64
    )
    assert "\n    12,345.68 [12,345.60,\n    12,345.70]\n" in printed(with_table(table), 26)
    columns = [Column(name="lock", kind="label"), Column(name="runs"), Column(name="w" * 30)]
    text = printed(with_table(TableDoc(id="t", title="T", columns=columns, rows=[["none", 7, 4]])), 30)
    assert "none     7\n" in text and f"lock: none\n  {'w' * 28}\n  ww\n    4\n" in text


def test_numbers_stand_under_numbers_point_under_point() -> None:
    columns = [Column(name="k", kind="label"), Column(name="seconds"), Column(name="n")]
    table = TableDoc(id="t", title="T", columns=columns, rows=[["a", 43.34, 1], ["b", 43.5993, 20]])
    a, b = (line for line in printed(with_table(table), 60).splitlines() if line[:2] in ("a ", "b "))
    assert a.index(".") == b.index(".") and (a.index(" 1"), a[-1]) == (b.index("20"), "1")
    rows = [["a", Estimate(value=1.0, low=0.9, high=1.1)], ["b", Estimate(value=123.4, low=120.0, high=126.0)]]
    columns = [Column(name="k", kind="label"), Column(name="v", kind="estimate")]
    text = printed(with_table(TableDoc(id="t", title="T", columns=columns, rows=rows)), 80)
    lines = [line for line in text.splitlines() if "[" in line]
    assert len({line.index("[") for line in lines}) == 1


def test_what_differs_only_in_numbers_or_stands_in_the_sentence_is_said_once() -> None:
    findings = samples.bare()
    reasons = [f"{n} switches/s on CPU 0, above 1000" for n in (7819, 2386, 12551)]
    findings.degraded = [DegradedRuns(what="switch records", why=why, n_runs=1) for why in reasons]
    findings.trust = Trust(
        level="caution", sentence="Be careful: 2 runs failed.", causes=["2 runs failed", "one cause"]
    )
    text = printed(findings, 100)
    assert "switch records: 2386 to 12551 switches/s on CPU 0, above 1000 (3 runs)" in text
    assert text.count("switch records") == text.count("one cause") == 1 and "2 runs failed" not in text


def test_a_terminal_gets_colors_and_no_color_is_respected(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TERM", "xterm-256color")
    monkeypatch.delenv("NO_COLOR", raising=False)
    options = {"force_terminal": True, "color_system": "standard"}
    assert f"{ESC}[1m" in printed(samples.small(), 80, **options)
    monkeypatch.setenv("NO_COLOR", "1")
    text = printed(samples.small(), 80, **options)
    assert not any(f"{ESC}[1;3{i}m" in text or f"{ESC}[3{i}m" in text for i in range(8))


def test_hostile_names_print_literally_and_piped_text_is_plain() -> None:
    text = printed(samples.hostile(), 200, force_terminal=True, color_system="standard")
    assert "[red]x[/]" in text and r"\x1b[31mred" in text and f"{ESC}[31m" not in text
    assert ESC not in printed(samples.full(n=2), 100)
    raw = io.BytesIO()
    stream = io.TextIOWrapper(raw, encoding="ascii", errors="strict")
    render(screen(samples.small()), Console(file=stream, width=80, force_terminal=False))
    stream.flush()
    assert b"1.93 [1.88, 1.97]" in raw.getvalue()
    findings = samples.bare()
    findings.reproduce = ["scalograph " + "x" * 200]
    assert "scalograph " + "x" * 200 in printed(findings, 80)


PLACES = [("report", "results/report.html"), ("tables", "scalograph report results --tables"), ("again", "again")]
LONG = "A sentence that goes on and on, as they do, until a line and a half of the terminal are full of it, at least."


def cell(value: float, doubt: str = "") -> MatrixCell:
    return MatrixCell(estimate=Estimate(value=value, low=0.95 * value, high=1.05 * value, n=5), doubt=doubt)


def matrix(n_rows: int = 3, n_columns: int = 3) -> Matrix:
    rows = [
        MatrixRow(label=f"2 CPUs, lock number {i}", cells=[cell(10.0**i + j) for j in range(n_columns)])
        for i in range(n_rows)
    ]
    return Matrix(
        title="time", unit="s", better="lower", rows_are="lock", columns=[f"c{j}" for j in range(n_columns)], rows=rows
    )


def made_screen(made: Matrix | None = None, points: int = 3, **more: object) -> Screen:
    claim = Claim(sentences=[f"First. {LONG}", f"Second. {LONG}", f"Third. {LONG}"], matrix=made)
    trust = Trust(level="caution", sentence=f"Verdict. {LONG}", points=[f"point {i}. {LONG}" for i in range(points)])
    table = TableDoc(id="t", title="T", columns=[Column(name="k")], rows=[[1], [2]])
    return Screen(title="What?", machine="This CPU", claim=claim, trust=trust, tables=[table], **more)  # type: ignore[arg-type]


def first_lines(shown: Screen, width: int = 80, encoding: str = "utf-8") -> list[str]:
    raw = io.BytesIO()
    stream = io.TextIOWrapper(raw, encoding=encoding, errors="strict", write_through=True)
    render_first(shown, Console(file=stream, width=width, force_terminal=False), PLACES)
    return raw.getvalue().decode(encoding).splitlines()


@pytest.mark.parametrize("encoding", ["utf-8", "ascii"])
def test_a_number_and_its_percent_sign_stand_on_one_line(encoding: str) -> None:
    for room in range(60, 80):
        claim = Claim(sentences=[f"{'x' * room} 20% of it"])
        (first, second, *_) = first_lines(replace(made_screen(), claim=claim), encoding=encoding)[3:]
        assert (f"{first} {second}").strip() == f"{'x' * room} 20% of it" and not second.startswith("%")


@pytest.mark.parametrize("n_rows", [1, 8, 24])
def test_it_fits_a_screen_however_much_there_is_to_say(n_rows: int) -> None:
    shown = made_screen(matrix(n_rows, 12), published=LONG, failures="3 x no such file")
    lines = first_lines(shown)
    assert len(lines) <= 25 and max(map(cell_len, lines)) <= 80
    text = "\n".join(lines)
    assert all(word in text for word in ("What?", "First.", "Verdict.", "no such file", "report  results/report.html"))


def test_what_was_published_stands_after_the_claim_and_rows_left_out_are_counted() -> None:
    lines = first_lines(made_screen(matrix(1), published="8 of 12 published claims hold here."))
    place = lines.index("paper   8 of 12 published claims hold here.")
    assert lines[place - 1] and not lines[place + 1]
    assert "Verdict." in "".join(lines[place:]) and "Verdict." not in "".join(lines[:place])
    text = "\n".join(first_lines(made_screen(matrix(20))))
    assert "more rows: --tables" in text and "Second." in text
    assert "more rows" not in "\n".join(first_lines(made_screen(matrix(3), points=0)))
    text = "\n".join(first_lines(made_screen(matrix(20)), encoding="ascii"))
    assert "+-5%" in text and "... " in text
    shown = made_screen(points=0)
    with_tables, without = (" ".join(first_lines(one)) for one in (shown, replace(shown, tables=[])))
    assert "(1 table, 2 rows)" in with_tables
    assert "tables" not in without and "report  results/report.html" in without and "again   again" in without
    assert first_lines(made_screen())[-2] == "tables  scalograph report results --tables  (1 table, 2 rows)"


@pytest.mark.parametrize("width", [30, 40, 60, 80, 200])
def test_a_narrow_terminal_has_fewer_columns_and_the_last_of_them(width: int) -> None:
    lines = first_lines(made_screen(matrix(2, 12)), width)
    assert all(cell_len(line) <= width for line in lines[:-3])
    heading = next(line for line in lines if "c11" in line)
    assert ("more column" in "\n".join(lines)) == ("c5" not in heading)


@pytest.mark.parametrize(("width", "lines"), [
    (80, ["This CPU, 2 CPUs · 4 configurations · 9 runs in 3 min 05 s"]),
    (50, ["This CPU, 2 CPUs · 9 runs in 3 min 05 s"]),
    (38, ["This CPU, 2 CPUs", "9 runs in 3 min 05 s"]),
])  # fmt: skip
def test_the_machine_is_told_in_lines_that_end_between_its_parts(width: int, lines: list[str]) -> None:
    shown = made_screen(points=0)
    told = first_lines(replace(shown, machine="This CPU, 2 CPUs · 4 configurations · 9 runs in 3 min 05 s"), width)
    assert told[1 : 2 + len(lines)] == [*lines, ""]


def labels(lines: list[str]) -> list[str]:
    """What stands left of the figures, the lines of one label joined."""
    first = next(i for i, line in enumerate(lines) if line.startswith("lock "))
    found = list[str]()
    for line in lines[first + 1 : next(i for i, line in enumerate(lines) if "95% interval" in line)]:
        text = re.split(r" {2,}\S*\d \N{PLUS-MINUS SIGN}", line)[0].strip()
        if line.startswith("  "):
            found[-1] += f" {text}"
        elif "--tables" not in line:
            found.append(text)
    return found


@pytest.mark.parametrize("width", [34, 44, 60, 80])
def test_a_long_label_is_wrapped_between_words_and_keeps_them_all(width: int) -> None:
    made = matrix(3, 4)
    for row, more in zip(made.rows, ("held for 200 units", "work 2 units", "locks none, object and cas"), strict=True):
        row.label = f"2 CPUs; {more}"
    lines = first_lines(made_screen(made, points=0), width)
    assert labels(lines) == [row.label for row in made.rows]


def test_a_word_that_is_wider_than_its_column_is_broken_and_kept() -> None:
    made = matrix(1, 4)
    made.rows[0].label = f"/opt/{'a' * 30}/bin/java"
    text = "".join(labels(first_lines(made_screen(made, points=0), 60))).replace(" ", "")
    assert text == made.rows[0].label


def test_of_a_rejected_study_only_rows_with_a_resolved_figure_are_shown() -> None:
    made = matrix(4)
    wide = MatrixCell(estimate=Estimate(value=1.0, low=0.1, high=9.0, n=5), doubt="includes disturbed runs")
    made.rows.append(MatrixRow(label="open", cells=[wide, wide, MatrixCell()]))
    shown = made_screen(made, points=0)
    rejected = replace(shown, trust=Trust(level="unusable", sentence="Verdict."))
    assert any(line.startswith("open ") for line in first_lines(shown)) and "time (s" in "\n".join(first_lines(shown))
    assert not any(line.startswith("open ") for line in first_lines(rejected))
    assert "1 more row: --tables" in "\n".join(first_lines(rejected))
    made.rows = made.rows[1:]
    assert any(line.startswith("open ") for line in first_lines(rejected))  # of few rows all are
    made.rows = made.rows[3:]
    assert "time (s" not in "\n".join(first_lines(rejected))


def test_why_a_rejected_study_says_nothing_is_told_once() -> None:
    shown = replace(
        made_screen(points=0, published="None holds."),
        trust=Trust(level="unusable", sentence="9 of 9 runs were disturbed."),
    )
    unsaid = replace(shown, claim=Claim(sentences=["Inconclusive: disturbed.", "So much."], answered=False))
    text = "\n".join(first_lines(unsaid))
    assert "UNUSABLE  No answer: 9 of 9 runs were disturbed." in text and text.count("disturbed") == 1
    assert "So much." not in text and "None holds." not in text and "First." in "\n".join(first_lines(shown))


def test_values_stand_under_values_and_every_mark_is_explained() -> None:
    made = matrix(2, 2)
    made.rows[0].cells[1] = cell(3, "only 4 clean runs")
    made.rows[1].cells[1] = MatrixCell(text="never", doubt="another reason")
    made.note = "1 thread: 3 ms"
    lines = first_lines(made_screen(made, points=0))
    first, second = (next(line for line in lines if f"number {i}" in line) for i in range(2))
    assert first.index("\N{PLUS-MINUS SIGN}") == second.index("\N{PLUS-MINUS SIGN}")
    assert first.endswith(" !") and second.endswith("never !")
    legend = next(line for line in lines if "95% interval" in line)
    assert "!: only 4 clean runs (and 1 more reason); 1 thread: 3 ms" in legend


@pytest.mark.parametrize("level", ["reliable", "unusable"])
def test_what_is_not_to_be_believed_says_so_above_its_figures(level: str) -> None:
    shown = made_screen(matrix(2), points=0)
    text = "\n".join(first_lines(replace(shown, trust=Trust(level=level, sentence="Verdict."))))  # type: ignore[arg-type]
    assert (text.index("Verdict.") < text.index("First.")) == (level == "unusable")


def test_numbers_along_counted_levels_have_a_sparkline_on_one_scale_and_an_inconclusive_one_has_no_bar() -> None:
    wide = Estimate(value=2.0, low=0.5, high=9.0, n=5)
    cells = [[1.0, 2.0, 4.0], [1.0, None, 1.0]]
    rows = [
        MatrixRow(label=f"row {i}", cells=[MatrixCell(estimate=Estimate(x, x, x) if x else wide) for x in row])
        for i, row in enumerate(cells)
    ]
    shown = Matrix(title="speedup", columns=["2", "4", "8 threads"], rows=rows)
    ends = [line.rsplit("  ", 1)[-1] for line in first_lines(made_screen(shown))]
    assert "▁▅█" in ends and "▁ ▁" in ends
    flat = shown.model_copy(update={"columns": ["a", "b", "c"]})
    assert not any("▁" in line for line in first_lines(made_screen(flat)))
