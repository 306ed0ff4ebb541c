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
    first, *others = family(published(sample.small(), 1.5, label="XP"))["curves"]
    assert first["published"] == [{"name": "XP", "values": {"speedup": [[0, 1.5], [1, 1.5], [2, 1.5]]}}]
    assert not any(curve["published"] for curve in others)


def test_they_are_shown_at_first_where_they_neither_crowd_nor_flatten(sample: ModuleType) -> None:
    assert family(published(sample.small(), 1.5))["laws"]["published"] is True
    assert family(published(sample.small(), 1.5, 500.0))["laws"]["published"] is False
    assert family(published(sample.small(), *[1.5] * 5))["laws"]["published"] is False
    assert "published" not in family(sample.small())["laws"]


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
