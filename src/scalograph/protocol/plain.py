"""What the documents are made of: a plain value, a level, a text, a remark.

They come from files that anybody may have written: long texts are cut, numbers are finite, and a flag that an
earlier protocol had as a text is one without a code.
"""

from importlib import import_module
from typing import Annotated, Any, TypeGuard, TypeVar

from pydantic import BaseModel, BeforeValidator, ConfigDict, StringConstraints

from scalograph.analysis.estimate import Flag

# A level of a factor.
Level = bool | int | float | str
FlagField = Annotated[Flag, BeforeValidator(lambda x: Flag("", x) if isinstance(x, str) else x)]  # protocol 1: text
MAX_TEXT = 4096


def is_number(value: object) -> TypeGuard[int | float]:
    """Tell whether a value is a number: true and false are none.

    >>> is_number(1), is_number(0.5), is_number(True), is_number("1")
    (True, True, False, False)
    """
    return isinstance(value, int | float) and not isinstance(value, bool)


def _cut(x: Any) -> Any:
    """Cut a text that says more than anybody reads: it may quote what a program or a file says."""
    return f"{x[: MAX_TEXT - 4]} ..." if isinstance(x, str) and len(x) > MAX_TEXT else x


Text = Annotated[str, BeforeValidator(_cut), StringConstraints(max_length=MAX_TEXT)]


class Model(BaseModel):
    """A plain value of the findings document; unknown fields of a later version are ignored."""

    # Built when it is first used: a command uses few of the documents that its modules define.
    model_config = ConfigDict(extra="ignore", allow_inf_nan=False, defer_build=True)


# Some model of a document.
M = TypeVar("M", bound=Model)


def load_object(path: str) -> Any:
    """Import what stands at a place of our own tables, "module:name"; never what a user wrote.

    Raises ModuleNotFoundError: there is no such module; AttributeError: it has no such name.

    >>> load_object("math:floor")(2.5)
    2
    """
    module, _, name = path.partition(":")
    return getattr(import_module(module), name)


class AnswerCase(Model):
    """One sentence of an answer: the name of its form, and the values that fill it."""

    case: str
    values: dict[str, Any] = {}
