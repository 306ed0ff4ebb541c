"""What was published, in a real browser: claims in words and pictures, published curves that a click shows."""

from pathlib import Path
from typing import Any

import pytest

from scalograph.analysis.estimate import Estimate
from scalograph.protocol.published_claim import DECISIONS, ClaimValue, DecidedClaim, PublishedCurve, PublishedPoint
from tests.end_to_end.test_report_browser import CONTRAST, SPEEDUP, Visit, report
from tests.kit import samples
from tests.kit.samples import HOSTILE

__all__ = ["report"]
pytestmark = pytest.mark.xdist_group("browser")


def claims() -> list[DecidedClaim]:
    """One of each decision, with a long label and a sentence that is markup."""
    figures = [
        ClaimValue(label=label, published=told, here=Estimate(here, here * 0.9, here * 1.1, n=5), decision="holds")
        for label, told, here in (("2 threads", 1.8, 1.9), ("a lock of many words, 128 threads", 1.6, 0.2))
    ]
    return [
        DecidedClaim(
            id=f"S-{i}", sentence=f"Twice as fast {HOSTILE}", place="table 7", quantity="wall time " * 12, low=1.6,
            figures=figures, decision=decision, why="it needs 16 CPUs" if i > 1 else "",
        )
        for i, decision in enumerate(DECISIONS)
    ]  # fmt: skip


@pytest.fixture
def made(report: Any) -> Path:
    findings = samples.small()
    curve = findings.curves[0]
    points = [PublishedPoint(level=point.level, values={"speedup": 1.5}) for point in curve.points]
    beside = [PublishedCurve(label=HOSTILE, group=curve.group, factor=curve.factor, points=points)]
    return Path(report(findings.model_copy(update={"published_claims": claims(), "published_curves": beside})))


def test_claims_are_told_in_words_at_any_width(browser: Any, made: Path) -> None:
    with Visit(browser, made, in_view=None) as visit:
        for width, scheme in ((1600, "light"), (400, "dark")):
            visit.page.set_viewport_size({"width": width, "height": 900})
            visit.page.emulate_media(color_scheme=scheme)
            rows = visit.page.locator(".published-claim")
            told = [text.split("\n")[-1] for text in rows.locator(".decision").all_inner_texts()]
            assert told == list(DECISIONS)
            label = str(rows.first.locator(".claim-picture").get_attribute("aria-label"))
            assert "2 threads: published 1.8, here 1.90 [1.71, 2.09], holds" in label
            assert visit.overflow() <= 0 and visit.page.evaluate(CONTRAST) == [] and visit.is_quiet()
            boxes = [box for picture in rows.locator("svg").all() if (box := picture.bounding_box())]
            assert len(boxes) == len(DECISIONS) and all(box["x"] + box["width"] <= width for box in boxes)


def test_the_claims_stand_below_the_first_figure(browser: Any, made: Path, report: Any) -> None:
    top = "document.querySelector('#first-figure').getBoundingClientRect().top"
    with Visit(browser, made, in_view=None) as visit:
        with_claims = visit.page.evaluate(top)
        assert visit.page.evaluate(f"document.querySelector('#published').getBoundingClientRect().top > {top}")
    with Visit(browser, Path(report(samples.small())), in_view=None) as visit:
        assert visit.page.evaluate(top) == with_claims


def test_a_click_hides_the_published_curves(browser: Any, made: Path) -> None:
    rings = "document.querySelectorAll('figure[id$=-speedup] .plot')[0].data.filter((t) => t.line?.dash === '1px,3px')"
    with Visit(browser, made, in_view=SPEEDUP) as visit:
        button = visit.page.locator(".legend.laws button", has_text="published")
        assert button.get_attribute("aria-pressed") == "true"
        assert visit.page.evaluate(f"{rings}.map((t) => t.y)") == [[1.5, 1.5, 1.5]]
        button.click()
        visit.page.wait_for_function(f"{rings}.length === 0")
        assert "under=" in visit.page.evaluate("location.hash")
        assert visit.is_quiet()
