"""Published figures over measured curves: dotted lines with rings, shown at first where they fit."""

from typing import Any

from tests.kit import samples

from scalograph.protocol.findings import Findings
from scalograph.protocol.published_claim import PublishedCurve, PublishedPoint
from scalograph.report.first_chart import first_chart, pictures
from scalograph.report.payload import payload


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


def test_the_first_figure_has_them_dotted_unless_they_would_flatten_it() -> None:
    findings = published(samples.small(), 1.5)
    first = first_chart(findings, payload(findings), [])
    assert first is not None and "dotted with rings: published" in first.note
    dotted = [trace for trace in first.data if trace["line"].get("dash") == "1px,3px"]
    assert [trace["y"] for trace in dotted] == [[1.5] * 3]
    assert 'stroke-dasharray="1 3"' in pictures(first)["wide"]
    findings = published(samples.small(), 500.0)
    first = first_chart(findings, payload(findings), [])
    assert first is not None and "published" not in first.note
