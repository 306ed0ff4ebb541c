"""Text from outside, made harmless: its control characters are shown, never obeyed."""

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
    r"""Return text on one line in which every character can be seen: controls become their escapes.

    >>> print(escape_controls("a\x1b[31mred\nb"))
    a\x1b[31mred\nb
    """
    if text.isprintable():
        return text
    return "".join(_escape(c) if unicodedata.category(c) in UNSEEN else c for c in text)


def one_line(text: str) -> str:
    r"""Return a sentence on one line: like `visible`, but a line break or a tab becomes a space.

    >>> one_line("one\n  two")
    'one two'
    """
    return escape_controls(" ".join(text.split()))


def is_text(text: str) -> bool:
    r"""Tell whether UTF-8 can carry it; bytes of names and arguments that are none come in as lone surrogates.

    >>> is_text("caf\xe9"), is_text("caf\udce9")
    (True, False)
    """
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def shorten(text: str, limit: int = 1000) -> str:
    """Return a text for a message: of a longer one its beginning, and how long it is.

    >>> shorten("abcdefgh", 3)
    'abc... (8 characters)'
    """
    return text if len(text) <= limit else f"{text[:limit]}... ({len(text)} characters)"


def encodable(text: str, encoding: str) -> str:
    r"""Return text that a stream of this encoding can carry.

    >>> encodable("5 \N{MICRO SIGN}s, fine", "ascii")
    '5 us, fine'
    """
    if encoding.lower().replace("-", "").startswith("utf"):
        return text
    plain = text.translate(ASCII_TWINS)
    return plain.encode(encoding, "backslashreplace").decode(encoding)


def _escape(c: str) -> str:
    return repr(c)[1:-1] if repr(c)[1:-1] != c else f"\\u{ord(c):04x}"
