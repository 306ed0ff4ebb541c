"""From runs whose law is known to steps, limits and the sentence."""

from typing import Any

import numpy as np
import pytest

from scalograph.cli.adhoc.answer import Along, answer
from scalograph.cli.adhoc.answer_sentence import percents, sentence
from scalograph.cli.adhoc.command_study import Printed, Wish
from scalograph.cli.adhoc.declaration import study_text
from scalograph.cli.adhoc.law_note import law_line, unused
from scalograph.cli.adhoc.next_size import next_gain
from scalograph.cli.adhoc.plot import Mark, plot
from scalograph.cli.adhoc.show import figure, steps_table
from scalograph.findings.table import Row, Table
from scalograph.study.load import parse

OPS = Printed("ops", "ops/s", "higher", r"(\d+)")


def table(
    levels: tuple[int, ...] = (1, 2, 4, 8),
    sigma: float = 0.05,
    factor: str = "threads",
    responses: tuple[Printed, ...] = (),
    wall_s: float = 1.0,
    failing: tuple[int, ...] = (),
    cpus: int = 8,
) -> Table:
    """Runs of a program with so large a serial share, on so many CPUs (or on as many as the level says)."""
    text = ",".join(map(str, levels))
    study = parse(study_text(Wish(("p", "{threads}"), {factor: text}, responses=responses)))
    rng = np.random.default_rng(3)
    treatments: list[dict[str, Any]] = [{factor: n} for n in levels]

    def row(n: int, block: int) -> Row:
        at_once = n if factor == "cpus" else min(n, cpus)
        took = wall_s * (1 + sigma * (at_once - 1)) / at_once * float(np.exp(0.01 * rng.standard_normal()))
        scores = {"wall": took, "cpu": wall_s, "cpu_percent": 100 * wall_s / took, "ops": 1000 / took}
        scores = {name: score for name, score in scores.items() if name in study.responses}
        status, n_cpus = "failed" if n in failing else "ok", n if factor == "cpus" else cpus
        verdict = "failed" if n in failing else "clean"
        kept = {} if n in failing else scores
        return Row(
            f"b{block}-{n}", block, block, False, {factor: n}, status, None, verdict, (), {}, kept, n_cpus=n_cpus,
            wall_s=took,
        )  # fmt: skip

    rows = [row(n, block) for block in range(8) for n in levels]
    return Table(study, "hash", {}, list(treatments), [8] * len(levels), rows)


def only(given: Table, cost: float | None = None) -> Along:
    (along,) = answer(given, cost)
    return along


def test_each_step_gains_what_the_law_says() -> None:
    along = only(table())
    assert [step.level for step in along.steps] == [1, 2, 4, 8]
    assert along.steps[0].gain is None
    for before, now in zip(along.steps, along.steps[1:], strict=False):
        a, b = int(before.level), int(now.level)
        true = (b / (1 + 0.05 * (b - 1))) / (a / (1 + 0.05 * (a - 1))) - 1
        assert now.gain is not None and now.gain.contains(true)
        assert now.efficiency is not None and now.efficiency.contains(1 / (1 + 0.05 * (b - 1)))


@pytest.mark.parametrize("responses", [(), (OPS,)])
def test_the_serial_share_is_found_again(responses: tuple[Printed, ...]) -> None:
    along = only(table(responses=responses))
    assert along.law is not None and along.serial is along.law.sigma
    assert along.serial.low is not None and along.serial.low < 0.05 < float(along.serial.high or 0)


def test_two_sizes_give_it_by_karp_and_flatt_and_a_bracket_for_the_third() -> None:
    along = only(table((1, 2), factor="cpus"))
    assert along.law is None and along.serial is not None and along.serial.contains(0.05)
    assert along.next_size == 3 and along.next is not None
    amdahl = (3 / 1.1) / (2 / 1.05) - 1
    assert along.next.contains(amdahl)
    assert "serial share" in sentence(along, 0.8) and "a third would gain" in sentence(along, 0.8)


@pytest.mark.parametrize("levels", [(1, 4), (1, 2, 4), (1, 2, 4, 8)])
def test_more_workers_than_cpus_are_no_serial_share(levels: tuple[int, ...]) -> None:
    along = only(table(levels, sigma=0.05, cpus=2))
    assert along.serial is not None and along.serial.contains(0.05) and float(along.serial.high or 1) < 0.08
    assert along.next is None
    assert only(table((4, 8), cpus=2)).serial is None


def test_nothing_is_said_past_the_cpus_where_a_worker_needs_one() -> None:
    assert only(table()).next is None
    assert only(table((1, 2, 4))).next_size == 5


def test_cost_counts_the_cpus_that_a_step_adds() -> None:
    cheap, dear = only(table(factor="cpus"), 0.1), only(table(factor="cpus"), 0.2)
    for a, b in zip(cheap.steps[1:], dear.steps[1:], strict=True):
        assert a.per_cost and b.per_cost and a.gain and a.per_cost.value and a.gain.value
        assert a.per_cost.value == pytest.approx(2 * float(b.per_cost.value or 0))
        assert a.per_cost.value == pytest.approx(100 * a.gain.value / (0.1 * int(a.level) / 2))
    # Sixteen threads have no more CPUs than eight: they cost nothing more.
    assert only(table((1, 8, 16)), 0.1).steps[-1].per_cost is None


def test_take_the_last_level_that_is_worth_it() -> None:
    assert "with a target of 80 % efficiency take 4" in sentence(only(table(sigma=0.06)), 0.8)
    assert "take 1" in sentence(only(table(sigma=0.9)), 0.8)


def test_the_sentence_of_a_known_program() -> None:
    text = sentence(only(table(sigma=0.05)), 0.8)
    assert text.startswith("Uses 5.95 of 8 CPUs; serial share 4.2 to 5.1 %; ")
    assert text.endswith(".")


def test_a_level_that_failed_has_its_row_and_the_others_their_figures() -> None:
    given = table(failing=(4,))
    along = only(given)
    assert [step.sample.n_failed for step in along.steps] == [0, 0, 8, 0]
    assert along.steps[1].speedup and along.steps[1].speedup.value
    doc = steps_table(given, [along])
    assert [row[-1] for row in doc.rows] == ["8", "8", "0, 8 failed", "8"]
    assert len(figure(along)) > 0
    assert "serial share" in sentence(along, 0.8)


def test_a_baseline_that_failed_leaves_times() -> None:
    given = table(failing=(1,))
    along = only(given)
    assert all(step.speedup is None or step.speedup.value is None for step in along.steps[1:])
    assert figure(along) == []
    doc = steps_table(given, [along])
    assert doc.rows[1][1].value == pytest.approx(0.525, rel=0.05)


def test_runs_too_short_say_nothing_of_cpus_used() -> None:
    along = only(table(wall_s=0.001))
    assert all(step.cpus is None for step in along.steps)
    assert "Uses" not in sentence(along, 0.8)


def test_a_factor_that_counts_nothing_has_rows_only() -> None:
    study = parse(study_text(Wish(("p", "{gc}"), {"gc": "a,b"})))
    rows = [
        Row(f"{gc}{i}", i, i, False, {"gc": gc}, "ok", None, "clean", (), {}, {"wall": 1.0 + i / 100}, wall_s=1.0)
        for gc in "ab"
        for i in range(3)
    ]
    given = Table(study, "hash", {}, [{"gc": "a"}, {"gc": "b"}], [3, 3], rows)
    along = only(given)
    assert [step.level for step in along.steps] == ["a", "b"]
    assert along.law is None and figure(along) == [] and sentence(along, 0.8) == ""


def test_the_bracket_of_one_more() -> None:
    from scalograph.analysis.estimate import Estimate

    found = next_gain(Estimate(0.0, -0.01, 0.0, 0.95, 10, ""), 1)
    assert found is not None and found.low == found.high == 1.0
    assert next_gain(Estimate(None, None, None, 0.95, 0, ""), 1) is None


def test_a_figure_holds_every_mark() -> None:
    marks = [Mark(1, 1, 1, 1), Mark(2, 1.9, 1.8, 2.0), Mark(4, 3.0, 2.7, 3.3)]
    lines = plot(marks, lambda n: 0.9 * n)
    text = "\n".join(lines)
    assert text.count("o") == 3 and "|" in text and "." in text and "-" in text
    assert lines[-1].split() == ["1", "2", "4"]
    assert plot(marks[:1]) == []
    assert all(line.isascii() and len(line) <= 72 for line in lines)


def test_many_levels_stand_at_equal_factors() -> None:
    marks = [Mark(2.0**k, 1 + k / 10, 1, 1 + k / 9) for k in range(10)]
    *_, axis = plot(marks)
    places = [axis.index(f" {2**k} ") for k in (1, 2, 3)]
    assert places[1] - places[0] in (6, 7) and places[2] - places[1] in (6, 7)


def test_the_law_in_figures() -> None:
    text = law_line(only(table()))
    assert text.startswith("Law: sigma 0.04") and ", kappa 0" in text and "largest above " in text
    assert law_line(only(table((1, 2)))) == ""


def test_a_command_that_ignores_its_level_is_told() -> None:
    same = table(sigma=1.0)
    assert unused(same, only(same)) == (
        "The same at all levels of threads, and CPUs used do not rise: does the command use {threads}?"
    )
    for other in (table(), table((1,)), table(factor="cpus", sigma=1.0), table(factor="copies", sigma=1.0)):
        assert unused(other, only(other)) == ""


def test_levels_that_are_hardly_known_are_not_called_the_same() -> None:
    few, wide = table(sigma=1.0), table(sigma=1.0)
    few.rows[:] = few.rows[: len(few.treatments)]
    for row in wide.rows:
        row.scores["wall"] *= 1 + 0.2 * (row.block % 3 - 1)
    assert unused(few, only(few)) == unused(wide, only(wide)) == ""


def test_shares_in_words() -> None:
    assert percents(0.04, 0.06) == "4 to 6 %"
    assert percents(0.001, 0.002) == "0.1 to 0.2 %"
    assert percents(1.0, 1.0) == "100 %"


def test_a_program_that_uses_one_cpu_of_many_is_told_so() -> None:
    along = only(table((1, 2, 4, 8, 12), sigma=1.0, factor="cpus"))
    assert sentence(along, 0.8).startswith("Uses 1 of 12 CPUs")


def test_a_figure_that_is_zero_at_first_is_no_reason_to_fail() -> None:
    lost = Printed("lost", "", "lower", r"(\d+)")
    given = table((1, 2, 4), responses=(lost,))
    for row in given.rows:
        row.scores["lost"] = 0.0 if row.treatment["threads"] == 1 else 3.0
    assert unused(given, only(given)) == ""
