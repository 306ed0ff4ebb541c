"""Pages in a real browser: one class that opens, turns, prints and reads them, whatever is on them."""

import re
from collections.abc import Callable, Mapping
from functools import cache
from pathlib import Path
from typing import Any

from scalograph.cli.analyze_steps import draw_charts
from scalograph.protocol.findings import Findings
from scalograph.report.html import write

WIDTH = 1600
NARROW = 400
WIDE = {"width": WIDTH, "height": 900}
# Figures that a page may have in view alone.
FIRST = ".family > .measures > figure:first-of-type"  # not the first of those that are folded
WALL, SPEEDUP = "#figure-along-0-response-wall", "#figure-along-0-speedup"

# Scripts for `Visit`: texts of too little contrast, the same page in view, whether its figures are those of now.
CONTRAST, IN_VIEW, AS_NOW = (
    Path(__file__).with_name("page").joinpath(f"{name}.js").read_text(encoding="utf-8")
    for name in ("contrast", "in_view", "as_now")
)
OVERFLOW = "document.documentElement.scrollWidth - document.documentElement.clientWidth"


def write_page(folder: Path, findings: Findings) -> Path:
    """Write the report of findings with its charts."""
    write(findings, draw_charts(findings), folder / "report.html")
    return folder / "report.html"


@cache
def shared(browser: Any) -> Any:
    """The context of all pages that need no other: to make one takes longer than to open a page."""
    return browser.new_context()


class Visit:
    """One page, opened; whatever it complained about or asked for is kept.

    in_view: a selector of the figures that are drawn; where None, those that are really in view.
    options: of a context of its own.
    """

    def __init__(
        self, browser: Any, path: Path, in_view: str | None = "html", viewport: Mapping[str, int] = WIDE,
        color_scheme: str = "light", is_report: bool = True, **options: Any,
    ) -> None:  # fmt: skip
        self.shape = (viewport["width"], color_scheme)
        self.own = browser.new_context(**options) if options else None
        self.context = self.own or shared(browser)
        self.page = self.context.new_page()
        self.page.set_viewport_size(viewport)
        self.page.emulate_media(color_scheme=color_scheme)
        if in_view:
            self.page.add_init_script(IN_VIEW % in_view)
        self.complaints, self.requests = list[str](), list[str]()
        self.page.on("console", lambda message: self.complaints.append(message.text))
        self.page.on("pageerror", lambda e: self.complaints.append(str(e)))
        self.page.on("dialog", self._refuse)
        self.page.on("request", lambda r: self.requests.append(r.url))
        self.page.goto(path.as_uri())
        if is_report and options.get("java_script_enabled", True):
            self.page.wait_for_selector("html[data-drawn]", timeout=120_000)

    def _refuse(self, dialog: Any) -> None:
        self.complaints.append(f"dialog {dialog.message}")
        dialog.dismiss()

    def __enter__(self) -> "Visit":
        return self

    def __exit__(self, *_: object) -> None:
        (self.own or self.page).close()

    def find(self, selector: str, **has: Any) -> Any:
        """Locate what a selector names."""
        return self.page.locator(selector, **has)

    def count(self, selector: str) -> int:
        return int(self.find(selector).count())

    def text(self, selector: str) -> str:
        """Return the text of the first that a selector names."""
        return str(self.find(selector).first.inner_text())

    def texts(self, selector: str) -> list[str]:
        return list(self.find(selector).all_inner_texts())

    def run(self, script: str) -> Any:
        """Return what a script on the page comes to."""
        return self.page.evaluate(script)

    def each(self, selector: str, script: str) -> list[Any]:
        """Return what a function of a node, `p`, comes to for each that a selector names."""
        return list(self.find(selector).evaluate_all(f"all => all.map((p) => {script})"))

    def chooser(self, label: str) -> Any:
        """Locate the first select with this label."""
        return self.find(f"label.choice:has(> span:text-is('{label}')) > select").first

    def unfold(self, place: str, until: str = "tbody tr") -> None:
        """Open what is folded first there, and wait for what is in it: a browser tells of that later."""
        self.find(f"{place} summary").first.click()
        self.find(f"{place} {until}").first.wait_for()

    def download(self, button: Any) -> bytes:
        """Return the file that a button gives."""
        with self.page.expect_download() as download:
            button.press("Enter")
        return Path(download.value.path()).read_bytes()

    def turn(self, width: int = WIDTH, scheme: str = "light") -> "Visit":
        """The same page at this width and in this scheme, with all its figures drawn again."""
        if (width, scheme) != self.shape:
            self.shape = (width, scheme)
            self.page.emulate_media(color_scheme=scheme)
            self.page.set_viewport_size({"width": width, "height": 900})
            self.page.wait_for_function(AS_NOW)
        return self

    def print(self) -> "Visit":
        """The same page on paper, in its scheme."""
        self.page.emulate_media(media="print", color_scheme=self.shape[1])
        self.page.wait_for_selector("html.printing", state="attached")
        return self

    def is_quiet(self) -> bool:
        """Whether it complained of nothing and asked for nothing from outside."""
        outside = [url for url in self.requests if not url.startswith(("file:", "data:", "blob:"))]
        assert (self.complaints, outside) == ([], [])
        return True

    def is_within(self) -> bool:
        """Whether it is quiet, and no wider than its window."""
        assert self.run(OVERFLOW) == 0
        return self.is_quiet()

    def is_readable(self) -> bool:
        """Whether it is quiet, no wider than its window, and each text has contrast."""
        assert self.run(CONTRAST) == []
        return self.is_within()


Shown = Callable[..., Visit]


def brightest(fill: str) -> int:
    """Return the largest part of a color, rgb(r, g, b)."""
    return max(map(int, re.findall(r"\d+", fill)[:3]))
