"""`--export-json FILE`: the document of --json in a file, beside the answer; a place that is none is refused first."""

import json
from pathlib import Path

import pytest

from scalograph.errors import Exit
from tests.golden.command import scalograph
from tests.kit.command import in_process, simulated
from tests.unit.cli.offered import known
from tests.unit.cli.test_compare import journal


@pytest.mark.parametrize(("words", "as_json"), [
    (["compare", "a", "b"], ["--json"]),
    (["gate", "b", "--against", "a"], ["--format", "json"]),
    (["history", "."], ["--json"]),
])  # fmt: skip
def test_the_file_holds_what_json_prints_and_the_answer_is_printed_as_ever(
    tmp_path: Path, words: list[str], as_json: list[str]
) -> None:
    for name, slower in (("a", 1.0), ("b", 1.2)):
        journal(tmp_path, name, slower)
    plain = scalograph(words, tmp_path)
    done = scalograph([*words, "--export-json", "out.json"], tmp_path)
    # The last line names the command that was typed.
    assert done.code == plain.code and done.printed.partition("\ntables")[0] == plain.printed.partition("\ntables")[0]
    assert (tmp_path / "out.json").read_text() == scalograph([*words, *as_json], tmp_path).printed


def test_a_measurement_writes_its_document_with_the_place_of_its_results(tmp_path: Path) -> None:
    words = ["measure", "-r", 3, "-o", "results", "--json", "--export-json", "out.json", "--", "true"]
    done = in_process(*words, cwd=tmp_path, env=simulated(tmp_path, {"true": 0.1}))
    document = json.loads((tmp_path / "out.json").read_text())
    assert document == json.loads(done.stdout) and document["results"] == "results" and document["claim"]


@pytest.mark.parametrize(("file", "code", "message"), [
    ("nowhere/out.json", Exit.HOST, "nowhere/out.json: cannot be written"), (".", Exit.STUDY, "use a plain file"),
    ("/dev/null", Exit.STUDY, "--export-json /dev/null is not valid"),
])  # fmt: skip
def test_a_place_that_is_none_is_refused_before_anything_runs(
    tmp_path: Path, file: str, code: Exit, message: str
) -> None:
    done = in_process("measure", "--export-json", file, "--", "touch", "ran", cwd=tmp_path)
    assert done.returncode == code and message in done.stderr
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("command", ["measure", "ab", "compare", "gate", "history", "find", "load"])
def test_every_command_with_a_document_has_it(command: str) -> None:
    assert "--export-json" in known(command)
