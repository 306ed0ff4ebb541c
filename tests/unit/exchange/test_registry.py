"""A further format is one file and one row: a toy reader is imported, and held against a study."""

import json
from pathlib import Path

import pytest

from scalograph.cli.main import _code
from scalograph.study.reader_names import READERS, Reader
from tests.kit.findings import CONFIGURATIONS, write_journal
from tests.kit.records import recorded

TOY = """
from pathlib import Path

from scalograph.exchange.benchmark import Benchmark, Fork


def read(file: Path) -> list[Benchmark]:
    seconds = [float(line) for line in file.read_text().split()]
    return [Benchmark("toy", "once", {"threads": "2", "lock": "cas"}, "s", tuple(Fork([x], [1]) for x in seconds))]
"""


@pytest.fixture
def toy(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A reader in a folder of its own, its row, and a file of its format."""
    (tmp_path / "toy_reader.py").write_text(TOY)
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setitem(READERS, "toy", Reader("Toy", "toy_reader"))
    file = tmp_path / "seconds.txt"
    file.write_text("0.5 0.51 0.52")
    return file


def test_a_further_reader_is_a_file_and_a_row(toy: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert _code(["import", "toy", str(toy), "--tables"]) == 0
    assert "Times by Toy" in capsys.readouterr().out


def test_its_figures_stand_beside_a_study(toy: Path, capsys: pytest.CaptureFixture[str]) -> None:
    made = [(configuration, recorded(0.5 + r / 100)) for configuration in CONFIGURATIONS for r in range(3)]
    write_journal(toy.parent / "journal.jsonl", made)
    assert _code(["import", "toy", str(toy), "--beside", str(toy.parent), "--json"]) == 0
    (one,) = json.loads(capsys.readouterr().out)["benchmarks"]
    assert (one["instrument"], one["label"], one["ratio"]["value"]) == ("Toy", "agree", pytest.approx(1.0))


def test_an_unknown_format_is_refused_with_those_there_are(toy: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert _code(["import", "tox", str(toy)]) == 2
    said = capsys.readouterr().err
    assert 'no format "tox"' in said and "jmh, hyperfine" in said and ", toy" in said
