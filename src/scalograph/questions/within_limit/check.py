"""Check the study of a question for the highest level within a limit."""

from collections.abc import Iterator
from typing import Any

from scalograph.questions.registry import Basis
from scalograph.study.cross_checks import Mistake, RawFactors, check_ignored_keys, check_single_factor, table

BASIS: Basis = "runs"


def mistakes(raw: dict[str, Any], factors: RawFactors) -> Iterator[Mistake]:
    """Find why no level can be searched, which needs one factor of counts and one response with a limit."""
    yield from check_single_factor(factors)
    yield from check_ignored_keys(raw, "precision", "runs", "warmup_runs")
    responses = {name: response for name, response in table(raw, "responses").items() if isinstance(response, dict)}
    limited = [name for name, response in responses.items() if "limit" in response]
    if len(limited) != 1:
        fix = 'such as [responses.p90] from = "value.p90_ns", unit = "ns", limit = 2e9'
        yield ("responses",), f"{len(limited)} with a limit", "one: it is searched up to which level it is met", fix
        return
    directed = [name for name, response in responses.items() if response.get("better", "lower") != "none"]
    if directed[:1] != limited:
        fix = 'place it first, or give the others better = "none"'
        yield ("responses", limited[0]), "a limit, after another response", "the first that has a direction", fix
    elif responses[limited[0]].get("better", "lower") == "higher":
        yield ("responses", limited[0], "better"), "higher, with a limit", "lower: it is met below", "invert it"
