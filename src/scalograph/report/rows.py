"""The rows of a table as lean HTML: a page of thousands of configurations is mostly these.

What each cell would repeat is said once a table: what a value rests on stands in a list that cells point into
(`data-hints`, `data-h`), from which the page's script makes the text on hover; columns sort by what they show; and
end tags that HTML lets go are left out.
"""

import json
import re
from collections.abc import Iterator

from markupsafe import Markup, escape

from scalograph.report.cells import ShownCell, TableLayout
from scalograph.text.escape import escape_controls

MINUS = re.compile(r"(?<![\w.])-(?=\d)|(?<=e)-(?=\d)")


def hints(sheet: TableLayout) -> list[str]:
    """Return the distinct hover texts of the cells, in order of appearance."""
    return list(dict.fromkeys(escape_controls(cell.title) for row in sheet.rows for cell in row if cell.title))


def hints_json(sheet: TableLayout) -> str:
    """Return the hover texts as JSON for an attribute; empty without any."""
    texts = hints(sheet)
    return json.dumps(texts, ensure_ascii=False, separators=(",", ":")) if texts else ""


def body(sheet: TableLayout) -> Markup:
    """Return all rows, without their `tbody`: one line each."""
    places = {hint: i for i, hint in enumerate(hints(sheet))}
    columns = [(_class(sheet, i), sheet.has_intervals(i)) for i in range(len(sheet.headings))]
    pairs = zip(sheet.rows, [[], *sheet.rows], strict=False)
    lines = ("".join(_row(row, columns, places, again(sheet, row, old))) for row, old in pairs)
    return Markup("\n".join(lines))  # noqa: S704  the tags are ours, the texts escaped


def _class(sheet: TableLayout, i: int) -> str:
    kind = sheet.style(i)[0]
    return f'"{kind} w{sheet.value_width(i)}"' if sheet.has_intervals(i) else kind


def again(sheet: TableLayout, row: list[ShownCell], before: list[ShownCell]) -> int:
    """Count the first cells that repeat the row above; they are dimmed, so that groups show."""
    pairs = enumerate(zip(row, before, strict=False))
    alike = [not sheet.has_intervals(i) and cell.text == old.text for i, (cell, old) in pairs]
    return alike.index(False) if False in alike else 0


def _row(row: list[ShownCell], columns: list[tuple[str, bool]], places: dict[str, int], n_again: int) -> Iterator[str]:
    yield "<tr>"
    for i, (cell, (style, is_estimate)) in enumerate(zip(row, columns, strict=True)):
        hint = f" data-h={places[escape_controls(cell.title)]}" if cell.title else ""
        style = f'"{style} again"' if i < n_again else style
        yield f"<td class={style}{hint}>{_content(cell, is_estimate)}"
    yield "</tr>"


def _content(cell: ShownCell, is_estimate: bool) -> str:
    text = escape(escape_controls(cell.text)) if cell.sort is None else _minus(escape(escape_controls(cell.text)))
    marks = f"<sup>{escape(cell.marks)}</sup>" if cell.marks else ""
    if not is_estimate:
        return f"{text}{marks}"
    interval = f" <i>{_minus(escape(escape_controls(cell.interval)))}</i>" if cell.interval else ""
    return f"<b>{text}</b>{interval}{marks}"


def _minus(text: str) -> str:
    return MINUS.sub("\N{MINUS SIGN}", text)
