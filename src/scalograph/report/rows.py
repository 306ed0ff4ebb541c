"""The rows of a table as lean HTML: a page of thousands of treatments is mostly these.

What each cell would repeat is said once a table: what a value rests on stands in a list that cells point into
(`data-hints`, `data-h`), from which the page's script makes the text on hover; columns sort by what they show; and
end tags that HTML lets go are left out.
"""

import json
import re
from collections.abc import Iterator

from markupsafe import Markup, escape

from scalograph.report.cells import Sheet, ShownCell
from scalograph.text.escape import visible

MINUS = re.compile(r"(?<![\w.])-(?=\d)|(?<=e)-(?=\d)")


def hints(sheet: Sheet) -> list[str]:
    """What the cells rest on or lack, each text once, in order of appearance."""
    return list(dict.fromkeys(visible(cell.title) for row in sheet.rows for cell in row if cell.title))


def hints_json(sheet: Sheet) -> str:
    """The same for an attribute; nothing where there are none."""
    found = hints(sheet)
    return json.dumps(found, ensure_ascii=False, separators=(",", ":")) if found else ""


def body(sheet: Sheet) -> Markup:
    """All rows, without their `tbody`: one line each."""
    places = {hint: i for i, hint in enumerate(hints(sheet))}
    columns = [(_class(sheet, i), sheet.has_intervals(i)) for i in range(len(sheet.headings))]
    before = [[], *sheet.rows]
    lines = (
        "".join(_row(row, columns, places, again(sheet, row, old)))
        for row, old in zip(sheet.rows, before, strict=False)
    )
    return Markup("\n".join(lines))  # noqa: S704  the tags are ours, the texts escaped


def _class(sheet: Sheet, i: int) -> str:
    """What a column holds, by its first letter; with estimates also how wide their values are."""
    kind = sheet.style(i)[0]
    return f'"{kind} w{sheet.value_width(i)}"' if sheet.has_intervals(i) else kind


def again(sheet: Sheet, row: list[ShownCell], before: list[ShownCell]) -> int:
    """Count the first cells that repeat the row above; they are set back, so that groups show."""
    alike = [
        not sheet.has_intervals(i) and cell.text == old.text
        for i, (cell, old) in enumerate(zip(row, before, strict=False))
    ]
    return alike.index(False) if False in alike else 0


def _row(row: list[ShownCell], columns: list[tuple[str, bool]], places: dict[str, int], n_again: int) -> Iterator[str]:
    yield "<tr>"
    for i, (cell, (style, is_estimate)) in enumerate(zip(row, columns, strict=True)):
        hint = f" data-h={places[visible(cell.title)]}" if cell.title else ""
        style = f'"{style} again"' if i < n_again else style
        yield f"<td class={style}{hint}>{_content(cell, is_estimate)}"
    yield "</tr>"


def _content(cell: ShownCell, is_estimate: bool) -> str:
    text = escape(visible(cell.text)) if cell.sort is None else _minus(escape(visible(cell.text)))
    marks = f"<sup>{escape(cell.marks)}</sup>" if cell.marks else ""
    if not is_estimate:
        return f"{text}{marks}"
    interval = f" <i>{_minus(escape(visible(cell.interval)))}</i>" if cell.interval else ""
    return f"<b>{text}</b>{interval}{marks}"


def _minus(text: str) -> str:
    """Give numbers a minus as wide as a digit; a hyphen inside a word stays one."""
    return MINUS.sub("\N{MINUS SIGN}", text)
