"""The file of another instrument as a text or a checked document: bounded, and refused in one message."""

from pathlib import Path
from typing import Annotated, Any, TypeVar

from pydantic import BaseModel, ConfigDict, Field, StringConstraints, TypeAdapter, ValidationError

from scalograph.errors import StudyError
from scalograph.protocol.bounded import read_whole

T = TypeVar("T")
MAX_BYTES = 64 << 20
MAX_BENCHMARKS = 10_000
# A value takes one of these bytes; without a limit, 64 MiB of "[],[]," would become gigabytes.
MAX_PARTS = 4_000_000

Figure = Annotated[float, Field(ge=0, allow_inf_nan=False)]
Text = Annotated[str, StringConstraints(max_length=1000)]
Params = Annotated[dict[Text, Text], Field(max_length=64)]


class ForeignPart(BaseModel):
    """A part of a document that others define; keys that are not read here may hold anything."""

    model_config = ConfigDict(extra="ignore", frozen=True, strict=True)


def document(file: Path, adapter: TypeAdapter[T], kind: str, fix: str) -> T:
    """Read a JSON document.

    Args:
        file: what the instrument wrote.
        adapter: of the parts that are read.
        kind: what was expected, in words.
        fix: how to write such a file.

    Raises:
        StudyError: it is missing, too large, or something else; says where and what was expected.
    """
    data = _bytes(file, kind)
    if sum(map(data.count, (b",", b"[", b"{"))) > MAX_PARTS:
        raise StudyError.one(str(file), f"more than {MAX_PARTS} values", kind, "import its benchmarks in several files")
    try:
        return adapter.validate_json(data)
    except ValidationError as error:
        raise _refused(file, error, kind, fix) from error


def text(file: Path, kind: str) -> str:
    """Read what an instrument printed.

    Raises:
        StudyError: it is missing, too large, or no text.
    """
    try:
        return _bytes(file, kind).decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise StudyError.one(str(file), f"byte {error.start} is not UTF-8", kind) from error


def _bytes(file: Path, kind: str) -> bytes:
    try:
        return read_whole(file, MAX_BYTES)
    except OSError as error:
        raise StudyError.one(str(file), f"cannot be read: {error.strerror}", kind) from error


def _refused(file: Path, error: ValidationError, kind: str, fix: str) -> StudyError:
    first: Any = error.errors(include_url=False, include_context=False, include_input=False)[0]
    steps = "".join(f"[{step}]" if isinstance(step, int) else f".{step}" for step in first["loc"])
    where = f"{file.name}: {steps[:200].lstrip('.')}" if steps else file.name
    return StudyError.one(where, first["msg"][:200], kind, fix)
