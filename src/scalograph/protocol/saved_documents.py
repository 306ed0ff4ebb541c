"""findings.json as it lies on a disk: written by step 4, read by whoever shows or compares it."""

from pathlib import Path
from typing import TypeVar

from pydantic import BaseModel, ValidationError

from scalograph.errors import ProtocolError
from scalograph.protocol.bounded import read_whole
from scalograph.protocol.findings import Findings
from scalograph.protocol.reproduction import Reproduction
from scalograph.protocol.results import write_text

Document = TypeVar("Document", bound=BaseModel)
# What this version writes; an earlier one is read all the same.
LATEST: int = Findings.model_fields["protocol"].default
# A list of 30,000 runs takes about 10 MB.
MAX_BYTES = 256 << 20
_LARGE = 1 << 20


def write_findings(findings: Findings, file: Path) -> None:
    """Replace the file as a whole. Raises HostError: the disk refuses; the old file is untouched."""
    write_text(file, findings.model_dump_json(indent=1) + "\n")


def read_findings(file: Path) -> Findings:
    """Read findings, and trust nothing in them.

    Raises ProtocolError: there is no such file, or it does not follow protocol/findings.md.
    """
    again = f"make it anew from its journal: scalograph analyze {file.parent}"
    return _read(Findings, file, MAX_BYTES, "findings", "protocol/findings.md", again)


def _read(kind: type[Document], file: Path, most: int, called: str, page: str, again: str) -> Document:
    try:
        data = read_whole(file, most)
        lacks = _missing_key(kind, data) if len(data) > _LARGE else None
        if lacks:
            raise ProtocolError(str(file), f"broken {called}: {lacks}: Field required", page, again)
        return kind.model_validate_json(data)
    except OSError as error:
        raise ProtocolError(str(file), f"cannot be read: {error.strerror}", called, again) from error
    except ValidationError as error:
        first = error.errors()[0]
        where = ".".join(map(str, first["loc"])) or "the document"
        raise ProtocolError(str(file), f"broken {called}: {where}: {first['msg']}", page, again) from error


def read_beside(kind: type[Document], file: Path, most: int, command: str, study_hash: str) -> Document | None:
    """Read the document that `scalograph COMMAND` wrote beside a journal of a study; None if there is none.

    Raises ProtocolError: it cannot be read, is larger than `most` bytes, no such document, or that of another study.
    """
    fix, noun = f"remove it, or make it anew with: scalograph {command}", f"what scalograph {command} writes"
    if not file.is_file():
        return None
    try:
        document = kind.model_validate_json(read_whole(file, most))
    except OSError as error:
        raise ProtocolError(file.name, f"cannot be read: {error.strerror}", noun, fix) from error
    except ValidationError as error:
        first = error.errors(include_url=False, include_context=False, include_input=False)[0]
        where = ".".join(map(str, first["loc"]))[:200]
        raise ProtocolError(f"{file.name}: {where}", str(first["msg"])[:200], noun, fix) from None
    if getattr(document, "study_hash", None) != study_hash:
        raise ProtocolError(file.name, f"the {file.stem} of another study", "one of the study in the journal", fix)
    return document


def _missing_key(kind: type[Document], data: bytes) -> str | None:
    """Return a required key that occurs nowhere: a large file of another tool would be parsed into gigabytes."""
    required = (name for name, field in kind.model_fields.items() if field.is_required())
    return next((name for name in required if f'"{name}"'.encode() not in data), None)


NAME, PAGE = "reproduction.json", "reproduce.html"
AGAIN = "make it anew: scalograph reproduce --resume"
REPRODUCTION_FILE_MAX_BYTES = 64 << 20


def write_reproduction(reproduction: Reproduction, folder: Path) -> None:
    """Replace the file as a whole. Raises HostError: the disk refuses; the old file is untouched."""
    write_text(folder / NAME, reproduction.model_dump_json(indent=1) + "\n")


def has_reproduction(folder: Path) -> bool:
    return (folder / NAME).is_file()


def read_reproduction(folder: Path) -> Reproduction:
    """Read it, and trust nothing in it.

    Raises ProtocolError: there is no such file, or it does not follow protocol/reproduction.md.
    """
    called, page = "reproduction", "protocol/reproduction.md"
    return _read(Reproduction, folder / NAME, REPRODUCTION_FILE_MAX_BYTES, called, page, AGAIN)
