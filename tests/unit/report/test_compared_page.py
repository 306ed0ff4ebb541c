"""The page of two results: both curves, their ratio, every configuration; no script, nothing from outside as markup."""

import re
from dataclasses import replace

from tests.unit.exchange.compare.made import source

from scalograph.cli.comparing import comparison_screen
from scalograph.exchange.compare.measured_source import MeasuredSource
from scalograph.exchange.compare.result_answer import compare_sources
from scalograph.report.compared_page import page

CURVE = {1: 8.0, 2: 4.2, 4: 2.3, 8: 1.4}


def made(old: MeasuredSource, new: MeasuredSource) -> str:
    found = compare_sources(old, [new])
    return page(found.results[0], comparison_screen(found, [old.label, new.label]))


def test_both_curves_and_their_ratio_are_drawn() -> None:
    text = made(source("old", CURVE), source("new", {n: 1.1 * t for n, t in CURVE.items()}))
    assert len(re.findall(r'<svg viewBox="0 0 560', text)) == 2 and "<script" not in text
    assert "new is slower than old: 10" in text and 'class="verdict reject"' in text
    assert text.count("<tr>") >= len(CURVE)
    assert text == made(source("old", CURVE), source("new", {n: 1.1 * t for n, t in CURVE.items()}))


def test_what_comes_from_outside_is_text() -> None:
    hostile = replace(source("<b>old", CURVE, levels={"<i>": "<u>"}), title="<script>alert(1)</script>")
    text = made(hostile, source("new", CURVE, levels={"<i>": "<u>"}))
    assert "<script" not in text and "<b>old" not in text and "<u>" not in text
