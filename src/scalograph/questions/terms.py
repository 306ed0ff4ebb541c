"""Name a set of configurations by the narrowest terms: levels that it has, and that no other configuration has."""

from collections.abc import Mapping, Sequence
from itertools import combinations
from typing import Protocol

from scalograph.protocol.plain import Level
from scalograph.text.short_names import drop_repeats, join_names, short_setting

MOST_TERMS, MOST_LEVELS = 3, 3  # that a sentence has room for
MOST_PARTS = 30  # terms that are tried, in twos and threes
Term = Mapping[str, tuple[Level, ...]]
Levels = Mapping[str, Level]


class Titles(Protocol):
    """Titles and units of factors."""

    def title(self, name: str) -> str:
        """Return the title of a factor."""

    def unit(self, factor: str) -> str:
        """Return the unit of a factor's levels."""


def find_terms(chosen: Sequence[Levels], every: Sequence[Levels], names: Sequence[str]) -> list[Term] | None:
    """Find terms of these factors that cover the chosen configurations and no other; None where too many are needed.

    >>> every = [{"lock": k, "work": n} for k in ("none", "cas") for n in (2, 400)]
    >>> find_terms(every[2:], every, ["lock", "work"]), find_terms(every[3:], every, ["lock", "work"])
    ([{'lock': ('cas',)}], [{'lock': ('cas',), 'work': (400,)}])
    >>> find_terms(every, every, ["lock", "work"])
    [{}]
    """
    if len(chosen) == len(every):
        return [{}]
    if term := _one_term(chosen, every, names):
        return [term]
    parts = [term for term in _parts(chosen, names) if _n_covered(term, chosen) == _n_covered(term, every)]
    for n in range(2, MOST_TERMS + 1):
        for terms in combinations(parts[:MOST_PARTS], n):
            if all(any(is_covered(levels, term) for term in terms) for levels in chosen):
                return [*terms]
    return None


def _parts(chosen: Sequence[Levels], names: Sequence[str]) -> list[Term]:
    """List terms of one level, then of two, that some of the chosen have; those that more have first."""
    own = [(name, level) for name in names for level in dict.fromkeys(levels[name] for levels in chosen)]
    terms: list[Term] = [{name: (level,)} for name, level in own]
    terms += [{a: (x,), b: (y,)} for (a, x), (b, y) in combinations(own, 2) if a != b]
    return sorted(terms, key=lambda term: (len(term), -_n_covered(term, chosen)))


def _one_term(chosen: Sequence[Levels], every: Sequence[Levels], names: Sequence[str]) -> Term | None:
    term = {name: tuple(dict.fromkeys(levels[name] for levels in chosen)) for name in names}
    if not chosen or _n_covered(term, every) != len(chosen):
        return None
    for name in names:  # what all have need not be said
        rest = {key: levels for key, levels in term.items() if key != name}
        term = rest if rest and _n_covered(rest, every) == len(chosen) else term
    return term if all(len(levels) <= MOST_LEVELS for levels in term.values()) else None


def _n_covered(term: Term, every: Sequence[Levels]) -> int:
    return sum(is_covered(levels, term) for levels in every)


def is_covered(levels: Levels, term: Term) -> bool:
    """Tell whether a configuration has the levels of a term."""
    return all(levels[name] in some for name, some in term.items())


def term_text(view: Titles, term: Term) -> str:
    """Name a term: "lock none or cas and work 2 units"."""
    return " and ".join(
        join_names(drop_repeats([short_setting(view.title(name), x, view.unit(name)) for x in levels]), "or")
        for name, levels in term.items()
    )
