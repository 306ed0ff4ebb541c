"""Read the file of another tool as text or checked document: bounded, and refused in one message."""

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, TypeVar

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, StringConstraints, TypeAdapter, ValidationError
from pydantic_core import PydanticCustomError

from scalograph.errors import StudyError
from scalograph.exchange.benchmark import MAX_PARAMS
from scalograph.protocol.bounded import read_whole

T = TypeVar("T")
MAX_BYTES = 64 << 20
MAX_BENCHMARKS = 10_000
# Of all files that are read together: 64 MiB of "[],[]," would parse into gigabytes.
MAX_TOGETHER, MAX_PARTS = 256 << 20, 4_000_000

ReadValue = Annotated[float, Field(ge=0, allow_inf_nan=False)]
Text = Annotated[str, StringConstraints(max_length=1000)]
Amount = Annotated[int, Field(ge=1, le=1 << 53)]


def limit_entries(most: int) -> BeforeValidator:
    """Refuse a table with too many entries before any is checked: errors of each would be kept."""

    def check(value: Any) -> Any:
        if isinstance(value, dict) and len(value) > most:
            raise PydanticCustomError("too_long", "Table should have at most {most} entries", {"most": most})
        return value

    return BeforeValidator(check)


Params = Annotated[dict[Text, Text], limit_entries(MAX_PARAMS)]


class ForeignPart(BaseModel):
    """A part of a foreign document; unread keys may hold anything."""

    model_config = ConfigDict(extra="ignore", frozen=True, strict=True)


@dataclass
class _Left:
    """The budget left of the files that are read together."""

    n_bytes: int
    n_parts: int


_LEFT: ContextVar[_Left | None] = ContextVar("left", default=None)


@contextmanager
def shared_limits() -> Iterator[None]:
    """Limit the files read within to MAX_TOGETHER bytes and MAX_PARTS values in all."""
    before = _LEFT.set(_Left(MAX_TOGETHER, MAX_PARTS))
    try:
        yield
    finally:
        _LEFT.reset(before)


def document(file: Path, adapter: TypeAdapter[T], kind: str, fix: str) -> T:
    """Read a JSON document; `kind` says in words what was expected, `fix` how to write such a file.

    Raises StudyError: it is missing, too large, or something else; says where and what was expected.
    """
    try:
        return adapter.validate_json(content(file, kind, (b",", b"[", b"{")))
    except ValidationError as error:
        first: Any = error.errors(include_url=False, include_context=False, include_input=False)[0]
        steps = "".join(f"[{step}]" if isinstance(step, int) else f".{step}" for step in first["loc"])
        where = f"{file.name}: {steps[:200].lstrip('.')}" if steps else file.name
        raise StudyError.one(where, first["msg"][:200], kind, fix) from error


def text(file: Path, kind: str) -> str:
    """Read the printed output of a tool. Raises StudyError: it is missing, too large, or no text."""
    try:
        return content(file, kind, (b"\n",)).decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise StudyError.one(str(file), f"byte {error.start} is not UTF-8", kind) from error


def content(file: Path, kind: str, signs: tuple[bytes, ...]) -> bytes:
    """Read the bytes of a file, and charge them to the shared limits; each value in it has one of the `signs`.

    Raises StudyError: it is missing, or too large, alone or together with those before.
    """
    left = _LEFT.get() or _Left(MAX_TOGETHER, MAX_PARTS)
    try:
        data = read_whole(file, MAX_BYTES)
    except OSError as error:
        raise StudyError.one(str(file), f"cannot be read: {error.strerror}", kind) from error
    left.n_bytes -= len(data)
    left.n_parts -= sum(map(data.count, signs))
    if left.n_bytes < 0:
        size = f"with the files before it larger than {MAX_TOGETHER >> 20} MiB"
        raise StudyError.one(str(file), size, kind, "read fewer files at once")
    if left.n_parts < 0:
        raise StudyError.one(str(file), f"more than {MAX_PARTS} values", kind, "read fewer benchmarks at once")
    return data
