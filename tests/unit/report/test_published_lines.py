"""Published figures over measured curves: dotted lines with rings, shown at first where they fit."""

from types import ModuleType
from typing import Any

from scalograph.protocol.findings import Findings
from scalograph.protocol.published_curve import PublishedCurve, PublishedPoint
from scalograph.report.first_figure import first_figure, pictures
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


def test_they_stand_on_the_curve_of_the_same_levels(sample: ModuleType) -> None:
    found = family(published(sample.small(), 1.5, label="XP"))
    first, *others = found["curves"]
    assert first["published"] == [{"paper": 0, "values": {"speedup": [[0, 1.5], [1, 1.5], [2, 1.5]]}}]
    assert found["papers"] == [{"name": "XP", "shown": True}]
    assert not any(curve["published"] for curve in others)


def shown(findings: Findings) -> list[bool]:
    return [paper["shown"] for paper in family(findings)["papers"]]


def test_they_are_shown_at_first_where_they_neither_crowd_nor_flatten(sample: ModuleType) -> None:
    assert shown(published(sample.small(), 1.5)) == [True]
    assert shown(published(sample.small(), 1.5, 500.0)) == [False]
    assert shown(published(sample.small(), *[1.5] * 5)) == [False]
    assert shown(sample.small()) == []


def test_each_paper_is_shown_and_hidden_by_itself(sample: ModuleType) -> None:
    near, far = (published(sample.small(), y, label=label) for label, y in (("OS X", 1.5), ("XP", 500.0)))
    both = near.model_copy(update={"published_curves": [*near.published_curves, *far.published_curves]})
    assert family(both)["papers"] == [{"name": "OS X", "shown": True}, {"name": "XP", "shown": False}]
    first = first_figure(both, payload(both), [])
    assert first is not None and "published (OS X)" in first.note


def test_the_first_figure_has_them_dotted_with_rings(sample: ModuleType) -> None:
    findings = published(sample.small(), 1.5)
    first = first_figure(findings, payload(findings), [])
    assert first is not None and "dotted with rings: published" in first.note
    dotted = [trace for trace in first.data if trace["line"].get("dash") == "1px,3px"]
    assert [trace["y"] for trace in dotted] == [[1.5] * 3]
    assert 'stroke-dasharray="1 3"' in pictures(first)["wide"]


def test_what_would_flatten_the_first_figure_is_left_out_of_it(sample: ModuleType) -> None:
    findings = published(sample.small(), 500.0)
    first = first_figure(findings, payload(findings), [])
    assert first is not None and "published" not in first.note
