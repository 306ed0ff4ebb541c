"""The quick form of a study, declared in `[quick]`."""

from collections.abc import Iterator
from typing import Any

from pydantic import ValidationError

from scalograph.errors import StudyError
from scalograph.study.cross_checks import Mistake, has_level, table
from scalograph.study.model import Study


def quick_form(study: Study) -> Study:
    """Return the quick form of a study.

    Raises:
        StudyError: the changed study is not valid.
    """
    changed: dict[str, Any] = {
        "protocol": {**_dump(study.protocol), **study.quick.protocol},
        "factors": {
            name: {**_dump(factor), **({"levels": study.quick.factors[name]} if name in study.quick.factors else {})}
            for name, factor in study.factors.items()
        },
        "exclude": [*study.exclude, *study.quick.exclude],
    }
    try:
        # The journal's context: values that were parsed already carry plain numbers.
        return Study.model_validate({**_dump(study), **changed}, context={"journal": True})
    except ValidationError as error:
        first = error.errors()[0]
        raise StudyError.one("quick", ".".join(map(str, first["loc"])), first["msg"]) from error


def check_quick_baseline(raw: dict[str, Any]) -> Iterator[Mistake]:
    """Check that the quick form keeps the baseline."""
    factors, shorter = table(raw, "factors"), table(table(raw, "quick"), "factors")
    for name, level in table(raw, "baseline").items():
        if name not in shorter or not isinstance(factors.get(name), dict) or not has_level(factors[name], level):
            continue
        if not has_level({**factors[name], "levels": shorter[name]}, level):
            text = f"without level {level!r}, the baseline"
            yield ("quick", "factors", name), text, "levels that hold it", "add it: speedups are taken from it"


def shorter_protocol(raw: dict[str, Any]) -> dict[str, Any]:
    """Return the raw document with the quick form's protocol."""
    return {**raw, "protocol": {**table(raw, "protocol"), **table(table(raw, "quick"), "protocol")}}


def shorter_factors(raw: dict[str, Any]) -> dict[str, Any]:
    """Return the raw document with the quick form's levels, without a protocol."""
    factors, shorter = table(raw, "factors"), table(table(raw, "quick"), "factors")
    changed = {
        name: {**factors[name], "levels": shorter[name]} for name in shorter if isinstance(factors.get(name), dict)
    }
    return {**{key: raw[key] for key in raw if key != "protocol"}, "factors": {**factors, **changed}}


def _dump(part: Any) -> dict[str, Any]:
    dumped: dict[str, Any] = part.model_dump(by_alias=True)
    return dumped
