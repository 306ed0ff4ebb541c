"""What the documents are made of: a plain value, a level, a text, a remark.

They come from files that anybody may have written: texts have a longest length, numbers are finite, and a flag that an
earlier protocol had as a text is one without a code.
"""

from typing import Annotated, TypeVar

from pydantic import BaseModel, BeforeValidator, ConfigDict, StringConstraints

from scalograph.analysis.flag import Flag

# A level of a factor.
Level = bool | int | float | str
FlagField = Annotated[Flag, BeforeValidator(lambda x: Flag("", x) if isinstance(x, str) else x)]  # protocol 1: text
Text = Annotated[str, StringConstraints(max_length=4096)]


class Model(BaseModel):
    """A plain value of the findings document; unknown fields of a later version are ignored."""

    model_config = ConfigDict(extra="ignore", allow_inf_nan=False)


# Some model of a document.
M = TypeVar("M", bound=Model)
