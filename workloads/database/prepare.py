"""Makes a database with the rows of the page once; every run starts from a copy of it."""

import sys
from pathlib import Path

from kinds import kind
from programs import number, parse
from rows import statements


def main() -> None:
    """Fill the folder, and say what is in it."""
    given = parse(sys.argv[1:], into="", database="", seed="", java="java", jar="")
    rows = [*statements(number(given, "seed", 0, 10**9))]
    release = kind(given).prepare(Path(given["into"]) / "data", rows, given["java"], given["jar"])
    print(f"{release}, rows of seed {given['seed']}")


if __name__ == "__main__":
    main()
