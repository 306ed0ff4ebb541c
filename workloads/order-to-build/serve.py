"""Becomes the server: the JDK's own, or WildFly or Open Liberty with the business as a war in a folder of the run."""

import os
import shutil
import sys
import zipfile
from pathlib import Path
from typing import NoReturn

from liberty import liberty
from wildfly import wildfly

USAGE, UNAVAILABLE = 64, 69
OWN = ("port", "address", "database", "database_port", "database_address", "state", "connections", "threads",
       "consumers", "backlog", "station_ms", "supplier_ms", "seed")  # fmt: skip
NAMES = ("server", "java", "classpath", "build", "wildfly", "liberty", "postgresql", "h2", *OWN)


def main() -> None:
    """Become the server."""
    words = sys.argv[1:]
    at = words.index("--") if "--" in words else len(words)
    given = parse(words[:at])
    options = words[at + 1 :]
    if given["server"] == "jdk":
        named = [f"{name}={given[name]}" for name in OWN]
        become([given["java"], *options, "-cp", given["classpath"], "shop.Shop", *named])
    words, variables = laid_out(given)
    os.environ.update(variables)
    become([given["java"], *options, *words])


def end(code: int, text: str) -> NoReturn:
    """End the program with one sentence (protocol/workload.md)."""
    print(text, file=sys.stderr)
    sys.exit(code)


def parse(words: list[str]) -> dict[str, str]:
    """Return the values by name; a wrong name ends the program."""
    given = dict.fromkeys(NAMES, "")
    for name, _, text in (word.partition("=") for word in words):
        if name not in given:
            end(USAGE, f"arguments: found {name[:40]}, expected one of {', '.join(NAMES)}")
        given[name] = text
    # A database that is not started has no address.
    return given | {name: given[name] or "127.0.0.1" for name in ("address", "database_address")}


def become(argv: list[str]) -> NoReturn:
    """Be the process that is waited for and ended."""
    os.execvp(argv[0], argv)  # noqa: S606 - no shell, and its words come from the study


def laid_out(given: dict[str, str]) -> tuple[list[str], dict[str, str]]:
    """Lay out a server in the folder of the run; return the words that start it, and its variables."""
    try:
        if given["server"] == "liberty":
            return liberty(given, lambda file: write_war(given, file))
        return wildfly(given, lambda file: write_war(given, file)), {}
    except (OSError, shutil.Error) as error:
        end(UNAVAILABLE, f"state: the server could not be laid out ({str(error)[:300]})")


def write_war(given: dict[str, str], place: Path) -> None:
    """Pack the business."""
    with zipfile.ZipFile(place, "w") as war:
        for file in sorted(Path(given["build"]).rglob("*.class")):
            war.write(file, f"WEB-INF/classes/{file.relative_to(given['build'])}")


if __name__ == "__main__":
    main()
