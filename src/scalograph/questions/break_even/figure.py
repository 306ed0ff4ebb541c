"""Break-even as a figure: which of two versions is faster where, and the line at which they are even."""

from scalograph.protocol.figure import Figure, Plot, View
from scalograph.protocol.findings import Findings
from scalograph.questions.break_even.figure_curve import drawn as curve
from scalograph.questions.break_even.figure_key import key
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
    if not found.y:
        return f"Above 1 {found.other} is faster. Bands: {SURE} intervals, also of the crossing."
    return f"Stronger color: further apart, from {100 * found.even:g} % on. Dotted: {SURE} of the line."
