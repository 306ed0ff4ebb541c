"""What was published, in a real browser: claims in words and pictures, published curves, the page of all studies."""

from collections.abc import Callable
from itertools import pairwise, product
from pathlib import Path
from typing import get_args

import pytest

from scalograph.analysis.estimate import Estimate
from scalograph.protocol.findings import Findings
from scalograph.protocol.published_claim import ClaimValue, DecidedClaim, Decision, PublishedCurve, PublishedPoint
from scalograph.protocol.reproduction import Reproduction
from scalograph.report.reproduction_page import write
from scalograph.text.reproduced import COLUMNS
from tests.kit import EXAMPLES, samples
from tests.kit.pages import CONTRAST, NARROW, OVERFLOW, SPEEDUP, WIDTH, Shown, Visit
from tests.kit.samples import HOSTILE

pytestmark = pytest.mark.xdist_group("browser")
LONG = "A sentence that " + "w" * 120 + " does not end. " + "It goes on and on. " * 30


@pytest.fixture
def published() -> Findings:
    """One claim of each decision, with a long label and a sentence that is markup, and a published curve."""
    figures = [
        ClaimValue(label=label, published=told, here=Estimate(here, here * 0.9, here * 1.1, n=5), decision="holds")
        for label, told, here in (("2 threads", 1.8, 1.9), ("a lock of many words, 128 threads", 1.6, 0.2))
    ]
    claims = [
        DecidedClaim(
            id=f"S-{i}", sentence=f"Twice as fast {HOSTILE}", place="table 7", quantity="wall time " * 12, low=1.6,
            figures=figures, decision=decision, why="it needs 16 CPUs" if i > 1 else "",
        )
        for i, decision in enumerate(get_args(Decision))
    ]  # fmt: skip
    findings = samples.small()
    curve = findings.curves[0]
    points = [PublishedPoint(level=point.level, values={"speedup": 1.5}) for point in curve.points]
    beside = [PublishedCurve(label=HOSTILE, group=curve.group, factor=curve.factor, points=points)]
    return findings.model_copy(update={"published_claims": claims, "published_curves": beside})


def test_claims_are_told_in_words_below_the_first_figure_at_any_width(visit: Shown, published: Findings) -> None:
    page = visit(published, in_view=None)
    # Below the first figure, which stands where it stands without them.
    top = "document.querySelector('#first-figure').getBoundingClientRect().top"
    assert page.run(f"document.querySelector('#published').getBoundingClientRect().top > {top}")
    assert visit(samples.small(), in_view=None).run(top) == page.run(top)
    for width, scheme in ((WIDTH, "light"), (NARROW, "dark")):
        page.page.set_viewport_size({"width": width, "height": 900})
        page.page.emulate_media(color_scheme=scheme)
        told = [text.split("\n")[-1] for text in page.texts(".published-claim .decision")]
        assert told == list(get_args(Decision))
        label = str(page.find(".published-claim .claim-picture").first.get_attribute("aria-label"))
        assert "2 threads: published 1.8, here 1.90 [1.71, 2.09], holds" in label
        assert page.is_readable()
        boxes = [box for picture in page.find(".published-claim svg").all() if (box := picture.bounding_box())]
        assert len(boxes) == len(get_args(Decision)) and all(box["x"] + box["width"] <= width for box in boxes)


def test_a_click_hides_the_published_curves(visit: Shown, published: Findings) -> None:
    rings = "document.querySelectorAll('figure[id$=-speedup] .plot')[0].data.filter((t) => t.line?.dash === '1px,3px')"
    page = visit(published, in_view=SPEEDUP)
    button = page.find(".legend.laws button", has_text="published")
    assert button.get_attribute("aria-pressed") == "true"
    assert page.run(f"{rings}.map((t) => t.y)") == [[1.5, 1.5, 1.5]]
    button.click()
    page.page.wait_for_function(f"{rings}.length === 0")
    assert "under=" in page.run("location.hash")
    assert page.is_quiet()


@pytest.fixture
def reproduced(visit: Shown, tmp_path: Path) -> Callable[..., Visit]:

    def opened(document: Reproduction, **options: object) -> Visit:
        write(document, tmp_path / "reproduce.html")
        page = visit(tmp_path / "reproduce.html", in_view=None, is_report=False, **options)
        assert page.requests == [(tmp_path / "reproduce.html").as_uri()]
        return page

    return opened


@pytest.fixture
def document() -> Reproduction:
    text = (EXAMPLES / "reproduction.jsonl").read_text(encoding="utf-8").splitlines()[0]
    found = Reproduction.model_validate_json(text)
    found.studies[1].claims[-1].sentence = found.studies[1].claims[-1].why = found.parts[2].why = LONG
    return found


def test_the_page_is_readable_at_any_width_in_both_schemes(reproduced: Shown, document: Reproduction) -> None:
    page = reproduced(document)
    for scheme, width in product(("dark", "light"), (NARROW, 1000, WIDTH)):
        page.page.emulate_media(color_scheme=scheme)
        page.page.set_viewport_size({"width": width, "height": 900})
        assert page.run("innerWidth") == width and page.is_readable()
        assert page.count(".claim-picture svg") == 3


def test_the_first_screen_has_the_count_the_verdict_and_the_table(reproduced: Shown, document: Reproduction) -> None:
    page = reproduced(document, viewport={"width": WIDTH, "height": 1000})
    for what in (".claim", ".verdict", "#counts table"):
        box = page.find(what).first.bounding_box()
        assert box["y"] + box["height"] <= 1000 and box["width"] > 0
    assert page.count("#counts tbody tr") == 3
    levels = page.each("h1,h2,h3,h4", "Number(p.tagName[1])")
    assert levels[0] == 1 and all(b - a <= 1 for a, b in pairwise(levels))
    ids = page.each("[id]", "p.id")
    assert len(ids) == len(set(ids))
    assert all(page.each("[role=img]", "p.ariaLabel"))
    assert page.count("html[lang=en]") == 1 and page.count("main, header, footer, nav") == 4
    assert page.is_quiet()


def test_counts_of_every_outcome_stand_beside_the_verdict(reproduced: Shown, document: Reproduction) -> None:
    document.studies[0].outcomes = {f"S0-{n}": outcome for n, outcome in enumerate(COLUMNS)}
    page = reproduced(document, viewport={"width": 1300, "height": 900})
    assert page.count("#counts thead th") == 2 + len(COLUMNS)
    assert page.each("#counts .scroll", "p.scrollWidth - p.clientWidth") == [0]
    assert page.is_quiet()


def test_links_of_the_table_lead_to_the_studies(reproduced: Shown, document: Reproduction) -> None:
    page = reproduced(document, java_script_enabled=False)
    page.find("#counts tbody a").nth(1).click()
    assert page.page.url.endswith("#study-S1")
    heading = page.find("#study-S1 h2")
    for _ in range(50):  # it may scroll smoothly, and without a script nothing tells when it is there
        if heading.bounding_box()["y"] < 400:
            break
        page.page.wait_for_timeout(100)
    assert heading.bounding_box()["y"] < 400
    assert page.is_quiet()


def test_paper_shows_every_claim(reproduced: Shown, document: Reproduction, tmp_path: Path) -> None:
    page = reproduced(document, color_scheme="dark", viewport={"width": 794, "height": 1100})
    page.page.emulate_media(media="print", color_scheme="dark")
    assert not page.find("nav").is_visible()
    assert all(one.is_visible() for one in page.find(".published-claim").all())
    assert page.run(CONTRAST) == [] and page.run(OVERFLOW) == 0
    page.page.pdf(path=tmp_path / "page.pdf", prefer_css_page_size=True)
    assert (tmp_path / "page.pdf").stat().st_size > 10_000
    assert page.is_quiet()
