"""The rows of the page: readings of stations, in statements that every database here takes."""

import random
from collections.abc import Iterator

STATIONS, DAYS, HOURS = 200, 5, 24
AT_ONCE = 500
TABLES = (
    "CREATE TABLE station (id INT PRIMARY KEY, name VARCHAR(40) NOT NULL)",
    "CREATE TABLE reading (id INT PRIMARY KEY, station INT NOT NULL, day_no INT NOT NULL, tenths INT NOT NULL)",
)
INDEX = "CREATE INDEX reading_of_station ON reading (station)"


def statements(seed: int) -> Iterator[str]:
    """Yield one statement a line, without its end.

    Every station has the same temperatures, in tenths of a degree from 0 on, each at another hour: what is read of some
    stations is then known, whichever they are. Rows of a station do not lie beside each other.

    >>> sum(line.count("(") for line in statements(7) if line.startswith("INSERT INTO reading"))
    24000
    """
    rng = random.Random(seed)
    yield from TABLES
    yield from _inserted("station", [(one, f"'Station {one}'") for one in range(1, STATIONS + 1)])
    readings = [(one, hour // HOURS) for one in range(1, STATIONS + 1) for hour in range(DAYS * HOURS)]
    tenths = [t for _ in range(STATIONS) for t in rng.sample(range(DAYS * HOURS), DAYS * HOURS)]
    rows = [(*reading, t) for reading, t in zip(readings, tenths, strict=True)]
    rng.shuffle(rows)
    yield from _inserted("reading", [(i, *row) for i, row in enumerate(rows)])
    yield INDEX


def _inserted(table: str, rows: list[tuple[int | str, ...]]) -> Iterator[str]:
    for at in range(0, len(rows), AT_ONCE):
        values = ", ".join(f"({', '.join(map(str, row))})" for row in rows[at : at + AT_ONCE])
        yield f"INSERT INTO {table} VALUES {values}"  # noqa: S608 - of rows made above
