"""Escapes for text from outside: control characters are shown, never obeyed."""

import unicodedata

# Cc: terminal commands. Cf: invisible, and some turn the reading direction. Cs, Co, Cn: no glyph at all.
UNSEEN = {"Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"}
ASCII_TWINS = str.maketrans(
    {
        "\N{EN DASH}": "-",
        "\N{MICRO SIGN}": "u",
        "\N{MULTIPLICATION SIGN}": "x",
        "\N{MIDDLE DOT}": "-",
        "\N{LESS-THAN OR EQUAL TO}": "<=",
        "\N{GREATER-THAN OR EQUAL TO}": ">=",
        "\N{HORIZONTAL ELLIPSIS}": "...",
        "\N{MINUS SIGN}": "-",
        "\N{PLUS-MINUS SIGN}": "+-",
    }
)


def escape_controls(text: str) -> str:
    r"""Return text on one line with controls and invisible characters as escapes.

    >>> print(escape_controls("a\x1b[31mred\nb"))
    a\x1b[31mred\nb
    """
    if text.isprintable():
        return text
    return "".join(_escape(c) if unicodedata.category(c) in UNSEEN else c for c in text)


def _escape(c: str) -> str:
    return repr(c)[1:-1] if repr(c)[1:-1] != c else f"\\u{ord(c):04x}"


def one_line(text: str) -> str:
    r"""Return text on one line: line breaks and tabs become a space, other controls their escapes.

    >>> one_line("one\n  two")
    'one two'
    """
    return escape_controls(" ".join(text.split()))


def is_text(text: str) -> bool:
    r"""Tell whether text can be encoded as UTF-8: undecodable bytes of names come in as lone surrogates.

    >>> is_text("caf\xe9"), is_text("caf\udce9")
    (True, False)
    """
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def shorten(text: str, limit: int = 1000) -> str:
    """Return text for a message, cut to a limit, with its length.

    >>> shorten("abcdefgh", 3)
    'abc... (8 characters)'
    """
    return text if len(text) <= limit else f"{text[:limit]}... ({len(text)} characters)"


def encodable(text: str, encoding: str) -> str:
    r"""Return text that an encoding can carry.

    >>> encodable("5 \N{MICRO SIGN}s, fine", "ascii")
    '5 us, fine'
    """
    if encoding.lower().replace("-", "").startswith("utf"):
        return text
    plain = text.translate(ASCII_TWINS)
    return plain.encode(encoding, "backslashreplace").decode(encoding)
