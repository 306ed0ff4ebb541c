"""Types of values in a study, with one message per mistake."""

import re
from dataclasses import dataclass
from functools import lru_cache
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field, StringConstraints, ValidationInfo

from scalograph.study.levels import SOME_HOST, check_levels, needs_host, parse_levels
from scalograph.study.scalars import Level, refuse, refuse_text, short_repr
from scalograph.text.units import parse_duration, parse_percent

Name = Annotated[str, StringConstraints(pattern=r"^[a-z][a-z0-9_-]*$", max_length=64)]
MAX_COPIES = 4096


class StudyPart(BaseModel):
    """A table of the study; every key must be known."""

    # Built when it is first used: most are parts of the whole study, and never stand alone.
    model_config = ConfigDict(
        extra="forbid", frozen=True, validate_by_name=True, validate_by_alias=True, strict=True, defer_build=True
    )


def _raise_if(wrong: str | None) -> None:
    if wrong:
        raise ValueError(wrong)


def _text(text: str) -> str:
    _raise_if(refuse_text(text))
    return text


def _variable(name: str) -> str:
    if not name or "=" in name:
        raise ValueError(f"found {short_repr(name)}, expected the name of a variable, without =")
    return _text(name)


def _scalar(value: Any) -> Any:
    _raise_if(refuse(value))
    return value


def _value(value: Any) -> Any:
    for part in value if isinstance(value, list) else [value]:
        _scalar(part)
    return value


def _levels(levels: Any) -> Any:
    """Check levels before pydantic does: it would report a mistake in a union once for each member."""
    if isinstance(levels, str):
        spelled_out = parse_levels(levels, SOME_HOST)
        return levels if needs_host(levels) else spelled_out
    if not isinstance(levels, list):
        raise ValueError(f'found {short_repr(levels)}, expected a list of levels or text such as "1,2,8"')
    check_levels(levels)
    return levels


def _copies(copies: Any) -> Any:
    count = type(copies) is int and 1 <= copies <= MAX_COPIES
    if not count and not (isinstance(copies, str) and re.fullmatch(r"\{[^{}]+\}", copies)):
        raise ValueError(f'found {short_repr(copies)}, expected an integer from 1 to {MAX_COPIES} or "{{factor}}"')
    return copies


def _folder(value: str) -> str:
    if value not in ("scratch", "caller") and not value.startswith("/"):
        raise ValueError(f"found {short_repr(value)}, expected 'scratch', 'caller' or an absolute path")
    return value


@dataclass(frozen=True)
class Refers:
    """Marks a value of the study that names what is declared elsewhere in it; `cross_checks` looks it up.

    Attributes:
        to: `level`: of the factor whose key holds the value, or of the factor that `factor_key` beside it names.
        beyond: whether a level that no run has will do: all CPUs, or one between the levels of a surface.
    """

    to: Literal["factor", "level", "response", "shown response", "column"]
    factor_key: str = ""
    beyond: bool = False


@dataclass(frozen=True)
class OnlyFor:
    """Marks a key that some questions read, with what holds for the others."""

    questions: tuple[str, ...]
    elsewhere: str = "nothing goes by it"


Text = Annotated[str, StringConstraints(max_length=1000), AfterValidator(_text)]
WorkingFolder = Annotated[Text, AfterValidator(_folder)]
Variable = Annotated[str, StringConstraints(max_length=1000), AfterValidator(_variable)]
Scalar = Annotated[Level, BeforeValidator(_scalar)]  # strict, like all of `Part`: true is no number, "1" is text
FactorName = Annotated[Name, Refers("factor")]
FactorLevel = Annotated[Scalar, Refers("level")]
ParameterValue = Annotated[Scalar | list[Scalar], BeforeValidator(_value)]
Copies = Annotated[Annotated[int, Field(ge=1, le=MAX_COPIES)] | Text, BeforeValidator(_copies)]
# A script may be an argument.
Argument = Annotated[str, StringConstraints(max_length=65_536), AfterValidator(_text)]
Argv = Annotated[list[Argument], Field(min_length=1, max_length=1000)]
FactorLevels = Annotated[list[Scalar] | str, BeforeValidator(_levels)]


def _unit_validator(parse: Any) -> BeforeValidator:
    """Parse text with a unit; a journal has the plain number (validation context "journal")."""

    def validate(value: Any, info: ValidationInfo) -> Any:
        if isinstance(value, str):
            return parse(value)
        if value is not None and not (info.context or {}).get("journal"):
            raise ValueError(f'found {value!r}, expected text with a unit such as "10ms" or "95%"')
        return value

    return BeforeValidator(validate, json_schema_input_type=str)


# At most 30 years, which in nanoseconds fit in 64 bits.
Duration = Annotated[float, _unit_validator(parse_duration), Field(ge=0, le=1e9)]
Percent = Annotated[float, _unit_validator(parse_percent), Field(gt=0, lt=1)]


MAX_TEXT = 1000
# Of a compiled pattern: one that repeats a thousand times what repeats takes more, and seconds.
MAX_MEMORY_BYTES = 1 << 20
_POINTER = re.compile(r"(/([^~/]|~[01])*)+")
_NAME = re.compile(r"[a-z][a-z0-9_]{0,55}")


def printed_name(name: str) -> str:
    """Return the name under which a run saves this response's printed value.

    >>> printed_name("ops")
    'output_ops'
    """
    if not _NAME.fullmatch(name):
        raise ValueError(f'found "{name}" with from = "output", expected a name of letters, digits and _, at most 56')
    return f"output_{name}"


@lru_cache(maxsize=64)
def engine(pattern: str) -> "re.Pattern[str]":
    """Compile a pattern with one group: linear in the length of the text (RE2), `^` and `$` match at every line."""
    import re2  # imported here: only studies that read output need it

    options = re2.Options()
    options.log_errors = False
    options.max_mem = MAX_MEMORY_BYTES
    try:
        compiled: re.Pattern[str] = re2.compile(f"(?m){pattern}", options)
    except re2.error as error:
        reason = error.args[0].decode() if error.args and isinstance(error.args[0], bytes) else str(error)
        reason = reason.replace("(?m)", "")
        raise ValueError(f'found pattern "{pattern}" ({reason}), expected a pattern that RE2 reads') from error
    if compiled.groups != 1:
        raise ValueError(
            f'found pattern "{pattern}" with {compiled.groups} groups, expected one group, (...), around the value'
        )
    return compiled


def _pattern(text: str) -> str:
    engine(text)
    return text


def _pointer(text: str) -> str:
    if not _POINTER.fullmatch(text):
        raise ValueError(f'found pointer "{text}", expected a JSON pointer such as "/jobs/0/iops" (RFC 6901)')
    return text


Pattern = Annotated[str, StringConstraints(max_length=MAX_TEXT), AfterValidator(_pattern)]
Pointer = Annotated[str, StringConstraints(max_length=MAX_TEXT), AfterValidator(_pointer)]
