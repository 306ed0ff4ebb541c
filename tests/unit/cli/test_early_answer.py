"""What a study says before it ends: the answer so far, from made-up runs, and what the rest of them will bring."""

from collections.abc import Callable, Mapping

import pytest

from scalograph.cli.progress import EarlyAnswer
from scalograph.design.grid import GridPlanner
from scalograph.protocol.plain import Level
from tests.kit.records import record
from tests.kit.studies import a_study, design_of

Seconds = Callable[[Mapping[str, Level], int], float]


def early(text: str, seconds: Seconds, n_blocks: int, verdict: str = "clean") -> EarlyAnswer:
    """Return what is known of a study after so many blocks."""
    design = design_of(text, 4)
    shown, planner = EarlyAnswer(design), GridPlanner(design)
    while (run := planner.ask()) and run.block < n_blocks:
        taken = record(wall_s=seconds(run.configuration, run.block))
        planner.tell(run, taken, "clean")
        shown.observe(run, taken, verdict)
    return shown


def scaling(levels: Mapping[str, Level], block: int) -> float:
    """Threads scale to 1.9; blocks differ by up to 2% in what threads gain."""
    return 1.0 if levels["threads"] == 1 else 1.01 ** (block % 3 - 1) / 1.9


THREADS = a_study({"threads": "1,2"}, protocol={"runs": 12}, baseline={"threads": 1})


def test_a_speedup_is_told_after_three_blocks_with_what_the_rest_will_bring() -> None:
    assert early(THREADS, scaling, 2).text() == ""
    shown = early(THREADS, scaling, 3)
    assert shown.text() == "2 threads: about 1.90\N{MULTIPLICATION SIGN} so far (1.85\N{EN DASH}1.95)"
    # Of 12 blocks 9 are left: the interval of 3 shrinks by half.
    assert shown.text(seconds_per_run=10.0, n_left=18).endswith("; 3 min more for \N{PLUS-MINUS SIGN}1.3%")
    assert shown.is_current
    text = a_study({"threads": "1,2"}, protocol={"runs": 100, "precision": "1.25%"}, baseline={"threads": 1})
    said = early(text, scaling, 3).text(seconds_per_run=10.0, n_left=194)
    assert said.endswith(" more for \N{PLUS-MINUS SIGN}1.2%") and "); 3 min more" in said
    assert early(THREADS, scaling, 3, "disturbed").text().endswith("), from disturbed runs")


def test_a_search_has_its_own_words_and_without_a_ratio_the_value_is_told() -> None:
    shown = early(a_study({"threads": "1"}, protocol={"runs": 9}), lambda _, block: 0.0312 * 1.02 ** (block % 3 - 1), 3)
    assert shown.text() == "about 31.2 ms so far (29.7\N{EN DASH}32.8)"
    text = a_study({"cpus": {"control": "cpus", "levels": "1,2,4"}}, question="effective-cpus", baseline={"cpus": 1})
    assert EarlyAnswer(design_of(text, 4)).text() == ""


@pytest.mark.parametrize("tables", [{"reference": {"version": "a"}}, {}])
def test_versions_are_told_as_a_ratio(tables: Mapping[str, Mapping[str, str]]) -> None:
    text = a_study({"version": ["a", "b"]}, protocol={"runs": 9}, **tables)
    said = early(text, lambda x, block: 3.2 * 1.01 ** (block % 3 - 1) if x["version"] == "b" else 1.0, 6).text()
    assert said == "b: about 3.20\N{MULTIPLICATION SIGN} a so far (3.17\N{EN DASH}3.23)"


def test_the_current_configuration_is_told_with_what_is_known_of_it() -> None:
    one = {"threads": 1}
    assert early(THREADS, lambda _, block: 0.0312, 1).value_text(one) == "31.2 ms"
    noisy: Seconds = lambda _, block: 0.0312 * 1.04 ** (block % 3 - 1)  # noqa: E731
    assert early(THREADS, noisy, 6).value_text(one) == "31.2 ms \N{PLUS-MINUS SIGN}3.8%"
    assert early(THREADS, noisy, 0).value_text(one) == ""
    assert early(THREADS, noisy, 2, "disturbed").value_text(one).startswith("30.6 ms")
