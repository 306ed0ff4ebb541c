"""Notes of the journal, and the noise of the machine since its floor was kept."""

from typing import Any

import pytest

from scalograph.findings.overview import list_undeclared_differences
from scalograph.findings.row import Row
from scalograph.findings.run_notes import parse_note, summarize_notes
from scalograph.findings.table import Table
from scalograph.protocol.noise_floor import Recheck
from scalograph.study.load import parse
from tests.kit.studies import VALID


def told(*texts: str, **more: str) -> list[str]:
    return list(summarize_notes([parse_note({"text": text, **more}) for text in texts], None))


def look(**changes: Any) -> Recheck:
    fields = {
        "sd_log_percent": 4.0, "df": 9.0, "median_s": 0.2, "n": 10, "kept_sd_log_percent": 2.0, "kept_median_s": 0.2,
        "kept_at": "2026-01-01T00:00:00Z", "changed": "no", "moved": "no", "sentence": "the noise is another",
    }  # fmt: skip
    return Recheck.model_validate({**fields, **changes})


def test_one_busy_block_is_told_as_it_is_and_many_in_one_sentence() -> None:
    one = "block 2 began on a busy machine: used by others: CPU 0 50 %"
    assert told("first", one) == ["first", one]
    assert told("block 1 began on a quiet machine after waiting 9 s") == []
    many = [f"2 blocks and rounds of repeats began on a busy machine; first: {one}", "first"]
    assert told(one, "first", one.replace("2", "3")) == many


def test_what_a_note_is_about_is_read_from_no_words() -> None:
    assert told("A", "B", about="busy") == ["2 blocks and rounds of repeats began on a busy machine; first: A"]
    assert told("A", "B", about="disturbed") == ["2 blocks had mostly disturbed runs; first: A"]
    assert told("A", "B", about="quiet") == []


@pytest.mark.parametrize(
    ("changes", "n"), [({}, 0), ({"changed": "higher"}, 1), ({"moved": "faster"}, 1), ({"changed": "unknown"}, 0)]
)
def test_noise_that_changed_since_it_was_kept_is_told(changes: dict[str, Any], n: int) -> None:
    assert list(summarize_notes([], look(**changes))) == ["the noise is another"] * n


def row(frequency: int | None) -> Row:
    return Row(
        "r", 0, 0, False, {}, "ok", None, "clean", (), {}, {}, setup=("p", "b", "c", "o", "0"), frequency_hz=frequency
    )


@pytest.mark.parametrize(
    ("frequencies", "told"),
    [([3_000_000_000, 2_000_000_000], True), ([3_000_000_000, 2_800_000_000], False), ([None, 1_000_000_000], False)],
)
def test_frequencies_that_differ_by_a_tenth_are_residue(frequencies: list[int | None], told: bool) -> None:
    found = list_undeclared_differences(
        Table(parse(VALID), "hash", {}, [], [], [row(frequency) for frequency in frequencies])
    )
    assert found == (["frequency: 2.00 to 3.00 GHz at the end of runs; fix the governor"] if told else [])
