"""The answer of a question to a study: its document, claim, tables, caveats, and curves."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, TypeVar

from scalograph.findings.published.published_quantities import Lookup
from scalograph.findings.sample import Sample
from scalograph.findings.study_view import StudyView
from scalograph.protocol.findings import Cell, Claim, Column, ColumnKind, Curve, Part, TableDoc
from scalograph.protocol.plain import Level, Model
from scalograph.text.warning_catalog import Caveat

SampleMap = Mapping[tuple[Level, ...], Sample]
T = TypeVar("T")
# Heading and kind of a column, its cell for an item, and its unit where it has one.
ItemColumn = tuple[str, ColumnKind, Callable[[T], Cell]] | tuple[str, ColumnKind, Callable[[T], Cell], str]


@dataclass(frozen=True)
class Answer:
    """Hold what a question adds to the findings, for people and machines.

    Attributes:
        decided: whether a search ended; None if the question is no search.
        claim: None if another question speaks first.
        sentences: more for people, most important first.
        tables: above those that every study has.
        below: below those.
        doubts: why the answer is uncertain or missing.
        at_levels: values of a configuration where runs were compared in pairs.
    """

    document: Model | None = None
    decided: bool | None = None
    claim: Claim | None = None
    sentences: Sequence[str] = ()
    tables: Sequence[TableDoc] = ()
    below: Sequence[TableDoc] = ()
    doubts: Sequence[Caveat] = ()
    warnings: Sequence[str] = ()
    curves: Sequence[Curve] | None = None
    at_levels: Lookup | None = None

    def part(self) -> Part:
        """Return the part of the findings document that holds this answer."""
        data = None if self.document is None else self.document.model_dump(mode="json")
        return Part(decided=self.decided, data=data)


def tabulate(key: str, title: str, items: Iterable[T], columns: Sequence[ItemColumn[T]], note: str = "") -> TableDoc:
    """Make a table with a row for each item; `key` is its id."""
    heads = [Column(name=name, kind=kind, unit="".join(unit)) for name, kind, _, *unit in columns]
    rows = [[column[2](item) for column in columns] for item in items]
    return TableDoc(id=key, title=title, note=note, columns=heads, rows=rows)


def level_columns(
    view: StudyView, names: Iterable[str], levels_of: Callable[[Any], Mapping[str, Level]]
) -> list[ItemColumn[Any]]:
    """Make a label column for each of these factors, with its level of an item."""

    def level(name: str, item: object) -> Level:
        return levels_of(item)[name]

    return [(view.title(name), "label", partial(level, name), view.unit(name)) for name in names]


def format_sentence(text: str) -> str:
    """Capitalize the text and end it with a period.

    >>> format_sentence("1 of 3 runs  failed"), format_sentence("Rerun.")
    ('1 of 3 runs failed.', 'Rerun.')
    """
    words = " ".join(text.split()).removesuffix(".")
    return f"{words[:1].upper()}{words[1:]}."
