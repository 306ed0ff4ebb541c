"""Which treatments are profiled: all that were asked for, or a few of them, evenly."""

from collections.abc import Mapping, Sequence

from scalograph.profile.values import MAX_TREATMENTS, Level

Treatment = Mapping[str, Level]


def choose(
    treatments: Sequence[Treatment], baseline: Mapping[str, Level], most: int = MAX_TREATMENTS
) -> list[Treatment]:
    """At most so many, in order: the first, the last, evenly between, and one at the baseline's level if there is one.

    >>> [t["p"] for t in choose([{"p": p} for p in range(9)], {"p": 6}, 4)]
    [0, 3, 6, 8]
    """
    n = len(treatments)
    if n <= most:
        return [*treatments]
    places = [round(i * (n - 1) / (most - 1)) for i in range(most)]
    at = [i for i, treatment in enumerate(treatments) if baseline and baseline.items() <= treatment.items()]
    if at and not set(at) & set(places):
        inner = range(1, most - 1)
        places[min(inner, key=lambda place: abs(places[place] - at[0]))] = at[0]
    return [treatments[i] for i in sorted(places)]
