"""TOML as text: limits before it is parsed, and the line of every key."""

import tomllib
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scalograph.study.toml_text import blank_strings, line_of, locate, parse
from tests.kit.refusals import mistakes


@pytest.mark.parametrize(("text", "message"), [
    ("a = 1\nb = " + "[" * 17 + "]" * 17, "x.toml:2: values nested too deeply, expected at most 16"),
    ("a = " + "{b = " * 17 + "1" + "}" * 17, "x.toml:1: values nested too deeply"),
    ("a.b.c.d.e.f.g.h.i = 1", "x.toml:1: a key of more than 8 parts"),
    ("\n[" + "a . " * 20_000 + "a]", "x.toml:2: a key of more than 8 parts"),
    ('a = 0\n"a"."b".c.d.e.f.g.h."i" = 1', "x.toml:2: a key of more than 8 parts"),
    ("a = 0x" + "f" * 5000, "x.toml:1: a word above 256 characters"),
    ("a = '" + "b" * 70_000 + "'", "x.toml:1: a text above 65536 characters"),
    ("a = [" + "1," * 80_001 + "]", "x.toml: 80001 values, expected at most 80000"),
    ("[[a]]\n" * 20_000, "x.toml: 40000 keys, tables and lists, expected at most 20000"),
    ("\n" * 50_001, "x.toml: 50001 lines, expected at most 50000"),
    ("a = ", "x.toml: not TOML: Invalid value"),
    ("a = 2026-02-30", "x.toml: not TOML: "),
])  # fmt: skip
def test_what_is_beyond_a_limit_is_refused_before_it_is_parsed(text: str, message: str) -> None:
    assert mistakes(parse, text, "x.toml")[0].startswith(message)


@pytest.mark.parametrize("text", [
    'a = "' + "[" * 100 + '"',
    "a = '''\n" + "[" * 100 + "\n'''",
    'a = """\n' + "[" * 50 + '\\"""' + "{" * 50 + '""""',
    "# " + "[" * 100 + " " + "a" * 1000,
    'a = "x.x.x.x.x.x.x.x.x.x.x"',
    "a = 1.5 # a.b.c.d.e.f.g.h.i.j",
    'a = "\\\\" # "' + "[" * 50,
    "a = ['''" + "''', '''".join("abc") + "''']",
])  # fmt: skip
def test_what_stands_in_a_text_or_a_comment_is_nothing_of_its_structure(text: str) -> None:
    assert parse(text, "x.toml") == tomllib.loads(text)


TREES = st.recursive(
    st.integers(-9, 9) | st.text(max_size=8) | st.booleans(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=4), inner, max_size=3),
    max_leaves=8,
)


def written(value: Any) -> str:
    """A value of TOML; every other text is one of several lines."""
    if isinstance(value, dict):
        return "{" + ", ".join(f"{quoted(k)} = {written(v)}" for k, v in value.items()) + "}"
    if isinstance(value, list):
        return "[" + ", ".join(map(written, value)) + "]"
    if isinstance(value, str):
        return quoted(value) if len(value) % 2 else f'""{quoted(value)}""'
    return str(value).lower()


def quoted(text: str) -> str:
    return '"' + "".join(c if c.isalnum() or c in "[]{}=#.,'" else f"\\U{ord(c):08x}" for c in text) + '"'


@given(st.lists(st.tuples(st.text(max_size=6), TREES), max_size=5, unique_by=lambda item: item[0]))
def test_every_key_is_found_in_its_line(items: list[tuple[str, Any]]) -> None:
    text = "".join(f"# [x\n{quoted(key)} = {written(value)}\n" for key, value in items)
    assert len(parse(text, "x.toml")) == len(items)
    assert list(locate(text).values()) == [2 * n for n in range(1, len(items) + 1)]
    assert blank_strings(text).count("\n") == text.count("\n")


TEXT = '''\
version = 1            # line 1
name = "a [b] # c"
list = [
  1,
  2,                   # with ] in a comment
]
text = """
not.a = "key"
[not.a.table]
"""

[factors.threads]
levels = "1,2"

[[exclude]]
x = ["a"]

[[exclude]]
x = ["b"]
y.z = { inline = 1 }
'''


def test_lines_of_keys_and_tables_and_of_the_nearest_ancestor() -> None:
    lines = locate(TEXT)
    assert lines[("list",)] == 3 and lines[("text",)] == 7 and lines[("factors", "threads")] == 12
    assert lines[("factors", "threads", "levels")] == 13 and lines[("exclude", 0, "x")] == 16
    assert lines[("exclude", 1, "x")] == 19 and lines[("exclude", 1, "y", "z")] == 20 and ("not", "a") not in lines
    assert line_of(lines, ("exclude", 1, "y", "z", "inline")) == 20
    assert line_of(lines, ("factors", "threads", "unit")) == 12 and line_of(lines, ("nowhere",)) is None
