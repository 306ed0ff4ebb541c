from pathlib import Path

import polars as pl
import pytest

from scalograph.errors import HostError
from scalograph.exchange.benchmark_values import scores
from scalograph.exchange.export import Columns, csv_text, observations, polars_frame, write
from scalograph.exchange.readers.registry import read
from scalograph.findings import table
from scalograph.findings.sample import samples_by_configuration
from tests.kit.findings import CONFIGURATIONS, write_journal
from tests.kit.records import recorded
from tests.kit.studies import VALID

TWICE = VALID.replace("runs = 3", "runs = 3\niterations = 2")


def frame(tmp_path: Path, text: str = TWICE) -> pl.DataFrame:
    return polars_frame(columns(tmp_path, text))


def columns(tmp_path: Path, text: str = TWICE) -> Columns:
    iterations = [(0.0, 1.0, 7), (2.0, 1.5, 7)]
    runs = [
        (CONFIGURATIONS[0], recorded(2.0, iterations=iterations)),
        (CONFIGURATIONS[1], recorded(status="failed", reason="x")),
    ]
    return observations(table.load(write_journal(tmp_path / "journal.jsonl", runs, text)))


def test_one_row_for_each_observation_with_all_factors(tmp_path: Path) -> None:
    made = frame(tmp_path)
    assert made.columns == [
        "run", "block", "replicate", "warmup", "status", "verdict", "boot", "threads", "lock", "response", "iteration",
        "value", "unit",
    ]  # fmt: skip
    wall = made.filter(pl.col("response") == "wall")
    assert wall["value"].to_list() == [0.0, 2.0]  # a zero was measured
    assert wall["iteration"].to_list() == [0, 1]
    assert wall["unit"].to_list() == ["s", "s"]


def test_a_failed_run_keeps_its_row(tmp_path: Path) -> None:
    (failed,) = frame(tmp_path).filter(pl.col("status") == "failed").to_dicts()
    assert failed["value"] is None and failed["lock"] == "cas" and failed["verdict"] == "failed"


@pytest.mark.parametrize("ending", [".csv", ".parquet"])
def test_both_forms_hold_the_same(tmp_path: Path, ending: str) -> None:
    made = columns(tmp_path)
    file = tmp_path / f"out{ending}"
    write(made, file)
    again = pl.read_csv(file) if ending == ".csv" else pl.read_parquet(file)
    assert again.columns == list(made) and again["value"].to_list() == made["value"]
    assert again["warmup"].to_list() == made["warmup"]


def test_text_that_a_spreadsheet_would_run_is_quoted(tmp_path: Path) -> None:
    made = columns(tmp_path)
    assert ",'=cmd()," in csv_text({**made, "lock": ["=cmd()"] * len(made["run"])})


def test_a_factor_may_be_called_like_a_column(tmp_path: Path) -> None:
    text = VALID.replace("[factors.lock]", "[factors.run]").replace("lock", "run")
    grid = [{"threads": 1, "run": "none"}]
    file = write_journal(
        tmp_path / "journal.jsonl", [(grid[0], recorded())], text, design={"configurations": grid, "runs": [3]}
    )
    made = observations(table.load(file))
    assert made["factor.run"] == ["none", "none"] and made["run"] == ["r0", "r0"]


def test_levels_that_are_numbers_stay_numbers(tmp_path: Path) -> None:
    text = TWICE.replace('levels = ["none", "cas"]', "levels = [0.5, 2]")
    configurations = [{"threads": 1, "lock": level} for level in (0.5, 2)]
    runs = [(configuration, recorded(2.0, iterations=[(1.0, 1.0, 7)] * 2)) for configuration in configurations]
    design = {"configurations": configurations, "runs": [3, 3]}
    made = observations(table.load(write_journal(tmp_path / "journal.jsonl", runs, text, design=design)))
    assert [type(level) for level in made["lock"]] == [float] * len(made["lock"]) and set(made["lock"]) == {0.5, 2.0}


def test_a_disk_that_is_read_only_is_told_in_one_line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(self: Path, *_: object, **__: object) -> None:
        raise OSError(30, "Read-only file system")

    for name in ("replace", "unlink"):
        monkeypatch.setattr(Path, name, refuse)
    with pytest.raises(HostError, match=r"out\.csv: cannot be written: .*Read-only file system"):
        write({"a": [1]}, tmp_path / "out.csv")


def test_what_is_written_is_read_again_as_the_study_tells_it(tmp_path: Path) -> None:
    """Peak memory is no time, one run in four was disturbed, and a level begins as a formula would."""
    text = VALID.replace('levels = ["none", "cas"]', 'levels = ["+XX", "cas"]').replace("lock", "run")
    text += '\n[responses.wall]\nfrom = "window.wall"\nunit = "s"\n'
    text += '\n[responses.kept]\nfrom = "value.kept"\nunit = "bytes"\nbetter = "none"\n'
    configurations = [{"threads": n, "run": lock} for n in (1, 2) for lock in ("+XX", "cas")]
    runs = [
        (configuration, recorded(2.0 + i / 10, neighbor_s=1.5 if i == 3 else 0.0, values={"kept": [1000 + i]}))
        for i in range(4)
        for configuration in configurations
    ]
    journal = write_journal(
        tmp_path / "journal.jsonl", runs, text, design={"configurations": configurations, "runs": [4] * 4}
    )
    loaded = table.load(journal)
    write(observations(loaded), tmp_path / "out.csv")
    imported = read("csv", tmp_path / "out.csv")
    walls = [one for one in imported if one.name == "wall"]
    assert [dict(one.params) for one in walls] == [{k: str(x) for k, x in t.items()} for t in configurations]
    assert [scores(one) for one in walls] == [
        sample.scores("wall") for sample in samples_by_configuration(loaded).values()
    ]
    assert imported[0].notes == ("1 of 4 runs disturbed, left out", "neither times nor rates, left out: kept (bytes)")
