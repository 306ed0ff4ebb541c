"""Does the first screen of the report of every kept journal hold the answer, and how soon is its figure there?

Of each kept journal: where the first figure and the end of the first screen stand at 1600 x 1000 and at 400 pixels, how
large the page is, when the figure is drawn with the CPU slowed four times, and the words of claim and verdict.
"""

import argparse
import json
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from playwright.sync_api import Browser, sync_playwright

from scalograph.cli.analyze_steps import report

STUDIES = Path(__file__).parents[1] / "studies"
SLOWED, MOST_BYTES, MOST_MS, SCREEN = 4, 900_000, 1000, 1000
Figure = dict[str, Any]
# When the figure first has a size, by the clock of the page.
DRAWN = """
const look = () => {
  const seen = [...document.querySelectorAll("#first-figure svg")].some((svg) => svg.getBoundingClientRect().height);
  if (seen) window.drawnAfter = performance.now();
  else requestAnimationFrame(look);
};
requestAnimationFrame(look);
"""
PLACES = """() => {
  const box = (what) => document.querySelector(what)?.getBoundingClientRect();
  const words = (what) => document.querySelector(what).innerText.split(/\\s+/).filter(Boolean).length;
  const over = document.documentElement.scrollWidth - document.documentElement.clientWidth;
  const [top, end] = [box("#first-figure")?.top ?? 0, box("nav.contents").bottom];
  return {top, end, over, claim: words(".claim"), verdict: words(".verdict")};
}"""


def main() -> None:
    """Print a line for each figure."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="one study")
    parser.add_argument("--json", action="store_true")
    args = parser.parse_args()
    examples = sorted(STUDIES.glob("*/example"))[: 1 if args.quick else None]
    with sync_playwright() as play, tempfile.TemporaryDirectory() as scratch:
        browser = play.chromium.launch(executable_path="/usr/bin/chromium", args=["--no-sandbox"])
        for example in examples:
            for figure in _figures(browser, example, Path(scratch)):
                shown = f"{figure['name']:60} {figure['value']:>10.0f} {figure['unit']:6} {figure['verdict']}"
                print(json.dumps(figure) if args.json else shown, flush=True)


def _figures(browser: Browser, example: Path, scratch: Path) -> Iterator[Figure]:
    name = example.parent.name
    folder = Path(shutil.copytree(example, scratch / name))
    (folder / "report.html").unlink(missing_ok=True)
    _, page = report(folder)
    wide, narrow = (_visit(browser, page, width) for width in (1600, 400))
    wide["ms"] = min(wide["ms"], *(_visit(browser, page, 1600)["ms"] for _ in range(2)))  # others use the machine, too
    yield _figure(f"{name}: page", page.stat().st_size, "bytes", page.stat().st_size < MOST_BYTES)
    yield _figure(f"{name}: first figure at 1600 px, top", wide["top"], "px")
    yield _figure(f"{name}: first screen at 1600 px, end", wide["end"], "px", wide["end"] <= SCREEN)
    yield _figure(f"{name}: first figure at 400 px, top", narrow["top"], "px")
    yield _figure(f"{name}: wider than 400 px", narrow["over"], "px", narrow["over"] <= 0)
    yield _figure(f"{name}: first figure, CPU slowed {SLOWED} times", wide["ms"], "ms", wide["ms"] < MOST_MS)
    yield _figure(f"{name}: claim", wide["claim"], "words")
    yield _figure(f"{name}: verdict", wide["verdict"], "words")


def _figure(name: str, value: float, unit: str, is_met: bool | None = None) -> Figure:
    return {"name": name, "value": value, "unit": unit, "verdict": {None: "", True: "met", False: "MISSED"}[is_met]}


def _visit(browser: Browser, path: Path, width: int) -> dict[str, float]:
    with browser.new_context(viewport={"width": width, "height": SCREEN}) as context:
        page = context.new_page()
        page.add_init_script(DRAWN)
        context.new_cdp_session(page).send("Emulation.setCPUThrottlingRate", {"rate": SLOWED})
        page.goto(path.as_uri())
        page.wait_for_selector("html[data-drawn]")
        found: dict[str, float] = page.evaluate(PLACES)
        return found | {"ms": page.evaluate("window.drawnAfter")}


if __name__ == "__main__":
    main()
