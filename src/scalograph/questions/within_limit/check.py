"""What the question for the highest level within a limit needs of its study."""

from collections.abc import Iterator
from typing import Any

from scalograph.questions.registry import Basis
from scalograph.study.check_question import RawFactors, no_role, not_along_one, not_asked
from scalograph.study.cross_checks import Found, table

BASIS: Basis = "runs"


def mistakes(raw: dict[str, Any], factors: RawFactors) -> Iterator[Found]:
    """Find why no level can be searched: it needs one factor of counts, and one response with a limit.

    Args:
        raw: the study as it was written.
        factors: those of its factors that are tables.

    Yields:
        Where, what was found, what was expected, what to do.
    """
    yield from no_role(factors)
    yield from not_along_one(factors)
    yield from not_asked(raw, "precision", "runs", "warmup_runs")
    responses = {name: one for name, one in table(raw, "responses").items() if isinstance(one, dict)}
    limited = [name for name, one in responses.items() if "limit" in one]
    if len(limited) != 1:
        fix = 'such as [responses.p90] from = "value.p90_ns", unit = "ns", limit = 2e9'
        yield ("responses",), f"{len(limited)} with a limit", "one: it is searched up to which level it is met", fix
        return
    directed = [name for name, one in responses.items() if one.get("better", "lower") != "none"]
    if directed[:1] != limited:
        fix = 'place it first, or give the others better = "none"'
        yield ("responses", limited[0]), "a limit, after another response", "the first that has a direction", fix
    elif responses[limited[0]].get("better", "lower") == "higher":
        yield ("responses", limited[0], "better"), "higher, with a limit", "lower: it is met below", "invert it"
