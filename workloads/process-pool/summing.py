"""The task that both versions do: elements, each of so many steps, and what all their ends come to."""

from collections.abc import Sequence
from typing import NamedTuple

# A step is x * FACTOR modulo PRIME. It is linear: the steps of a sum are the sum of the steps, which is the check.
PRIME, FACTOR = 2**31 - 1, 48271


class Chunk(NamedTuple):
    """Elements from `first` to before `end`, each of `cost` steps."""

    first: int
    end: int
    cost: int


class Sum(NamedTuple):
    """What the ends of some elements come to, and how many were taken."""

    total: int
    done: int


def element(x: int, cost: int) -> int:
    """The costly function: `cost` steps, each from the one before."""
    for _ in range(cost):
        x = x * FACTOR % PRIME
    return x


def add(chunk: Chunk) -> Sum:
    """Take the elements one by one."""
    total = done = 0
    for i in range(chunk.first, chunk.end):
        total += element(i + 1, chunk.cost)
        done += 1
    return Sum(total % PRIME, done)


def expected(size: int, cost: int) -> int:
    """The total of `size` elements, found without taking them."""
    return pow(FACTOR, cost, PRIME) * (size * (size + 1) // 2) % PRIME


def chunks(size: int, cost: int, n: int) -> list[Chunk]:
    """The elements in n parts that differ by one at most; where there are fewer elements, some parts are empty."""
    ends = [size * i // n for i in range(n + 1)]
    return [Chunk(ends[i], ends[i + 1], cost) for i in range(n)]


def together(parts: Sequence[Sum]) -> Sum:
    """The sum of the parts."""
    return Sum(sum(part.total for part in parts) % PRIME, sum(part.done for part in parts))
