"""How data and the drawing library travel inside one file: compressed, and in letters that HTML ignores."""

import base64
import gzip
import hashlib
import json
from typing import Any

# base85 without the letters that mean something in HTML; the page's script reads the same ones (js/dom.js).
HARMLESS = str.maketrans("<>&", ",./")
# Of numbers as text the higher levels make no less, in up to eight times the time.
LEVEL = 6


def pack(text: str) -> str:
    """gzip, then base85, so that no `<` is left. Same text, same letters."""
    return letters(gzip.compress(text.encode(), compresslevel=LEVEL, mtime=0))


def starter(text: str) -> str:
    """gzip, then base64, which a browser reads by itself: the script that reads all else."""
    return base64.b64encode(gzip.compress(text.encode(), compresslevel=LEVEL, mtime=0)).decode()


def letters(packed: bytes) -> str:
    """base85 of what is compressed already: five letters for four bytes."""
    return base64.b85encode(packed).decode().translate(HARMLESS)


def json_text(value: Any) -> str:
    r"""JSON of plain values and dataclasses, safe inside a script element even where somebody embeds it unpacked.

    >>> json_text({"a": "</script>"})
    '{"a":"\\u003c/script>"}'
    """
    text = json.dumps(value, default=vars, allow_nan=False, separators=(",", ":"))
    return text.replace("<", "\\u003c")


def nonce(*parts: str) -> str:
    """A nonce that follows from what the page holds: the same findings give the same file.

    A page that is opened from a disk has no second visit to protect; what counts is that text inside the
    findings cannot know a digest of itself.
    """
    digest = hashlib.sha256()
    for part in parts:
        digest.update(f"{len(part)}:".encode() + part.encode("utf-8", "backslashreplace"))
    return base64.b64encode(digest.digest()[:18]).decode()
