"""Break-even as a figure: which of two versions is faster where, and the line at which they are even."""

from scalograph.protocol.figure import Figure, Plot, View
from scalograph.protocol.findings import Findings
from scalograph.questions.break_even.figure_curve import drawn as curve
from scalograph.questions.break_even.figure_key import key
from scalograph.questions.break_even.figure_map import WORDS
from scalograph.questions.break_even.figure_map import drawn as map_of
from scalograph.questions.break_even.figure_panels import Chart, Panel, chart

SURE = "95 %"
# Rows of which each is told to who does not see the map.
FEW_ROWS = 20


def figures(findings: Findings) -> list[Figure]:
    """Draw a map over two factors, or a curve over one."""
    found = chart(findings)
    if found is None:
        return []
    # The one that the page begins with has a line, where any has.
    panels = sorted(found.panels, key=lambda panel: all(row.location is None for row in panel.rows))
    plots = [_plot(found, panel) for panel in panels]
    title = f"Where {found.other} is faster than {found.baseline}"
    return [Figure(id="even", title=title, caption=_caption(found), key=key(found), views=[View(plots)])]


def _plot(found: Chart, panel: Panel) -> Plot:
    rows = [f"{row.text}: {row.said}" if row.text else row.said for row in panel.rows[:FEW_ROWS]]
    told = [f"s{_over(found)}", panel.title, *rows, "numbers in the tables below"]
    data, layout = (map_of if found.y else curve)(found, panel)
    return Plot(title=panel.title, label="; ".join(text for text in told if text), data=data, layout=layout)


def _over(found: Chart) -> str:
    titles = [axis.levels.title for axis in (found.x, found.y) if axis]
    return f"peedup of {found.other} over {found.baseline} by {' and '.join(titles)}"


def _caption(found: Chart) -> str:
    over, alike = f"S{_over(found)}", f"{100 * found.even:g} % more or less counts as even"
    if not found.y:
        sides = f"above 1 {found.other} is faster, below 1 {found.baseline} is"
        band = f"The band around the curve is its {SURE} interval"
        return f"{over}: {sides}; {alike}. {band}; the dotted one holds the place where the curve crosses 1."
    line = f"Both are even along the bold line; the dotted band holds it with {SURE}."
    parts = [f"{over}: the stronger a color, the further they are apart; {alike} and has none."]
    if any(row.location is not None for row in found.rows):
        parts.append(f"{line} Between rows, both are only drawn through.")
    kinds = {row.kind for row in found.rows}
    words = [f"“{word}”, where {told.format(found)}" for kind, (word, told) in WORDS.items() if kind in kinds]
    return " ".join([*parts, *([f"Rows without a line: {'; '.join(words)}."] if words else [])])
