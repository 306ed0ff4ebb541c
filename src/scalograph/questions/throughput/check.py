"""Check the study of throughput: it needs a rate of right answers, and one factor of counts."""

from collections.abc import Iterator
from typing import Any

from scalograph.questions.registry import Basis
from scalograph.study.cross_checks import Mistake, RawFactors, check_precision_runs, table

BASIS: Basis = "configurations"


def mistakes(raw: dict[str, Any], factors: RawFactors) -> Iterator[Mistake]:
    yield from check_precision_runs(raw)
    responses = [response for response in table(raw, "responses").values() if isinstance(response, dict)]
    rates = [x for x in responses if x.get("from") == "value.rate" and x.get("better") == "higher"]
    if not rates:
        fix = 'add [responses.rate] with from = "value.rate", unit = "1/s" and better = "higher"'
        yield ("responses",), "no rate", 'a response from "value.rate", of which more is better', fix
    if any(str(response.get("from")).startswith("window.wall") for response in responses):
        yield ("responses",), "a wall time", "the rate alone: the driver sets how long a run takes", "remove it"
