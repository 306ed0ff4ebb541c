"""Published claims and figures as they are drawn: a row with its decision, a picture, dotted lines with rings."""

import re
from typing import Any, get_args
from xml.etree import ElementTree

from tests.kit import samples

from scalograph.analysis.estimate import Estimate
from scalograph.protocol.findings import Findings
from scalograph.protocol.published_claim import ClaimValue, DecidedClaim, Decision, PublishedCurve, PublishedPoint
from scalograph.report.claim_rows import HEAD, PUBLISHED, ROW, WIDTH, claim_picture, claim_rows
from scalograph.report.first_chart import first_chart, pictures
from scalograph.report.html import page
from scalograph.report.payload import payload
from scalograph.text.reproduced import MOST_TOLD

THREE = [("2 threads", 1.81, 1.9), ("8 threads", 1.6, 1.85), ("128 threads", 1.86, 1.2)]


def claim(decision: Decision = "holds", **changed: object) -> DecidedClaim:
    """Three figures, two of them inside the range."""
    figures = [
        ClaimValue(
            label=label, published=told, published_low=told * 0.99, published_high=told * 1.01,
            here=Estimate(here, here - 0.05, here + 0.05, n=5), decision="holds" if here > 1.6 else "does not hold",
        )
        for label, told, here in THREE
    ]  # fmt: skip
    fields = {"id": "S0-2", "sentence": "Twice.", "quantity": "wall time", "low": 1.6, "high": 2.1, "figures": figures}
    return DecidedClaim.model_validate(fields | {"decision": decision} | changed)


def svg(one: DecidedClaim) -> ElementTree.Element:
    return ElementTree.fromstring(claim_picture(one))


def texts(one: DecidedClaim) -> list[str]:
    return [node.text or "" for node in svg(one).iter("text")]


def places(one: DecidedClaim, color: str) -> list[float]:
    """Where the marks of a color stand from the left."""
    paths = [node.attrib for node in svg(one).iter("path") if node.get("stroke") == f"var(--{color})"]
    mark = r"M([\d.]+) \d+v8" if color == "ink" else r"M([\d.]+) \d+h0"
    return [float(x) for path in paths for x in re.findall(mark, path["d"])]


def test_both_figures_stand_at_their_values_beside_the_band_and_the_numbers() -> None:
    told, here = places(claim(), "ink"), places(claim(), "line-0")
    assert told[1] < told[0] < told[2] and here[2] < told[1] < here[1] < here[0]
    assert len(told) == len(here) == len(THREE)
    band = next(node for node in svg(claim()).iter("path") if node.get("fill") == "var(--muted)").get("d", "")
    left, right = map(float, re.findall(r"[MH]([\d.]+)", band)[:2])
    assert left < places(claim(), "line-0")[0] < right and places(claim(), "line-0")[2] < left
    assert "fill-opacity" not in claim_picture(claim(low=None, high=None))
    found = texts(claim())
    assert {"2 threads", "1.81", "1.90 \N{PLUS-MINUS SIGN}3%", "\N{CHECK MARK}", "\N{MULTIPLICATION X}"} <= {*found}
    assert "\N{CHECK MARK}" not in texts(claim("not comparable"))


def test_wide_intervals_zeros_and_many_figures_stay_inside_the_frame() -> None:
    odd = [
        ClaimValue(label="", published=0.0, here=Estimate(0.0, -1e9, 1e9, n=2), decision="inconclusive"),
        ClaimValue(label="x" * 200, here=Estimate(2.0, 0.1, 1e12, n=2), decision="inconclusive"),
    ]
    for low, high in ((0.0, None), (None, 0.0), (None, None)):
        drawn = claim_picture(claim(low=low, high=high, figures=odd))
        assert all(0 <= float(x) <= WIDTH - PUBLISHED for x in re.findall(r"[MH](-?[\d.]+)", drawn))
        assert "nan" not in drawn and "inf" not in drawn
    wide = [ClaimValue(label=f"{n}", published=float(n), decision="not measured") for n in (1, 10, 100)]
    a, b, c = places(claim(low=None, high=None, figures=wide), "ink")
    assert abs((b - a) - (c - b)) < 0.2
    many = [ClaimValue(label=f"{n} tasks", published=1.0, decision="holds") for n in range(40)]
    many[38] = many[38].model_copy(update={"decision": "does not hold"})
    found = texts(claim(figures=many))
    assert "38 tasks" in found and f"{MOST_TOLD} of 40 figures" in found
    assert float(svg(claim(figures=many)).get("viewBox", "").split()[3]) < HEAD + ROW * (MOST_TOLD + 1)
    assert claim_picture(claim(figures=[])) == ""
    assert claim_picture(claim(figures=[ClaimValue(label="a", decision="not measured")])) == ""


def test_each_row_says_its_decision_between_answer_and_figures() -> None:
    rows = claim_rows([claim(decision) for decision in get_args(Decision)])
    assert [row.claim.decision for row in rows] == list(get_args(Decision))
    assert "2 threads: published 1.81, here 1.90 [1.85, 1.95], holds" in rows[0].words
    assert all(row.sign and row.style in row.claim.decision.replace(" ", "-") for row in rows)
    assert rows[0].borne_out == "holds: 1.6 to 2.1"
    hostile = "<script>alert(1)</script>"
    found = samples.small().model_copy(update={"published_claims": [claim("inconclusive", sentence=hostile)]})
    html = page(found)
    assert html.index('id="answer"') < html.index('id="published"') < html.index('id="figures"')
    assert "The one published claim is inconclusive." in html
    assert hostile not in html and "&lt;script&gt;" in html
    assert 'id="published"' not in page(samples.small())


def published(findings: Findings, *speedups: float, label: str = "") -> Findings:
    """The findings with so many published curves beside the first one, each the same at every level."""
    curve = findings.curves[0]
    curves = [
        PublishedCurve(
            label=label, group=curve.group, factor=curve.factor,
            points=[PublishedPoint(level=p.level, values={"speedup": speedup}) for p in curve.points],
        )
        for speedup in speedups
    ]  # fmt: skip
    return findings.model_copy(update={"published_curves": curves})


def family(findings: Findings) -> dict[str, Any]:
    (found,) = payload(findings)["families"]
    return dict(found)


def test_they_stand_on_the_curve_of_the_same_levels_each_paper_by_itself() -> None:
    found = family(published(samples.small(), 1.5, label="XP"))
    first, *others = found["curves"]
    (line,) = printed(first)
    assert (line["measure"], line["traces"][0]["y"], line["reach"]) == ("speedup", [1.5] * 3, [1.5] * 4)
    assert line["traces"][0]["x"] == found["axis"]["at"][:3] and "published: XP" in line["traces"][0]["hovertext"][0]
    assert shown_papers(found) == {"published: XP": True} and not any(printed(curve) for curve in others)
    near, far = (published(samples.small(), y, label=label) for label, y in (("OS X", 1.5), ("XP", 500.0)))
    both = near.model_copy(update={"published_curves": [*near.published_curves, *far.published_curves]})
    assert shown_papers(family(both)) == {"published: OS X": True, "published: XP": False}
    first = first_chart(both, payload(both), [])
    assert first is not None and "published (OS X)" in first.note


def printed(curve: dict[str, Any]) -> list[dict[str, Any]]:
    return [one for one in curve["under"] if one["of"].startswith("p")]


def shown_papers(found: dict[str, Any]) -> dict[str, bool]:
    return {one["name"]: one["shown"] for one in found["under"] if "paper" in one}


def shown(findings: Findings) -> list[bool]:
    return list(shown_papers(family(findings)).values())


def test_they_are_shown_at_first_where_they_neither_crowd_nor_flatten() -> None:
    assert shown(published(samples.small(), 1.5)) == [True]
    assert shown(published(samples.small(), 1.5, 500.0)) == [False]
    assert shown(published(samples.small(), *[1.5] * 5)) == [False] and shown(samples.small()) == []
    findings = published(samples.small(), 1.5)
    first = first_chart(findings, payload(findings), [])
    assert first is not None and "dotted with bars: published" in first.note
    dotted = [trace for trace in first.data if trace["line"].get("dash") == "1px,3px"]
    assert [trace["y"] for trace in dotted] == [[1.5] * 3]
    assert 'stroke-dasharray="1 3"' in pictures(first)["wide"]
    findings = published(samples.small(), 500.0)
    first = first_chart(findings, payload(findings), [])
    assert first is not None and "published" not in first.note


def test_an_inconclusive_value_is_hollow_and_an_interval_that_goes_on_has_an_arrow() -> None:
    wide = ClaimValue(label="", published=2.0, here=Estimate(2.0, 0.1, 1e12, n=2), decision="inconclusive")
    assert len(places(claim(figures=[wide]), "paper")) == 1 and places(claim(), "paper") == []
    assert claim_picture(claim(figures=[wide])).count("m-3 -3l3 3l-3 3") == 1
    assert "m-3 -3l3 3l-3 3" not in claim_picture(claim())
