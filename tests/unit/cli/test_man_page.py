"""The manual page, and what a shell completes: both are made of the commands themselves."""

import pytest

from scalograph.cli.app import COMMANDS, app
from scalograph.cli.main import _code
from scalograph.cli.man_page import man_page, roff
from scalograph.study.shipped import shipped_studies


def test_the_page_has_every_command_with_its_options_and_is_printed_by_one(capsys: pytest.CaptureFixture[str]) -> None:
    page = man_page(app, COMMANDS)
    assert all(f'.SS "scalograph {name}"' in page for name in COMMANDS)
    assert ".B \\-r, \\-\\-runs" in page and ".B scalograph find cliff" in page
    macros = {"TH", "SH", "SS", "PP", "TP", "B", "I"}
    assert {line[1:3].strip() for line in page.splitlines() if line.startswith((".", "'"))} <= macros
    assert _code(["--man"]) == 0 and capsys.readouterr().out == man_page(app, COMMANDS)
    assert roff("'quoted' \\ -x") == "\\&'quoted' \\\\ \\-x"


@pytest.mark.parametrize(("words", "place", "found"), [
    ("scalograph me", "1", "measure"), ("scalograph study thread-sc", "2", "thread-scaling"),
    ("scalograph import hyp", "2", "hyperfine"), ("scalograph measure --wait-l", "2", "--wait-lock"),
])  # fmt: skip
def test_commands_options_and_names_are_completed(
    words: str, place: str, found: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    for name, value in {"COMP_WORDS": words, "COMP_CWORD": place, "_SCALOGRAPH_COMPLETE": "complete_bash"}.items():
        monkeypatch.setenv(name, value)
    with pytest.raises(SystemExit):
        _code([])
    assert found in capsys.readouterr().out.split()
    assert found in {*COMMANDS, *shipped_studies(), "hyperfine", "--wait-lock"}
