"""One input of the campaign: files in a folder, and the command line or the call that reads them."""

import random
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cache
from importlib import import_module
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
DONE, STUDY, HOST, UNREADABLE = 0, 2, 3, 6
# Kind -> the module that makes its inputs, and its share of all.
KINDS: dict[str, tuple[str, int]] = {
    "study": ("inputs_studies", 22),
    "journal": ("inputs_journals", 15),
    "probe lines": ("inputs_lines", 13),
    "foreign file": ("inputs_foreign", 20),
    "table": ("inputs_tables", 6),
    "document": ("inputs_documents", 10),
    "command line": ("inputs_commands", 14),
}


@dataclass(frozen=True)
class Case:
    """An input.

    Attributes:
        files: name -> content.
        argv: of `scalograph`.
        codes: exit codes that are right for whatever the mutation made of it.
        nodes: name -> what lies there instead of a file: a fifo, a socket, a folder, or link:TARGET.
        call: what reads the files in place of a command; raises ScalographError where it refuses.
    """

    files: Mapping[str, bytes]
    argv: tuple[str, ...] = ()
    codes: tuple[int, ...] = (DONE, STUDY)
    nodes: Mapping[str, str] = field(default_factory=dict)
    call: Callable[[], object] | None = field(default=None, compare=False)


def kind_of(seed: int) -> str:
    """The kind of input of a seed: the shares hold in every hundred."""
    place = seed * 61 % sum(share for _, share in KINDS.values())
    for kind, (_, share) in KINDS.items():
        place -= share
        if place < 0:
            return kind
    raise AssertionError(place)


def case(seed: int) -> Case:
    """The input of a seed: the same on every machine and at any time."""
    made: Case = _maker(kind_of(seed))(random.Random(seed))
    return made


@cache
def _maker(kind: str) -> Callable[[random.Random], Case]:
    maker: Callable[[random.Random], Case] = import_module(KINDS[kind][0]).case
    return maker
