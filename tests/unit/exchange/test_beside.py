"""A benchmark finds its configuration, and the word for their ratio follows from the interval alone."""

from pathlib import Path
from typing import Any

import pytest

from scalograph.analysis.estimate import Estimate
from scalograph.errors import StudyError
from scalograph.exchange.benchmark_claim import (
    BenchmarkComparison,
    agreement_claim,
    compare_with_study,
    label,
    sentences,
    tables,
)
from scalograph.exchange.match import is_level, match, parse_where
from scalograph.exchange.readers.jmh import read
from scalograph.findings.table import Table
from tests.kit.findings import CONFIGURATIONS, load_journal
from tests.kit.records import recorded
from tests.kit.studies import VALID
from tests.unit.exchange.instruments import result, written

CAS = {"threads": "2", "lock": "cas"}


def study(folder: Path, text: str = VALID, runs: int = 4) -> Table:
    """Six configurations; with `threads` they take 1/threads seconds, and runs differ by some percent."""
    made = [(t, recorded((1 + r / 100) / int(t["threads"]))) for t in CONFIGURATIONS for r in range(runs)]
    return load_journal(folder, made, text)


def held(
    folder: Path, forks: list[float], params: dict[str, str] = CAS, unit: str = "s/op", **more: Any
) -> BenchmarkComparison:
    mode = "thrpt" if unit.startswith("ops") else "ss"
    file = written(folder, result([[x, x, 9 * x] for x in forks], unit, mode, params))
    (found,) = compare_with_study(read(file), study(folder, **more), {}, "JMH")
    return found


def test_the_configuration_is_the_one_whose_levels_the_params_name(tmp_path: Path) -> None:
    found = held(tmp_path, [0.50, 0.51, 0.505, 0.51, 0.52], {**CAS, "size": "7"})
    assert found.configuration == {"threads": 2, "lock": "cas"} and found.unmatched_params == {"size": "7"}
    assert (found.figures.n_forks, found.n_runs, found.label) == (5, 4, "agree")
    assert found.study and found.study.value == pytest.approx(0.5075, rel=1e-3)
    (case,) = agreement_claim([found]).cases
    assert (case.case, case.values["benchmark"]) == ("agree", "Sum.run threads=2 lock=cas size=7")
    (shown,) = tables([found], "wall time")
    assert shown.rows[0][-2] == "size=7"


def test_a_difference_is_told_as_percent_more_or_less(tmp_path: Path) -> None:
    slow = held(tmp_path, [0.60, 0.61, 0.605, 0.61, 0.62])
    assert slow.label == "slower" and slow.ratio and slow.ratio.value == pytest.approx(1.2, rel=0.01)
    (case,) = agreement_claim([slow]).cases
    assert (case.case, case.values["word"], case.values["gain"]) == ("differs", "slower", slow.ratio)
    fast = held(tmp_path, [0.40, 0.41, 0.405, 0.41, 0.42])
    assert fast.label == "faster" and " less time (95% CI " in sentences([fast])[0]


def test_two_levels_of_a_factor_are_one_too_many(tmp_path: Path) -> None:
    with pytest.raises(StudyError, match=r"--where: threads=2 and threads=4, expected one level of a factor"):
        parse_where(["threads=2", "threads=4"], study(tmp_path))


def test_what_is_asked_for_may_not_contradict_the_benchmark(tmp_path: Path) -> None:
    found = match(study(tmp_path), CAS, {"threads": "4"})
    assert (found.configuration, found.why) == (None, "it has threads = 2, and --where asks for threads = 4")


def test_few_forks_say_nothing(tmp_path: Path) -> None:
    one, two = held(tmp_path, [0.5]), held(tmp_path, [0.4, 0.7])
    assert one.label == two.label == "unknown"
    for found, words, what in (
        (one, "1 fork and 4 runs give no interval", "processes"),
        (two, "the ratio may lie anywhere from", "processes"),
        (held(tmp_path, [0.5, 0.51, 0.52], runs=1), "give no interval", "runs"),
    ):
        (case,) = agreement_claim([found]).cases
        assert case.case == "few" and words in case.values["reason"] and case.values["what"] == what


def test_a_rate_is_held_against_a_rate_only(tmp_path: Path) -> None:
    rates = [0.50, 0.51, 0.505, 0.51, 0.52]
    time = held(tmp_path, rates, unit="ops/s")
    assert time.ratio is None and 'not compared: JMH has 1/s, the study\'s wall is in "s"' in sentences([time])[0]
    text = VALID + '\n[responses.rate]\nfrom = "run.wall"\nunit = "1/s"\nbetter = "higher"\n'
    assert held(tmp_path, rates, unit="ops/s", text=text).label == "agree"
    assert held(tmp_path, [1.2 * x for x in rates], unit="ops/s", text=text).label == "faster"


@pytest.mark.parametrize(
    ("low", "high", "word"),
    [
        (0.97, 1.04, "agree"), (1.01, 1.04, "agree"), (0.9, 1.2, "agree"), (0.7, 1.1, "unknown"),
        (1.01, 1.10, "slower"), (0.90, 0.99, "faster"), (None, None, "unknown"),
    ],
)  # fmt: skip
def test_the_word_follows_from_the_interval(low: float | None, high: float | None, word: str) -> None:
    assert label(Estimate(1.0, low, high, 0.95, 9, "t"), 5, 5, "s")[0] == word
    of_a_rate = {"slower": "faster", "faster": "slower"}.get(word, word)
    assert label(Estimate(1.0, low, high, 0.95, 9, "t"), 5, 5, "1/s")[0] == of_a_rate


def test_the_unit_of_the_study_counts(tmp_path: Path) -> None:
    text = VALID + '\n[responses.took]\nfrom = "run.wall"\nunit = "ms"\n'
    found = held(tmp_path, [0.5, 0.51, 0.505], text=text)
    assert found.ratio and found.ratio.value == pytest.approx(1000 * 0.505 / 0.5075, rel=0.01)


def test_a_factor_that_jmh_lacks_must_be_named(tmp_path: Path) -> None:
    read_ = study(tmp_path)
    with pytest.raises(StudyError, match=r"no level for lock, expected one: lock has none, cas; add .* --where lock="):
        match(read_, {"threads": "2"}, {})
    assert match(read_, {"threads": "2"}, parse_where(["lock=none"], read_)).configuration == CONFIGURATIONS[2]


@pytest.mark.parametrize("text", ["lock", "lock=mutex", "size=1", "=", "threads=3"])
def test_what_the_study_does_not_have_cannot_be_asked_for(tmp_path: Path, text: str) -> None:
    with pytest.raises(StudyError, match=r"--where: .*, expected"):
        parse_where([text], study(tmp_path))


def test_a_benchmark_without_a_configuration_is_told_and_the_others_compared(tmp_path: Path) -> None:
    file = written(tmp_path, result([[0.5]] * 3, "s/op", params=CAS), result([[1.0]], params={**CAS, "threads": "3"}))
    found = compare_with_study(read(file), study(tmp_path), {}, "JMH")
    assert found[1].configuration is None
    assert "not compared: no configuration of the study has threads = 3" in sentences(found)[1]
    with pytest.raises(StudyError, match="no benchmark has a configuration"):
        compare_with_study(read(file)[1:], study(tmp_path), {}, "JMH")


def test_parameters_that_the_study_fixes_must_be_the_same(tmp_path: Path) -> None:
    use = 'use = "java-threads"\nparameters = { threads = "{threads}", units = 60, workers = "{threads}" }'
    read_ = study(tmp_path, VALID.replace('command = ["./prog", "-t", "{threads}"]', use))
    assert match(read_, {**CAS, "units": "60"}, {}).unmatched == {}
    assert match(read_, {**CAS, "units": "61"}, {}).why == "the study fixes units to 60, not 61"
    filled = match(read_, {"workers": "4", "lock": "cas"}, {})
    assert filled.configuration == {"threads": 4, "lock": "cas"} and filled.unmatched == {}


@pytest.mark.parametrize(
    ("level", "text", "same"),
    [
        (3000, "3000", True), (3000, "3e3", True), (0.5, ".5", False), (0.5, "0.50", True), (1, "1_0", False),
        (1 << 62, str((1 << 62) + 1), False), (True, "true", True), (1, "true", False), ("1", "1.0", False),
    ],
)  # fmt: skip
def test_levels_are_compared_by_value(level: Any, text: str, same: bool) -> None:
    assert is_level(level, text) == same


def test_disturbed_runs_are_said(tmp_path: Path) -> None:
    made = [(CONFIGURATIONS[3], recorded(0.5 + r / 100, 0.5, neighbor_s=0.2 if r == 2 else 0.0)) for r in range(3)]
    every = read(written(tmp_path, result([[0.5]] * 3, "s/op", params=CAS)))
    (found,) = compare_with_study(every, load_journal(tmp_path, made), {}, "JMH")
    assert found.n_runs == 2 and any("1 of 3 runs disturbed" in text for text in found.flags)
