"""What commands without a journal of their own print: comparisons, an imported result, a reproduction."""

import gzip
import json
import shutil
from html.parser import HTMLParser
from pathlib import Path
from typing import Any, NamedTuple

from tests.golden.command import scalograph
from tests.golden.kept import FOLDER

RECORDED = FOLDER.parent / "recorded"
GOLDENS = FOLDER / "answers"
# The margin of a comparison would else be the noise floor of this machine.
_MARGIN = ("--margin", "2%")
COMMANDS: dict[str, tuple[str, ...]] = {
    "compare": ("compare", "history/first", "history/third", "--tables", *_MARGIN),
    "compare-several": ("compare", "history/first", "history/second", "history/third", *_MARGIN),
    "history": ("history", "history", "--tables"),
    "import": ("import", "jmh", "jmh-fork-join.json", "--tables"),
    "reproduction": ("report", "reproduced"),
}


class Answer(NamedTuple):
    """What a command prints, the document that it prints with --json, and the text of the page that it writes."""

    terminal: str
    document: Any
    page: str


def answer(name: str, folder: Path) -> Answer:
    """Run a command of `COMMANDS` twice in an empty folder, the second time with --json."""
    lay_out(folder)
    words = [*COMMANDS[name]]
    printed, document = scalograph(words, folder), scalograph([*words, "--json"], folder)
    assert document.code == printed.code, document.printed
    page = folder / "reproduced" / "reproduce.html"
    return Answer(
        f"$ scalograph {' '.join(words)}\n{printed.printed}exit code {printed.code}\n",
        json.loads(document.printed),
        page_text(page.read_text(encoding="utf-8")) if page.exists() else "",
    )


def lay_out(folder: Path) -> None:
    """Unpack in a folder what the commands read."""
    for result in (RECORDED / "before-rename" / "history").iterdir():
        _unpack(result / "findings.json.gz", folder / "history" / result.name)
    _unpack(FOLDER / "results" / "reproduction.json.gz", folder / "reproduced")
    shutil.copy(RECORDED / "jmh-fork-join.json", folder)


def _unpack(packed: Path, folder: Path) -> None:
    folder.mkdir(parents=True)
    (folder / packed.stem).write_bytes(gzip.decompress(packed.read_bytes()))


class _Text(HTMLParser):
    """The words of a page, a line for each piece of text."""

    def __init__(self) -> None:
        super().__init__()
        self.lines: list[str] = []
        self._hidden = 0

    def handle_starttag(self, tag: str, attrs: Any) -> None:
        self._hidden += tag in ("script", "style")

    def handle_endtag(self, tag: str) -> None:
        self._hidden -= tag in ("script", "style")

    def handle_data(self, data: str) -> None:
        if not self._hidden and data.strip():
            self.lines.append(" ".join(data.split()))


def page_text(page: str) -> str:
    """Return what a page says, without its looks."""
    text = _Text()
    text.feed(page)
    return "".join(f"{line}\n" for line in text.lines)


def keep(name: str, made: Answer) -> None:
    """Write the goldens of one command."""
    (GOLDENS / f"{name}.txt").write_text(made.terminal, encoding="utf-8")
    _pack(f"{name}.json.gz", json.dumps(made.document, sort_keys=True, separators=(",", ":")) + "\n")
    if made.page:
        _pack(f"{name}-page.txt.gz", made.page)


def golden(name: str) -> Answer:
    """Read the goldens of one command."""
    page = GOLDENS / f"{name}-page.txt.gz"
    return Answer(
        (GOLDENS / f"{name}.txt").read_text(encoding="utf-8"),
        json.loads(gzip.decompress((GOLDENS / f"{name}.json.gz").read_bytes())),
        gzip.decompress(page.read_bytes()).decode() if page.exists() else "",
    )


def _pack(name: str, text: str) -> None:
    (GOLDENS / name).write_bytes(gzip.compress(text.encode(), mtime=0))
