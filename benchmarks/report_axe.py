"""Does axe find a fault of accessibility in reports of kept journals and a site of them, light and dark?

axe-core comes by npm into the cache, at a version and checksum that stand here.
"""

import argparse
import hashlib
import json
import os
import shutil
import subprocess
import sys
import tarfile
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from playwright.sync_api import Browser, sync_playwright

from scalograph.cli.analyze_steps import report

STUDIES = Path(__file__).parents[1] / "studies"
PACKAGE, SHA256 = "axe-core-4.14.1", "e6b0ce02b84d892e2e33e403485e7f3d6c29e2be6df65daf44d89ba564139745"
LOOKS = ((1600, "light"), (1600, "dark"), (800, "light"), (400, "light"), (400, "dark"))
RUN = "() => axe.run(document, {resultTypes: ['violations']}).then((result) => result.violations)"


def main() -> int:
    """Print a line for each page and look, then the faults; 1 if axe cannot be had."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="one page")
    parser.add_argument("--json", action="store_true")
    args = parser.parse_args()
    if (axe := _axe()) is None:
        return 1
    examples = sorted(STUDIES.glob("*/example"))[: 1 if args.quick else None]
    with sync_playwright() as play, tempfile.TemporaryDirectory() as scratch:
        browser = play.chromium.launch(executable_path="/usr/bin/chromium", args=["--no-sandbox"])
        for name, page in [*_reports(examples, Path(scratch)), *_kept_pages(), *_site(Path(scratch))]:
            for width, scheme in LOOKS:
                _tell(f"{name}: {width} px, {scheme}", _violations(browser, page, width, scheme, axe), args.json)
    return 0


def _axe() -> str | None:
    """The script, fetched once; None, with a message, where npm is missing or brings something else."""
    cache = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "scalograph" / "benchmarks"
    packed = cache / f"{PACKAGE}.tgz"
    if not packed.is_file() and not _fetched(cache):
        return None
    if hashlib.sha256(packed.read_bytes()).hexdigest() != SHA256:
        print(f"{packed}: another checksum than that of {PACKAGE}; remove it", file=sys.stderr)
        return None
    with tarfile.open(packed) as files:
        script = files.extractfile("package/axe.min.js")
        assert script is not None
        return script.read().decode()


def _fetched(cache: Path) -> bool:
    if shutil.which("npm") is None:
        print("npm: not found; install it with: apt-get install npm", file=sys.stderr)
        return False
    cache.mkdir(parents=True, exist_ok=True)
    name, _, version = PACKAGE.rpartition("-")
    pack = ["npm", "pack", "--silent", f"{name}@{version}"]
    return subprocess.run(pack, cwd=cache, check=False, stdout=sys.stderr).returncode == 0


def _reports(examples: list[Path], scratch: Path) -> Iterator[tuple[str, Path]]:
    for example in examples:
        folder = Path(shutil.copytree(example, scratch / example.parent.name))
        yield example.parent.name, report(folder)[1]


def _kept_pages() -> list[tuple[str, Path]]:
    return [(page.parent.name, page) for page in STUDIES.glob("reproduced/*.html")]


def _site(folder: Path) -> list[tuple[str, Path]]:
    """The index of a site over the reports that were made, and the page of one study."""
    pages = folder / "public"
    argv = [sys.executable, "-m", "scalograph", "site", str(folder), "--to", str(pages), "--reports", "1"]
    subprocess.run(argv, check=True, stdout=subprocess.DEVNULL)
    studies = sorted(page for page in pages.glob("*.html") if page.name != "index.html")
    return [("site", pages / "index.html"), (f"site: {studies[0].stem}", studies[0])]


def _violations(browser: Browser, path: Path, width: int, scheme: Any, axe: str) -> list[dict[str, Any]]:
    # The page's own policy lets no foreign script in.
    with browser.new_context(viewport={"width": width, "height": 1000}, color_scheme=scheme, bypass_csp=True) as here:
        page = here.new_page()
        page.goto(path.as_uri())
        page.evaluate("window.scrollTo(0, document.body.scrollHeight)")
        page.wait_for_timeout(500)
        page.evaluate(axe)
        found: list[dict[str, Any]] = page.evaluate(RUN)
        return found


def _tell(name: str, found: list[dict[str, Any]], as_json: bool) -> None:
    verdict = "MISSED" if found else "met"
    figure = {"name": name, "value": len(found), "unit": "violations", "verdict": verdict}
    print(json.dumps(figure) if as_json else f"{name:44} {len(found):>4} violations {verdict}", flush=True)
    for one in [] if as_json else found:
        print(f"    {one['id']}: {one['help']}; {one['nodes'][0]['html'][:100]}")


if __name__ == "__main__":
    sys.exit(main())
