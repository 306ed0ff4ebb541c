"""Pages beside the report: of published studies and of two results; nothing in them runs or is fetched."""

import io
import re
from dataclasses import replace
from pathlib import Path

import pytest
from rich.console import Console
from tests.kit import ROOT
from tests.unit.exchange.compare.made import source

from scalograph.cli.comparing import comparison_screen
from scalograph.exchange.compare.measured_source import MeasuredSource
from scalograph.exchange.compare.result_answer import compare_sources
from scalograph.protocol.reproduction import OUTCOMES, ReproducedPart, Reproduction
from scalograph.report.compared_page import page as compared_page
from scalograph.report.reproduction_page import page, render_reproduction, write
from scalograph.text.reproduced import (
    circumstances,
    columns,
    headline,
    part_verdicts,
    several,
    table_rows,
    unfinished_parts,
)

EXAMPLES = ROOT / "protocol" / "examples" / "reproduction.jsonl"
HOSTILE = "</style><script>alert(1)</script>\x1b[2J"


@pytest.fixture(scope="module")
def made() -> list[Reproduction]:
    return [Reproduction.model_validate_json(line) for line in EXAMPLES.read_text(encoding="utf-8").splitlines()]


def test_it_counts_claims_and_tells_how_far_parts_can_be_believed(made: list[Reproduction]) -> None:
    assert headline(made[0]).startswith("1 of 9 claims of two published studies holds on this machine, 1 exceeded, ")
    assert ", 1 does not, 1 moot, 1 built in, 1 not testable here, " in headline(made[0])
    assert sum(made[0].counts().values()) == 9 and several(made[0]) == "S0-4a and S0-4b"
    kinds, rows = columns(made[0]), table_rows(made[0])
    assert [label for label, _ in rows] == ["S0 thread-scaling", "S1 cpu-surface", "all"]
    assert all(len(numbers) == 1 + len(kinds) and numbers[0] == sum(numbers[1:]) for _, numbers in rows)
    assert part_verdicts(made[0].parts) == "1 part reliable, 1 part with caution" and part_verdicts(made[1].parts) == ""
    assert unfinished_parts(made[1].parts) == [
        ("begun", "thread-scaling-paper"),
        ("not run", "thread-cliff: the budget has 2 s left, it takes at most 3 min"),
    ]
    parts = [ReproducedPart(study=name, of="S0", state="skipped", why="no JVM") for name in "abcde"]
    assert unfinished_parts(parts) == [("skipped", "a, b, c and 2 more: no JVM")]


def test_the_page_holds_every_claim_once_and_is_the_same_bytes_again(made: list[Reproduction], tmp_path: Path) -> None:
    text = page(made[0])
    claims = {claim.id: claim for study in made[0].studies for claim in study.claims}
    assert re.findall(r'<li class="published-claim [a-z-]+" id="claim-([^"]+)"', text) == list(claims)
    assert {claim.outcome for claim in claims.values()} == set(OUTCOMES)
    for claim in claims.values():
        item = text.split(f'id="claim-{claim.id}"')[1].split("</li>")[0]
        assert claim.sentence in item and f"<span>{claim.outcome}</span>" in item and claim.why in item
    assert text.count('class="claim-picture"') == 3
    assert 'href="thread-scaling-paper/report.html"' in text and 'href="smt-inflation' not in text
    for name in ("a.html", "b.html"):
        write(made[0], tmp_path / name)
    assert (tmp_path / "a.html").read_bytes() == (tmp_path / "b.html").read_bytes()
    assert (tmp_path / "a.html").stat().st_size < 100_000


def test_the_page_begins_with_a_bar_for_each_study(made: list[Reproduction]) -> None:
    text = page(made[0])
    bars = re.findall(
        r"<li><a href=.#study-(\w+).>.*?</a><svg viewBox=.0 0 (\d+) 1.*?>(.*?)</svg><span class=.note.>(.*?)<", text
    )
    assert [(name, int(total)) for name, total, *_ in bars] == [("S0", 2), ("S1", 7)]
    for start in (".outcomes .", ".published-claim."):
        colored = {kind for kind in OUTCOMES if re.search(rf"\{start}{kind.replace(' ', '-')}[, ]", text)}
        assert colored == {"holds", "exceeds", "demonstration", "does not hold", "inconclusive"}
    for (_, _, drawn, counted), study in zip(bars, made[0].studies, strict=True):
        kinds = [kind.replace("-", " ") for kind in re.findall('class="([a-z-]+)"', drawn)]
        assert sorted(kinds) == sorted({*study.outcomes.values()})
        assert all(f" 1 {kind}" in counted for kind in kinds)
    assert text.index("outcomes") < text.index('id="counts-caption"')


KINDS = {"since": 7, "host": 2, "built": 1, "unknown": 1}
WHY = "Why 11 do not hold: 7 systems have changed since, 2 due to this machine, 1 built otherwise here, 1 unknown."


def test_why_claims_do_not_hold_is_counted_and_said_beside_each(made: list[Reproduction]) -> None:
    document = made[0].model_copy(deep=True)
    first, second = document.studies
    (failed,) = [claim for claim in first.claims if claim.outcome == "does not hold"]
    assert failed.decided
    first.claims, first.outcomes, document.studies = [], {}, [first, second]
    for n, kind in enumerate(kind for kind, times in KINDS.items() for _ in range(times)):
        own = failed.decided.model_copy(update={"reason_kind": kind, "reason": f"evidence {n}"})
        # Of a claim with two parts the one that holds says nothing.
        first.claims += [
            failed.model_copy(update={"id": f"S0-{n}a", "number": f"S0-{n}", "outcome": "holds"}),
            failed.model_copy(update={"id": f"S0-{n}b", "number": f"S0-{n}", "decided": own, "contradicts": []}),
        ]
        first.outcomes[f"S0-{n}"] = "does not hold"
    console = Console(file=io.StringIO(), width=80)
    render_reproduction(document, console, [])
    text = page(document)
    assert WHY in " ".join(console.file.getvalue().split())  # type: ignore[attr-defined]
    assert f"<p>{WHY}</p>" in text and text.index(WHY) < text.index('class="verdict ')
    assert reason_of(text, "S0-0b") == ["Reason: systems have changed since: evidence 0."]
    assert reason_of(text, "S0-8b") == ["Reason: due to this machine: evidence 8."]
    assert reason_of(text, "S0-10b") == ["Reason: unknown: evidence 10."]


def test_parts_that_contradict_each_other_say_so_on_both(made: list[Reproduction]) -> None:
    text = page(made[0])
    assert "It and S1-9 came out differently, and should not." in reason_of(text, "S0-4a")
    assert reason_of(text, "S1-9") == ["It and S0-4a came out differently, and should not."]
    assert not any("differently" in line for line in reason_of(text, "S0-1"))


def reason_of(text: str, claim: str) -> list[str]:
    return re.findall(r'<p class="why">(.*?)</p>', text.split(f'id="claim-{claim}"')[1].split("</li>")[0])


def test_a_decided_claim_says_where_its_runs_are_not_to_be_believed(made: list[Reproduction]) -> None:
    document = made[0].model_dump(mode="json")
    document["parts"][0]["trust"] = {"level": "unusable", "sentence": "Most runs were disturbed."}
    text = page(Reproduction.model_validate(document))
    item = text.split('id="claim-S0-1"')[1].split("</li>")[0]
    assert "<strong>UNUSABLE</strong>: Most runs were disturbed." in item
    assert "disturbed" not in text.split('id="claim-S1-11"')[1].split("</li>")[0]


def test_nothing_in_a_document_can_run_or_be_fetched(made: list[Reproduction]) -> None:
    document = made[0].model_dump(mode="json")
    document["studies"][0] |= {"title": HOSTILE, "line": HOSTILE, "id": "S0"}
    document["studies"][0]["claims"][0] |= {"sentence": HOSTILE, "why": HOSTILE}
    document["parts"][0] |= {"command": HOSTILE, "title": HOSTILE, "why": HOSTILE}
    text = page(Reproduction.model_validate(document))
    assert "<script" not in text and "\x1b" not in text and "script-src" not in text
    assert "default-src 'none'; style-src 'nonce-" in text
    links = re.findall(r'href="([^"]*)"', text)
    assert links and all(link.startswith("#") or re.fullmatch(r"[a-z0-9-]+/report\.html", link) for link in links)


@pytest.mark.parametrize("n_parts", [1, 40])
def test_the_terminal_shows_a_screen_of_it(made: list[Reproduction], n_parts: int) -> None:
    parts = [ReproducedPart(study=f"part-{i}", of="S0", state="failed", why=f"{i} " * 60) for i in range(n_parts)]
    studies = [*made[0].studies, *(made[1].studies * 3)]
    console = Console(file=io.StringIO(), width=80)
    document = made[0].model_copy(update={"parts": parts, "studies": studies})
    render_reproduction(document, console, [("page", "results/reproduce.html")])
    lines = console.file.getvalue().splitlines()  # type: ignore[attr-defined]
    assert len(lines) <= 25 and max(map(len, lines)) <= 80 and lines[-1].split() == ["page", "results/reproduce.html"]
    heads = next(line for line in lines if line.split()[:1] == ["claims"])
    assert heads.split() == ["claims", "holds", "ceeds", "not", "moot", "stration", "clusive", "tested"]
    assert "Why 1 does not hold: 1 systems have changed since." in lines[:4]
    cut = [line.split()[-3:] for line in lines if line.endswith("\N{HORIZONTAL ELLIPSIS}")]
    assert cut and all(last == before for before, last, _ in cut)  # no word is


def test_a_reproduction_of_nothing_is_shown_as_such(made: list[Reproduction]) -> None:
    console = Console(file=io.StringIO(), width=100)
    render_reproduction(made[0].model_copy(update={"studies": [], "parts": []}), console, [])
    assert "claims" in console.file.getvalue()  # type: ignore[attr-defined]


@pytest.mark.parametrize("ended", ["2026-11-23", "0001-01-01T00:00:00+14:00", "9999-12-31T23:59:59-14:00", "soon"])
def test_a_time_that_is_none_is_left_out(made: list[Reproduction], ended: str) -> None:
    assert circumstances(made[0].model_copy(update={"ended": ended}))


CURVE = {1: 8.0, 2: 4.2, 4: 2.3, 8: 1.4}


def compared(old: MeasuredSource, new: MeasuredSource) -> str:
    found = compare_sources(old, [new])
    return compared_page(found.results[0], comparison_screen(found, [old.label, new.label]))


def test_both_curves_and_their_ratio_are_drawn_and_what_comes_from_outside_is_text() -> None:
    text = compared(source("old", CURVE), source("new", {n: 1.1 * t for n, t in CURVE.items()}))
    assert len(re.findall(r'<svg viewBox="0 0 560', text)) == 2 and "<script" not in text
    assert "new is slower than old: 10.00% more time" in text and 'class="verdict unusable"' in text
    assert text.count("<tr>") >= len(CURVE)
    assert text == compared(source("old", CURVE), source("new", {n: 1.1 * t for n, t in CURVE.items()}))
    hostile = replace(source("<b>old", CURVE, levels={"<i>": "<u>"}), title="<script>alert(1)</script>")
    text = compared(hostile, source("new", CURVE, levels={"<i>": "<u>"}))
    assert "<script" not in text and "<b>old" not in text and "<u>" not in text
