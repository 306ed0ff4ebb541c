"""The pages: a link leads to a file, an index names its folder, a command has its options, a type stands there."""

import importlib
import re
import shlex
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

from scalograph.cli.app import COMMANDS
from tests.kit import ROOT
from tests.unit.cli.offered import known

WHERE = ("*.md", "docs/*.md", "docs/*/*.md", "protocol/*.md", "benchmarks/*.md", "studies/*.md", "studies/*/*.md")
PAGES = sorted(page for where in (*WHERE, "workloads/*/*.md", "workloads/*/*/*.md") for page in ROOT.glob(where))
TOLD = re.compile(r"^```(?:sh|console)\n(.*?)^```", re.DOTALL | re.MULTILINE)
FENCED = re.compile(r"^```.*?^```", re.DOTALL | re.MULTILINE)


@cache
def text(page: Path) -> str:
    return page.read_text(encoding="utf-8")


def prose(page: Path) -> str:
    return FENCED.sub("", text(page))


def anchors(page: Path) -> set[str]:
    """What a link may name after #: the headings, as GitHub and mkdocs do it."""
    headings = re.findall(r"^#+ (.+)$", prose(page), re.MULTILINE)
    return {re.sub(r"\s+", "-", re.sub(r"[^\w\s-]", "", heading.lower())) for heading in headings}


def commands(page: Path) -> Iterator[str]:
    """Command lines of ours: of blocks, and in the line between backticks."""
    for block in TOLD.findall(text(page)):
        yield from (line for line in block.replace("\\\n", " ").splitlines() if line.startswith("scalograph "))
    yield from re.findall(r"`(scalograph [^`]+)`", prose(page).replace(r"\|", "|"))


def named(line: str) -> tuple[str, set[str]]:
    """The command of a line and its options, without what it measures or is piped into."""
    words = shlex.split(line, comments=True)[1:]
    end = min((words.index(mark) for mark in ("--", "|", "&&") if mark in words), default=len(words))
    return (words[:1] or [""])[0], {word.partition("=")[0] for word in words[:end] if word.startswith("--")}


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_a_link_leads_to_a_file_and_a_heading(page: Path) -> None:
    for link in re.findall(r"\]\(([^)\s]+)\)", prose(page)):
        if link.startswith(("https:", "http:")):
            continue
        path, _, heading = link.partition("#")
        file = (page.parent / path).resolve() if path else page
        assert file.is_file() and file.is_relative_to(ROOT), link
        assert not heading or heading in anchors(file), link


@pytest.mark.parametrize("folder", ["docs/howto", "docs/decisions"])
def test_an_index_names_every_page_of_its_folder(folder: str) -> None:
    index = ROOT / folder / "README.md"
    assert {page.name for page in index.parent.glob("*.md")} - {"README.md"} <= {*re.findall(r"\((.+?)\)", text(index))}


def test_a_decision_is_headed_by_its_number_and_what_was_decided() -> None:
    index = text(ROOT / "docs/decisions/README.md")
    for page in sorted((ROOT / "docs/decisions").glob("0*.md")):
        head, *body = text(page).splitlines()
        number, title = int(page.name[:4]), head.partition(". ")[2]
        assert head == f"# {number}. {title}" and f"| [{number}]({page.name}) | {title} |" in index, page.name
        assert not [line for line in body if line.startswith("#")], page.name


def test_a_command_has_the_options_that_a_page_shows() -> None:
    # A decision may tell of a command that was rejected.
    pages = [page for page in PAGES if page.parent.name != "decisions"]
    shown = [(page, line, *named(line)) for page in pages for line in commands(page)]
    assert len(shown) > 150
    for page, line, name, options in shown:
        if not name.startswith("-"):
            assert name in COMMANDS and options <= known(name), f"{page.relative_to(ROOT)}: {line}"


PAGE = ROOT / "docs" / "concepts.md"
NAMED = re.findall(r"\| `([a-z_]+\.[A-Za-z_.]+)` \|$", PAGE.read_text(encoding="utf-8"), re.MULTILINE)


def resolve(name: str) -> object:
    """The module, or what a module defines, or a field or member of that."""
    parts = name.split(".")
    for k in range(len(parts), 0, -1):
        try:
            found: object = importlib.import_module(".".join(["scalograph", *parts[:k]]))
        except ModuleNotFoundError:
            continue
        for part in parts[k:]:
            members = {**vars(found), **getattr(found, "__annotations__", {})}
            found = members[part]
        return found
    raise KeyError(name)


def test_the_page_names_types() -> None:
    assert len(NAMED) > 40


@pytest.mark.parametrize("name", NAMED)
def test_a_type_stands_where_the_glossary_says(name: str) -> None:
    assert resolve(name) is not None
