"""The terminal: golden text, widths, and nothing that a name could smuggle in."""

import io
import os
from pathlib import Path

import pytest
from rich.cells import cell_len
from rich.console import Console
from tests.kit import samples

from scalograph.analysis.estimate import Estimate
from scalograph.protocol.findings import Column, DegradedRuns, Findings, TableDoc, Trust
from scalograph.report.screen import screen
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
    findings.trust = Trust(level="doubt", sentence="Be careful: 2 runs failed.", causes=["2 runs failed", "one cause"])
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
