"""The best in tables: the configurations that may be the fastest, and what confirms it."""

from scalograph.findings.answer import level_columns, tabulate
from scalograph.findings.table import Table
from scalograph.protocol.findings import TableDoc
from scalograph.questions.best.document import Best
from scalograph.text.quantities import two_digits

_NOTE = (
    "as fast: probability that a configuration is the fastest, or within {margin}% of it; fitted: by all {n} runs of "
    "the search, which differ by {noise}%; the best of many looks better than it is: fresh runs are of that"
)


def best_tables(table: Table, part: Best | None) -> list[TableDoc]:
    if part is None:
        return []
    view, names = table.view, [*part.winner.levels]
    note = _NOTE.format(margin=two_digits(100 * part.margin), n=part.n_runs, noise=two_digits(100 * part.noise))
    shown = [part.winner, *(member for member in part.members if member != part.winner)]
    shown += [] if part.default in shown else [part.default]
    return [
        tabulate("best-set", "Configurations that may be the fastest, and the default", shown, [
            *level_columns(view, names, lambda row: row.levels), ("workers and CPUs", "number", lambda row: row.cost),
            ("as fast", "number", lambda row: round(100 * row.within), "%"),
            (f"{view.primary_title}, fitted", "estimate", lambda row: row.fitted, view.response.unit),
            ("runs", "number", lambda row: row.n),
            ("fresh runs", "estimate", lambda row: row.fresh, view.response.unit),
            ("speed over the default", "estimate", lambda row: row.speed),
        ], note)
    ]  # fmt: skip
