"""The grammar of shapes: "ranks*threads=16", "threads<=cores": which configurations may run, by counts multiplied."""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from math import prod
from operator import eq, ge, le
from typing import Annotated, Self

from pydantic import AfterValidator
from pydantic_core import PydanticCustomError

from scalograph.study.fields import Text
from scalograph.study.scalars import Level

# Stands for the CPUs of the host.
CORES = "cores"
_NAME = "[a-z][a-z0-9_-]*"
PATTERN = rf"^\s*{_NAME}(\s*\*\s*{_NAME})*\s*(<=|>=|=)\s*(\d{{1,9}}|{CORES})\s*$"
_SHAPE = re.compile(r"(.+?)(<=|>=|=)(.+)", re.ASCII)
_COMPARE: Mapping[str, Callable[[int, int], bool]] = {"=": eq, "<=": le, ">=": ge}
_EXPECTED = "NAME*NAME=COUNT, with =, <= or >=, and a count or cores"


@dataclass(frozen=True, slots=True)
class Shape:
    """A condition of a configuration: the product of some factors, compared with a count.

    Attributes:
        names: the factors that are multiplied.
        compare: one of `=`, `<=`, `>=`.
        count: what their product is compared with; None for the CPUs of the host.
    """

    names: tuple[str, ...]
    compare: str
    count: int | None

    @classmethod
    def parse(cls, text: str) -> Self | None:
        """Parse a shape; None for a text outside the grammar.

        Blanks may stand around names, comparison and count.

        >>> Shape.parse("ranks*threads=16"), Shape.parse("ranks*16")
        (Shape(names=('ranks', 'threads'), compare='=', count=16), None)
        """
        match = _SHAPE.fullmatch(text) if re.match(PATTERN, text, re.ASCII) else None
        if match is None:
            return None
        names, count = tuple(name.strip() for name in match[1].split("*")), match[3].strip()
        return cls(names, match[2], None if count == CORES else int(count))

    def holds(self, configuration: Mapping[str, Level], n_cpus: int) -> bool:
        """Tell whether a configuration keeps it on a host of so many CPUs.

        One in which a level is no count never does.

        >>> Shape(("ranks", "threads"), "<=", None).holds({"ranks": 2, "threads": 4}, 8)
        True
        """
        levels = [configuration.get(name) for name in self.names]
        counts = [level for level in levels if type(level) is int]
        limit = n_cpus if self.count is None else self.count
        return len(counts) == len(levels) and _COMPARE[self.compare](prod(counts), limit)


def _check_shape(text: str) -> str:
    if Shape.parse(text) is None:
        raise PydanticCustomError("shape", "Input should be {expected}", {"expected": _EXPECTED})
    return text


ShapeText = Annotated[Text, AfterValidator(_check_shape)]
