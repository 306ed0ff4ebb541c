"""Makes a database once, with the rows of the page or the tables of pgbench; every run starts from a copy of it."""

import sys
from pathlib import Path

import pgbench
from kinds import kind
from programs import USAGE, end, number, parse
from rows import statements

ROWS = ("page", "pgbench")


def main() -> None:
    """Fill the folder, and say what is in it."""
    given = parse(
        sys.argv[1:], into="", database="", rows="page", seed="7", scale="2", java="java", jar=""
    )  # fmt: skip
    made, data = kind(given), Path(given["into"]) / "data"
    if given["rows"] not in ROWS:
        end(USAGE, f"rows: found {given['rows'][:40]}, expected one of {', '.join(ROWS)}")
    if given["rows"] == "pgbench":
        if given["database"] != "postgres":
            end(USAGE, f"rows: found pgbench of {given['database']}, expected page: pgbench fills PostgreSQL alone")
        scale = number(given, "scale", 1, 10_000)
        print(f"{pgbench.prepare(data, scale)}, pgbench -s {scale}")
    else:
        seed = number(given, "seed", 0, 10**9)
        print(f"{made.prepare(data, [*statements(seed)], given)}, rows of seed {seed}")


if __name__ == "__main__":
    main()
