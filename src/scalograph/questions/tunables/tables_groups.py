"""Groups of factors in tables: how much each changes the performance, and each one over each other."""

from collections.abc import Iterator

from scalograph.findings.names import title
from scalograph.findings.table import Table
from scalograph.protocol.findings import Cell, Column, TableDoc
from scalograph.questions.tunables.document import Tunables
from scalograph.text.short_names import few

_GROUPS = "means over the factors of a group, as the table of factors has them; settings without a run are in none"
_CONTRASTS = (
    "how many times as much a factor of one group changes the performance, on average, as one of another; intervals "
    "hold together; plain: with the noise, as one-at-a-time studies have it; plain of noise alone: what that is if no "
    "setting has an effect, 95 times in 100: not 1 where the factors of one group have more settings"
)
# Factors that a row names; of more, how many there are.
MOST_NAMED = 6


def group_tables(table: Table, found: Tunables) -> Iterator[TableDoc]:
    """Make one table of the groups that a study names, and one of their contrasts; none where it names none.

    Args:
        table: the study.
        found: what the search came to.
    """
    if found.groups:
        yield _groups(table, found)
    if found.contrasts:
        yield _contrasts(found)


def _groups(table: Table, found: Tunables) -> TableDoc:
    columns = [
        Column(name="group", kind="label"), Column(name="factors", kind="text"), Column(name="sensitivity", unit="%"),
        Column(name="at most by noise", unit="%"), Column(name="plain", unit="%"),
        Column(name="typical of noise", unit="%"),
    ]  # fmt: skip
    rows: list[list[Cell]] = [
        [
            one.group, few([title(table, name) for name in one.factors], MOST_NAMED),
            *(round(x, 2) for x in (one.sensitivity, one.sensitivity_noise, one.plain, one.plain_noise)),
        ]
        for one in found.groups
    ]  # fmt: skip
    return TableDoc(id="tunables-groups", title="Groups of factors", note=_GROUPS, columns=columns, rows=rows)


def _contrasts(found: Tunables) -> TableDoc:
    columns = [
        Column(name="group", kind="label"), Column(name="over", kind="label"), Column(name="times", kind="estimate"),
        Column(name="plain"), Column(name="plain of noise alone", kind="text"),
    ]  # fmt: skip
    rows: list[list[Cell]] = [
        [one.first, one.second, one.ratio, round(one.plain, 2), "{1:.2f} [{0:.2f}, {2:.2f}]".format(*one.plain_noise)]
        for one in found.contrasts
    ]  # fmt: skip
    told = "How many times as much as another group"
    return TableDoc(id="tunables-contrasts", title=told, note=_CONTRASTS, columns=columns, rows=rows)
