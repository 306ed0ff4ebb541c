"""How data and the drawing library travel inside one file: compressed, and in letters that mean nothing to HTML."""

import base64
import gzip
import hashlib
import json
from typing import Any

# Of numbers as text the higher levels make no less, in up to eight times the time.
LEVEL = 6


def pack(text: str) -> str:
    """gzip, then base64. Same text, same letters."""
    return letters(gzip.compress(text.encode(), compresslevel=LEVEL, mtime=0))


def letters(packed: bytes) -> str:
    """base64, which a browser reads by itself, of what is compressed already."""
    return base64.b64encode(packed).decode()


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
