"""What the question for throughput needs of its study: a rate of right answers, and one factor of counts."""

from collections.abc import Iterator
from typing import Any

from scalograph.questions.registry import Basis
from scalograph.study.check_question import RawFactors, endless, no_role
from scalograph.study.cross_checks import Found, table

BASIS: Basis = "treatments"


def mistakes(raw: dict[str, Any], factors: RawFactors) -> Iterator[Found]:
    """Find why a study cannot tell how much a service carries.

    Args:
        raw: the study as it was written.
        factors: those of its factors that are tables.

    Yields:
        Where, what was found, what was expected, what to do.
    """
    yield from no_role(factors)
    yield from endless(raw)
    responses = [one for one in table(raw, "responses").values() if isinstance(one, dict)]
    rates = [one for one in responses if one.get("from") == "value.rate" and one.get("better") == "higher"]
    if not rates:
        fix = 'add [responses.rate] with from = "value.rate", unit = "1/s" and better = "higher"'
        yield ("responses",), "no rate", 'a response from "value.rate", of which more is better', fix
    if any(str(one.get("from")).startswith("window.wall") for one in responses):
        yield ("responses",), "a wall time", "the rate alone: the driver sets how long a run takes", "remove it"
