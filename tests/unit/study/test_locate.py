from scalograph.study.toml_text import line_of, locate

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


def test_lines_of_keys_and_tables() -> None:
    lines = locate(TEXT)
    assert lines[("list",)] == 3
    assert lines[("text",)] == 7
    assert lines[("factors", "threads")] == 12
    assert lines[("factors", "threads", "levels")] == 13
    assert lines[("exclude", 0, "x")] == 16
    assert lines[("exclude", 1, "x")] == 19
    assert lines[("exclude", 1, "y", "z")] == 20
    assert ("not", "a") not in lines


def test_the_nearest_ancestor_stands_for_what_has_no_line() -> None:
    lines = locate(TEXT)
    assert line_of(lines, ("exclude", 1, "y", "z", "inline")) == 20
    assert line_of(lines, ("factors", "threads", "unit")) == 12
    assert line_of(lines, ("nowhere",)) is None
