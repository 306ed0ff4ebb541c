"""What a sweep says first: the largest contrast that its intervals carry, the exception, the end."""

from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np
import pytest
from msgspec import structs
from simulate.noise import Noise
from simulate.scaling import SHAPES, simulate_study

from scalograph.findings.curves import make_curves
from scalograph.findings.row import Row
from scalograph.findings.sample import samples_by_configuration
from scalograph.findings.table import Table
from scalograph.protocol.findings import Claim
from scalograph.questions.scaling.claim import claim
from scalograph.text.cell_numbers import cell_number
from tests.kit.findings import cases_of
from tests.kit.shown_numbers import check_numbers

QUIET = Noise(0.003, 0.003)


def table(*shapes: str, noise: Noise = QUIET) -> Table:
    return simulate_study(np.random.default_rng(7), [SHAPES[shape] for shape in shapes], noise)


def said(given: Table) -> Claim:
    taken = samples_by_configuration(given)
    found = claim(given, taken, make_curves(given, taken))
    assert found is not None
    return found


@pytest.mark.parametrize(("shapes", "case", "values", "lower"), [
    (["linear"], "gain", {"level": "4 threads", "who": []}, []),
    ([*["linear"] * 3, "slower"], "gain", {"level": "4 threads", "who": ["lock 0, 1 or 2"]}, ["lock 3"]),
    (["cap", "cap", "cap", "flat"], "gain", {"level": "2 threads", "who": ["lock 0, 1 or 2"]}, ["lock 3"]),
    (["cliff", "flat", "flat", "flat"], "gain", {"level": "4 threads", "who": ["lock 0"]}, ["lock 1, 2 or 3"]),
    (["flat", "flat"], "equivalent", {}, []), (["slower", "flat"], "no gain", {"who": ["lock 0"]}, []),
    # The fewest threads that gain as much stand for all that gain as much.
    (["noisy"], "gain", {"level": "4 threads"}, []),
])  # fmt: skip
def test_claim_and_its_exception(shapes: Sequence[str], case: str, values: dict[str, object], lower: list[str]) -> None:
    found = said(table("linear", noise=Noise(0.02, 0.03)) if shapes == ["noisy"] else table(*shapes))
    first = found.cases[0]
    assert found.answered and first.case == case and first.values.items() >= values.items()
    assert [text for text, _ in cases_of(found).get("beside", {"lower": []})["lower"]] == lower


def test_many_configurations_are_named_by_kind_or_counted() -> None:
    found = said(table("linear", "linear", "linear", "linear", "slower", "flat"))
    ((text, cells),) = cases_of(found)["beside"]["lower"]
    assert text == "lock 4 or 5" and [round(e.value, 1) for e in cells] == [0.7, 1.0]
    found = said(table(*["linear"] * 4, *["slower", "flat"] * 2))
    first, beside = cases_of(found)["gain"], cases_of(found)["beside"]
    assert (first["n"], first["all"], first["who"], beside["n_lower"]) == (4, 8, [], 4)


def test_what_is_inconclusive_or_without_a_run_is_named_beside_what_is_lower() -> None:
    given = table("linear", "linear", "slower")
    given.rows[:] = [row for row in given.rows if row.configuration["lock"] != "1"]
    beside = cases_of(said(given))["beside"]
    assert beside["left"] == ["lock 1"] and [text for text, _ in beside["lower"]] == ["lock 2"]
    given = table("linear", "linear")
    given.rows[:] = [row for row in given.rows if row.configuration["lock"] == "0"]
    found = said(given)
    assert cases_of(found)["beside"]["left"] == ["lock 1"]
    assert found.matrix is not None and [row.label for row in found.matrix.rows] == ["0", "1"]


@pytest.mark.parametrize("shapes", [["linear", "cap", "slower"], ["cliff", "cliff"], ["slower", "flat"], [*SHAPES]])
def test_every_number_of_the_claim_is_a_cell_of_a_row_that_shows(shapes: list[str]) -> None:
    check_numbers(said(table(*shapes)))


def test_a_decline_tells_what_makes_the_difference() -> None:
    parts = cases_of(said(table("linear", "cliff")))["split decline"]
    assert (parts["first"], parts["second"]) == ("lock 0", "lock 1") and parts["level"] in ("8 threads", "16 threads")
    assert [round(e.value, 1) for e in parts["worse"]] == [0.5]
    (fallen,) = cases_of(said(table("cliff", "cliff")))["decline"]["speedup"]
    assert round(fallen.value, 1) == 0.5


Change = Callable[[Row], Row | None]


@pytest.mark.parametrize(("shapes", "noise", "change", "expected"), [
    (["flat", "flat"], Noise(0.5, 0.6), None, "too noisy"),
    (["flat"], Noise(0.02, 0.06), None,
     "Inconclusive: no difference from 1 thread is significant among all comparisons; up to 18% is possible."),
    (["linear", "linear"], QUIET, lambda row: structs.replace(row, verdict="disturbed"),
     "No answer: 50 of 50 runs were disturbed."),
    (["linear"], QUIET, lambda row: None if row.configuration["threads"] == 1 else row,
     "No answer: no run with 1 thread succeeded."),
    (["linear"], QUIET, lambda row: structs.replace(row, scores={**row.scores, "wall": 0.0}),
     "No answer: wall time of 0 or less has no speedup."),
], ids=["too wide", "no difference", "disturbed", "no baseline", "no time"])  # fmt: skip
def test_what_is_not_said_has_its_reason(shapes: list[str], noise: Noise, change: Change | None, expected: str) -> None:
    given = table(*shapes, noise=noise)
    given.rows[:] = [new for row in given.rows if (new := change(row) if change else row) is not None]
    found = said(given)
    assert not found.answered and expected in (found.cases[0].case if found.cases else "", " ".join(found.sentences))


def test_the_matrix_holds_what_the_sentence_says() -> None:
    shown = said(table("linear", "linear", "linear", "slower")).matrix
    assert shown is not None and shown.title == "speedup over 1 thread" and shown.columns[-1].endswith("threads")
    assert shown.rows_are == "lock" and [row.label for row in shown.rows] == ["0, 1, 2", "3"]
    first, last = (row.cells[shown.columns.index("4")].estimate for row in shown.rows)
    assert first and last and first.contains(4.0) and last.contains(0.7)
    assert all(cell.doubt == "" for row in shown.rows for cell in row.cells)


def test_few_clean_runs_are_marked() -> None:
    given = table("linear", "cap")

    def lost(row: Row) -> bool:
        return row.configuration == {"threads": 8, "lock": "0"} and row.block > 1

    given.rows[:] = [structs.replace(row, verdict="disturbed") if lost(row) else row for row in given.rows]
    shown = said(given).matrix
    assert shown is not None
    doubts = [cell.doubt for row in shown.rows for cell in row.cells if cell.doubt]
    assert doubts == ["2 clean runs, 5 asked"]


def test_configurations_that_were_not_measured_there_are_counted_apart() -> None:
    given = table("cliff", "cliff", "cliff", "slower")
    lost = [{"threads": n, "lock": "2"} for n in (8, 16)]
    given.rows[:] = [row for row in given.rows if row.configuration not in lost]
    decline = cases_of(said(given))["decline"]
    assert (decline["n"], decline["all"]) == (2, 3)


def faster_than_can_be(n: float) -> float:
    return 20.0 if n > 1 else 1.0


def test_a_speedup_that_cannot_be_does_not_lead() -> None:
    rng = np.random.default_rng(7)
    found = said(simulate_study(rng, [faster_than_can_be, SHAPES["linear"]], QUIET))
    assert found.cases[0].values["who"] == ["lock 1"] and cases_of(found)["beside"]["left"] == ["lock 0"]
    assert "20" not in " ".join(found.sentences)
    alone = said(simulate_study(rng, [faster_than_can_be], QUIET))
    assert alone.cases[0].case == "impossible" and not alone.answered


def test_a_program_that_waits_may_outgrow_its_cpus() -> None:
    rng = np.random.default_rng(7)
    given = simulate_study(rng, [lambda n: n], QUIET)
    busy = [structs.replace(row, wall_s=row.scores["wall"], cpu_s=row.scores["wall"]) for row in given.rows]
    given.rows[:] = busy
    assert said(given).cases[0].values["level"] == "4 threads"
    given.rows[:] = [structs.replace(row, cpu_s=0.03 * row.scores["wall"]) for row in busy]
    found = said(given)
    assert found.cases[0].values["level"] == "16 threads"
    assert found.sentences[1] == "The program waits for 97% of its time, so more threads than CPUs add speed."


def test_the_matrix_has_no_number_for_an_interval_wider_than_a_factor_of_two() -> None:
    given = simulate_study(np.random.default_rng(3), [SHAPES["linear"]] * 2, Noise(0.1, 0.4), n_blocks=2)
    shown = said(given).matrix
    assert shown is not None
    cells = [
        (e, cell_number(e)) for row in shown.rows for cell in row.cells if (e := cell.estimate) and e.low and e.high
    ]
    assert {text == "inconclusive" for _, text in cells} >= {True}
    assert all((text == "inconclusive") == (e.high > 2 * e.low) for e, text in cells if e.low and e.high)


def on_nodes(given: Table, **changes: object) -> Table:
    """The same runs along nodes of a cluster."""
    factors = {
        name: factor.model_copy(update={"control": "cluster:nodes"}) if name == "threads" else factor
        for name, factor in given.study.factors.items()
    }
    return replace(given, study=given.study.model_copy(update={"factors": factors, **changes}))


@pytest.mark.parametrize(("serial", "low"), [(0.1, True), (0.4, True), (0.0, False)])
def test_weak_scaling_over_nodes_has_its_efficiency_and_gustafsons_serial_share(serial: float, low: bool) -> None:
    def shape(n: float) -> float:
        return (serial + (1 - serial) * n) / n

    given = simulate_study(np.random.default_rng(7), [shape], QUIET)
    weak = cases_of(said(on_nodes(given, work="per-worker")))["weak"]
    n = int(weak["level"].split()[0])
    efficiency = weak["efficiency"].estimate
    assert efficiency.low <= serial / n + 1 - serial <= efficiency.high and efficiency.high - efficiency.low < 0.05
    if low:
        share = weak["serial"].estimate
        assert share.low <= serial <= share.high and share.high - share.low < 0.05
    elif weak["serial"] is not None:
        assert weak["serial"].estimate.low == 0
    assert "weak" not in cases_of(said(on_nodes(given))), "the work is that of all nodes together"
    assert "weak" not in cases_of(said(replace(given))), "threads of one machine"
