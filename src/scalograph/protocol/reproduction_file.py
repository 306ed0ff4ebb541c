"""reproduction.json as it lies on a disk: written after each part, read by whoever shows it."""

from pathlib import Path

from pydantic import ValidationError

from scalograph.errors import ProtocolError
from scalograph.protocol.bounded import read_whole
from scalograph.protocol.reproduction import Reproduction
from scalograph.protocol.results import write_text

NAME, PAGE = "reproduction.json", "reproduce.html"
AGAIN = "make it anew: scalograph reproduce --resume"
MAX_BYTES = 64 << 20


def write(made: Reproduction, folder: Path) -> None:
    """Replace the file as a whole.

    Raises:
        HostError: the disk refuses; the old file is untouched.
    """
    write_text(folder / NAME, made.model_dump_json(indent=1) + "\n")


def is_there(folder: Path) -> bool:
    """Tell whether a folder holds one."""
    return (folder / NAME).is_file()


def read(folder: Path) -> Reproduction:
    """Read it, and trust nothing in it.

    Raises:
        ProtocolError: there is no such file, or it does not follow protocol/reproduction.md.
    """
    file = folder / NAME
    try:
        return Reproduction.model_validate_json(read_whole(file, MAX_BYTES))
    except OSError as error:
        raise ProtocolError(str(file), f"cannot be read: {error.strerror}", "a reproduction", AGAIN) from error
    except ValidationError as error:
        first = error.errors()[0]
        where = ".".join(map(str, first["loc"])) or "the document"
        raise ProtocolError(str(file), f"{where}: {first['msg']}", "protocol/reproduction.md", AGAIN) from error
