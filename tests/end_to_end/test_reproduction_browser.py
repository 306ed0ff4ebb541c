"""The page of published studies in a real browser: quiet, readable at any width, in both schemes and on paper."""

from collections.abc import Iterator
from contextlib import contextmanager
from itertools import pairwise, product
from pathlib import Path
from typing import Any

import pytest

from scalograph.protocol.reproduction import Reproduction
from scalograph.report.reproduction_page import write
from scalograph.text.reproduction_words import COLUMNS
from tests.end_to_end.test_report_browser import CONTRAST
from tests.kit import ROOT

pytestmark = pytest.mark.xdist_group("browser")
EXAMPLES = ROOT / "protocol" / "examples" / "reproduction.jsonl"
OVER = "document.documentElement.scrollWidth - document.documentElement.clientWidth"
LONG = "A sentence that " + "w" * 120 + " does not end. " + "It goes on and on. " * 30


@pytest.fixture(scope="module")
def file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    document = Reproduction.model_validate_json(EXAMPLES.read_text(encoding="utf-8").splitlines()[0])
    document.studies[1].claims[-1].sentence = document.studies[1].claims[-1].why = LONG
    document.parts[2].why = LONG
    path = tmp_path_factory.mktemp("reproduced") / "reproduce.html"
    write(document, path)
    return path


@contextmanager
def visited(browser: Any, file: Path, **options: Any) -> Iterator[Any]:
    """The page, which must complain of nothing and ask for nothing but itself."""
    context, heard = browser.new_context(**options), list[str]()
    page = context.new_page()
    page.on("console", lambda message: heard.append(message.text))
    page.on("request", lambda request: heard.append(request.url))
    page.goto(file.as_uri())
    yield page
    assert heard == [file.as_uri()]
    context.close()


def test_it_is_readable_at_any_width_in_both_schemes(browser: Any, file: Path) -> None:
    with visited(browser, file, viewport={"width": 400, "height": 900}, color_scheme="dark") as page:
        for scheme, width in product(("dark", "light"), (400, 1000, 1600)):
            page.emulate_media(color_scheme=scheme)
            page.set_viewport_size({"width": width, "height": 900})
            assert page.evaluate("innerWidth") == width
            assert page.evaluate(OVER) <= 0
            assert page.evaluate(CONTRAST) == []
            assert page.locator(".claim-picture svg").count() == 3


def test_the_first_screen_has_the_count_the_verdict_and_the_table(browser: Any, file: Path) -> None:
    with visited(browser, file, viewport={"width": 1600, "height": 1000}) as page:
        for what in (".claim", ".verdict", "#counts table"):
            box = page.locator(what).first.bounding_box()
            assert box["y"] + box["height"] <= 1000 and box["width"] > 0
        assert page.locator("#counts tbody tr").count() == 3


def test_counts_of_every_outcome_stand_beside_the_verdict(browser: Any, tmp_path: Path) -> None:
    document = Reproduction.model_validate_json(EXAMPLES.read_text(encoding="utf-8").splitlines()[0])
    document.studies[0].outcomes = {f"S0-{n}": outcome for n, outcome in enumerate(COLUMNS)}
    write(document, tmp_path / "page.html")
    with visited(browser, tmp_path / "page.html", viewport={"width": 1300, "height": 900}) as page:
        assert page.locator("#counts thead th").count() == 2 + len(COLUMNS)
        assert page.evaluate("(e => e.scrollWidth - e.clientWidth)(document.querySelector('#counts .scroll'))") == 0


def test_links_of_the_table_lead_to_the_studies(browser: Any, file: Path) -> None:
    with visited(browser, file, java_script_enabled=False, viewport={"width": 1600, "height": 900}) as page:
        page.locator("#counts tbody a").nth(1).click()
        assert page.url.endswith("#study-S1")
        heading = page.locator("#study-S1 h2")
        for _ in range(50):  # it may scroll smoothly, and without a script nothing tells when it is there
            if heading.bounding_box()["y"] < 400:
                break
            page.wait_for_timeout(100)
        assert heading.bounding_box()["y"] < 400


def test_headings_lists_and_names_are_in_order(browser: Any, file: Path) -> None:
    with visited(browser, file) as page:
        levels = page.eval_on_selector_all("h1,h2,h3,h4", "all => all.map((h) => Number(h.tagName[1]))")
        assert levels[0] == 1 and all(b - a <= 1 for a, b in pairwise(levels))
        ids = page.eval_on_selector_all("[id]", "all => all.map((node) => node.id)")
        assert len(ids) == len(set(ids))
        named = page.eval_on_selector_all("[role=img]", "all => all.every((node) => node.ariaLabel)")
        assert named and page.locator("html[lang=en]").count() == 1
        assert page.locator("main, header, footer, nav").count() == 4


def test_paper_shows_every_claim(browser: Any, file: Path, tmp_path: Path) -> None:
    with visited(browser, file, color_scheme="dark", viewport={"width": 794, "height": 1100}) as page:
        page.emulate_media(media="print", color_scheme="dark")
        assert not page.locator("nav").is_visible()
        assert all(one.is_visible() for one in page.locator(".published-claim").all())
        assert page.evaluate(CONTRAST) == [] and page.evaluate(OVER) <= 0
        page.pdf(path=tmp_path / "page.pdf", prefer_css_page_size=True)
        assert (tmp_path / "page.pdf").stat().st_size > 10_000
