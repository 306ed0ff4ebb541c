"""What factors and responses are called before people."""

from scalograph.table import Table


def title(table: Table, name: str) -> str:
    """A factor's or response's name for people."""
    part = table.study.factors.get(name) or table.study.responses.get(name)
    return (part.title if part else "") or name.replace("_", " ")


def varied(table: Table) -> list[str]:
    """Factors that have more than one level among the planned treatments."""
    return [name for name in table.study.factors if len({t[name] for t in table.treatments}) > 1]


def brief(text: object, most: int = 200) -> str:
    """The text, cut where it is longer than a sentence can carry: journals and published files are not ours."""
    shown = str(text)
    return shown if len(shown) <= most else f"{shown[:most]}..."
