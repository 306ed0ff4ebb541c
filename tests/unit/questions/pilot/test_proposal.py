"""From the runs of a pilot to a protocol."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from simulate.noise import HIGH, LOW, Noise
from simulate.runs import run_iterations

from scalograph.design.planner import Design
from scalograph.design.resolve import design
from scalograph.questions.pilot.plan import PriorRun, PriorRuns, propose, read_prior_runs
from scalograph.study.load import parse
from scalograph.study.model import Study
from tests.kit.findings import CONFIGURATIONS, write_journal
from tests.kit.records import recorded
from tests.kit.studies import VALID, facts_of

HOST = facts_of(4)
ITERATED = VALID.replace("runs = 3", "runs = 20\niterations = 6\nwarmup = 1")
START_S = 2.0


def planned(text: str = ITERATED) -> Design:
    return design(parse(text), HOST)


def seen(noise: Noise, n_runs: int = 3, counted: int = 5, ends: Sequence[int] = (0, 1, 4, 5)) -> list[PriorRun]:
    """Runs whose iterations take about 0.1 s, after a start of 2 s."""
    rng, found = np.random.default_rng(8), []
    for index in ends:
        for walls in run_iterations(rng, 0.1, n_runs, counted, noise):
            found.append(
                PriorRun(CONFIGURATIONS[index], tuple(walls), START_S + float(walls.sum()), float(walls.mean()))
            )
    return found


def pilot_of(runs: list[PriorRun], text: str = ITERATED, name: str = "hello-pilot") -> PriorRuns:
    study: Study = parse(text.replace('"hello"', f'"{name}"'))
    return PriorRuns(study, runs)


def test_it_offers_three_precisions_narrowest_first() -> None:
    found = propose(planned(), pilot_of(seen(LOW)), True)
    assert [offer.precision for offer in found.offers] == [0.01, 0.02, 0.05]
    runs = [offer.runs for offer in found.offers]
    assert runs == sorted(runs, reverse=True) and runs[-1] >= 5
    assert all(offer.half_width <= offer.precision for offer in found.offers)
    assert found.warnings == ()


def test_it_says_what_it_saw() -> None:
    found = propose(planned(), pilot_of(seen(LOW, n_runs=100)), True)
    assert (found.study, found.n_runs, found.n_configurations) == ("hello", 400, 4)
    assert found.sd_within == pytest.approx(0.02, rel=0.1)
    assert found.sd_between == pytest.approx(0.03, rel=0.1)
    assert found.start_s == pytest.approx(START_S)
    assert found.iteration_s == pytest.approx(0.1, rel=0.02)


def test_iterations_are_those_of_kalibera_and_jones_after_warmup() -> None:
    found = propose(planned(), pilot_of(seen(LOW, n_runs=400)), True)
    # sqrt(2 s / 0.1 s) 2% / 3% = 3, and one of warm-up
    assert {offer.iterations for offer in found.offers} == {4}


def test_a_run_stays_far_from_its_timeout() -> None:
    text = ITERATED.replace('"10s"', '"4.5s"')
    loud = Noise(within=0.05, between=0.02)
    found = propose(planned(text), pilot_of(seen(loud, n_runs=400)), True)
    assert {offer.iterations for offer in found.offers} == {3}  # 0.25 s for those of 0.1 s, and a warm-up


def test_time_is_that_of_the_whole_study() -> None:
    found = propose(planned(), pilot_of(seen(LOW)), True)
    for offer in found.offers:
        # Six configurations, of which the two baselines run once a block, as two columns ask for.
        run_s = START_S + (offer.iterations - 1) * 0.1
        assert offer.expected_s == pytest.approx(6 * offer.runs * run_s, rel=0.03)


def test_a_study_that_asks_for_precision_is_offered_that() -> None:
    text = ITERATED.replace("runs = 20", 'runs = 20\nprecision = "3%"')
    (offer,) = propose(planned(text), pilot_of(seen(LOW)), True).offers
    assert offer.precision == 0.03
    assert offer.runs >= 10  # the rule looks from the ninth run on


def test_a_budget_chooses_among_the_offers() -> None:
    found = propose(planned(), pilot_of(seen(LOW)), True)
    narrow, _, wide = found.offers
    assert found.choose_plan(None) is narrow
    assert found.choose_plan(wide.expected_s) is wide
    assert found.choose_plan(0.001) is wide


def test_noise_between_runs_that_does_not_show_is_not_invented() -> None:
    found = propose(planned(), pilot_of(seen(Noise(within=0.03, between=0.0))), True)
    assert found.sd_between is None
    assert {offer.iterations for offer in found.offers} == {6}
    (told,) = found.warnings
    assert told.startswith("noise between runs is not significant; iterations: 6. Repeat the pilot with ")


def test_one_iteration_tells_no_two_noises() -> None:
    text = ITERATED.replace("iterations = 6\nwarmup = 1", "iterations = 1")
    found = propose(planned(text), pilot_of(seen(LOW, counted=1), text), True)
    assert (found.sd_within, found.sd_between) == (None, None)
    assert {offer.iterations for offer in found.offers} == {1}
    assert found.warnings == (
        "runs of one iteration cannot separate noise within runs from noise between them; iterations: 1",
    )


def test_iterations_that_the_workload_does_not_take_stay() -> None:
    found = propose(planned(), pilot_of(seen(LOW)), False)
    assert {offer.iterations for offer in found.offers} == {6}
    assert found.warnings == ("the workload takes no number of iterations; iterations: 6",)


def test_too_few_runs_propose_nothing() -> None:
    found = propose(planned(), pilot_of(seen(LOW, n_runs=1)), True)
    assert found.offers == () and found.sd_score is None
    assert found.warnings == ("inconclusive: no configuration has 2 undisturbed runs with values above 0 (runs: 4)",)
    assert found.choose_plan(None) is None


def test_runs_that_do_not_count_are_counted() -> None:
    found = propose(planned(), replace(pilot_of(seen(LOW)), n_excluded=3), True)
    assert found.warnings == ("3 of 15 runs are excluded: disturbed or failed",)


def test_what_is_out_of_reach_is_said() -> None:
    loud = Noise(within=0.1, between=2.0)
    found = propose(planned(), pilot_of(seen(loud)), True)
    assert "\N{PLUS-MINUS SIGN}1% needs more than 10,000 runs per configuration" in found.warnings
    assert 0.01 not in [offer.precision for offer in found.offers]


def test_few_clean_runs_assert_nothing_about_thousands() -> None:
    few = seen(Noise(within=0.1, between=0.5), n_runs=2, ends=(0,))
    (told,) = [text for text in propose(planned(), pilot_of(few), True).warnings if "\N{PLUS-MINUS SIGN}5%" in text]
    why = "inconclusive: 2 undisturbed runs are too few to plan for"
    assert told.startswith(why) and told.endswith(". Repeat the pilot with --wait-quiet 10m")


def test_a_configuration_that_varies_more_is_named() -> None:
    runs = [*seen(LOW, ends=(0, 1, 4)), *seen(Noise(0.02, 0.8), ends=(5,))]
    found = propose(planned(), pilot_of(runs), True)
    assert any(text.startswith("threads=4 lock=cas varies more") for text in found.warnings)


def test_runs_of_another_study_are_called_that() -> None:
    found = propose(planned(), pilot_of(seen(LOW), name="other"), True)
    assert found.warnings[0] == "the runs belong to another study: other"
    assert propose(planned(), pilot_of(seen(HIGH), name="hello"), True).warnings[:1] != found.warnings[:1]


def test_a_journal_gives_iterations_and_their_time(tmp_path: Path) -> None:
    iterations = [(9.0, 1.0, 7), (1.0, 2.0, 7), (3.0, 2.5, 7), (2.0, 2.1, 7), (2.0, 1, 7), (2.0, 1, 7)]
    good, late = recorded(19.0, iterations=iterations), recorded(19.0, iterations=iterations, neighbor_s=5.0)
    runs = [
        (CONFIGURATIONS[0], good),
        (CONFIGURATIONS[0], late),
        (CONFIGURATIONS[1], recorded(status="failed", reason="x")),
    ]
    found = read_prior_runs(write_journal(tmp_path / "journal.jsonl", runs, ITERATED))
    (run,) = found.runs
    assert found.n_excluded == 2
    assert run.configuration == CONFIGURATIONS[0]
    assert run.observations == pytest.approx((1.0, 3.0, 2.0, 2.0, 2.0))
    assert run.iteration_s == pytest.approx(2.0)
    assert run.start_s == 0.0  # no `ask` event: the clock of the day says nothing


def test_an_iteration_costs_its_think_time_too(tmp_path: Path) -> None:
    text = ITERATED.replace("[protocol]", '[protocol]\nthink = "500ms"')
    runs = [(CONFIGURATIONS[0], recorded(19.0, iterations=[(2.0, 1.0, 7)] * 6))] * 2
    assert {run.iteration_s for run in read_prior_runs(write_journal(tmp_path / "journal.jsonl", runs, text)).runs} == {
        2.5
    }


def test_runs_of_a_program_without_iterations_have_one(tmp_path: Path) -> None:
    runs = [(CONFIGURATIONS[0], recorded(1.5)), (CONFIGURATIONS[0], recorded(1.6))]
    found = read_prior_runs(write_journal(tmp_path / "journal.jsonl", runs))
    assert [run.observations for run in found.runs] == [(1.5,), (1.6,)]
    assert {run.iteration_s for run in found.runs} == {0.0}
    assert len(found.groups) == 1
