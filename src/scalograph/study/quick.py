"""The shorter form of a study, as its `[quick]` table declares it."""

from typing import Any

from pydantic import ValidationError

from scalograph.errors import StudyError
from scalograph.study.model import Study


def quickened(study: Study) -> Study:
    """The study with the changes of `quick` made.

    Raises:
        StudyError: the changed study would not be valid.
    """
    changed: dict[str, Any] = {
        "protocol": {**_as_written(study.protocol), **study.quick.protocol},
        "factors": {
            name: {
                **_as_written(factor),
                **({"levels": study.quick.factors[name]} if name in study.quick.factors else {}),
            }
            for name, factor in study.factors.items()
        },
        "exclude": [*study.exclude, *study.quick.exclude],
    }
    try:
        # The journal's context: values that were parsed already carry plain numbers.
        return Study.model_validate({**_as_written(study), **changed}, context={"journal": True})
    except ValidationError as error:
        first = error.errors()[0]
        raise StudyError.one("quick", ".".join(map(str, first["loc"])), first["msg"]) from error


def _as_written(part: Any) -> dict[str, Any]:
    dumped: dict[str, Any] = part.model_dump(by_alias=True)
    return dumped
