"""What the program was asked for: words of the form NAME=VALUE (workload.toml lists the names)."""

import sys
from typing import NoReturn

WORDS = {"version": ("sequential", "parallel"), "pool": ("once", "each")}
NUMBERS = {
    "size": (1, 1 << 40),
    "cost": (1, 1 << 40),
    "workers": (1, 256),
    "prerun": (0, 1_000_000),
    "iterations": (1, 1_000_000),
    "think_ns": (0, 1 << 50),
}
DEFAULTS = {"size": 1000, "cost": 20, "workers": 2, "prerun": 3, "iterations": 1, "think_ns": 0}
USAGE, UNAVAILABLE, WRONG = 64, 69, 70


def end(code: int, text: str) -> NoReturn:
    """End the program with one sentence (protocol/workload.md)."""
    print(text, file=sys.stderr)
    sys.exit(code)


def parse(arguments: list[str]) -> tuple[dict[str, str], dict[str, int]]:
    """The words and the numbers, by name; a wrong one ends the program."""
    words, numbers = {name: allowed[0] for name, allowed in WORDS.items()}, dict(DEFAULTS)
    for name, _, text in (argument.partition("=") for argument in arguments):
        if name in WORDS:
            words[name] = _word(name, text)
        elif name in NUMBERS:
            numbers[name] = _number(name, text)
        else:
            end(USAGE, f"arguments: found {name[:40]}, expected one of {', '.join([*WORDS, *NUMBERS])}")
    return words, numbers


def _word(name: str, text: str) -> str:
    if text not in WORDS[name]:
        end(USAGE, f"{name}: found {text[:40]}, expected {' or '.join(WORDS[name])}")
    return text


def _number(name: str, text: str) -> int:
    low, high = NUMBERS[name]
    if not (text.isascii() and text.isdigit() and len(text) < 20 and low <= int(text) <= high):
        end(USAGE, f"{name}: found {text[:40]}, expected an integer from {low} to {high}")
    return int(text)
