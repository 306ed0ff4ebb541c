"""From the runs of a pilot to a protocol."""

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest
from simulate.noise import HIGH, LOW, Noise
from simulate.runs import run_iterations

from scalograph.questions.pilot.plan import PriorRun, PriorRuns, Proposal, propose, read_prior_runs
from scalograph.study.load import parse
from tests.kit.findings import CONFIGURATIONS, write_journal
from tests.kit.records import recorded
from tests.kit.studies import VALID, design_of

ITERATED = VALID.replace("runs = 3", "runs = 20\niterations = 6\nwarmup = 1")
START_S = 2.0


def seen(noise: Noise, n_runs: int = 3, counted: int = 5, ends: Sequence[int] = (0, 1, 4, 5)) -> list[PriorRun]:
    """Runs whose iterations take about 0.1 s, after a start of 2 s."""
    rng = np.random.default_rng(8)
    return [
        PriorRun(CONFIGURATIONS[index], tuple(walls), START_S + float(walls.sum()), float(walls.mean()))
        for index in ends
        for walls in run_iterations(rng, 0.1, n_runs, counted, noise)
    ]


def proposed(runs: list[PriorRun], text: str = ITERATED, *, takes_iterations: bool = True, name: str = "hello-pilot",
             n_excluded: int = 0) -> Proposal:  # fmt: skip
    """What the runs of a pilot propose for a study."""
    prior = PriorRuns(parse(text.replace('"hello"', f'"{name}"')), runs, n_excluded=n_excluded)
    return propose(design_of(text, 4), prior, takes_iterations)


def iterations_of(found: Proposal) -> set[int]:
    return {offer.iterations for offer in found.offers}


def test_it_offers_three_precisions_narrowest_first_with_the_time_of_the_whole_study() -> None:
    found = proposed(seen(LOW))
    assert [offer.precision for offer in found.offers] == [0.01, 0.02, 0.05] and found.warnings == ()
    runs = [offer.runs for offer in found.offers]
    assert runs == sorted(runs, reverse=True) and runs[-1] >= 5
    for offer in found.offers:
        # Six configurations, of which the two baselines run once a block, as two columns ask for.
        run_s = START_S + (offer.iterations - 1) * 0.1
        assert offer.expected_s == pytest.approx(6 * offer.runs * run_s, rel=0.03)
        assert offer.half_width <= offer.precision
    narrow, _, wide = found.offers
    assert found.choose_plan(None) is narrow
    assert found.choose_plan(wide.expected_s) is found.choose_plan(0.001) is wide
    (offer,) = proposed(seen(LOW), ITERATED.replace("runs = 20", 'runs = 20\nprecision = "3%"')).offers
    assert offer.precision == 0.03 and offer.runs >= 10  # the rule looks from the ninth run on


def test_it_says_what_it_saw() -> None:
    found = proposed(seen(LOW, n_runs=100))
    assert (found.study, found.n_runs, found.n_configurations) == ("hello", 400, 4)
    assert found.sd_within == pytest.approx(0.02, rel=0.1)
    assert found.sd_between == pytest.approx(0.03, rel=0.1)
    assert found.start_s == pytest.approx(START_S)
    assert found.iteration_s == pytest.approx(0.1, rel=0.02)


def test_iterations_are_those_of_kalibera_and_jones_after_warmup_far_from_a_timeout() -> None:
    # sqrt(2 s / 0.1 s) 2% / 3% = 3, and one of warm-up
    assert iterations_of(proposed(seen(LOW, n_runs=400))) == {4}
    loud = seen(Noise(within=0.05, between=0.02), n_runs=400)
    # 0.25 s for those of 0.1 s, and a warm-up
    assert iterations_of(proposed(loud, ITERATED.replace('"10s"', '"4.5s"'))) == {3}


ONE = ITERATED.replace("iterations = 6\nwarmup = 1", "iterations = 1")


@pytest.mark.parametrize(("found", "iterations", "unknown", "warning"), [
    (proposed(seen(Noise(within=0.03, between=0.0))), {6}, {"sd_between"},
     "noise between runs is not significant; iterations: 6. Repeat the pilot with "),
    (proposed(seen(LOW, counted=1), ONE), {1}, {"sd_within", "sd_between"},
     "runs of one iteration cannot separate noise within runs from noise between them; iterations: 1"),
    (proposed(seen(LOW), takes_iterations=False), {6}, set(),
     "the workload takes no number of iterations; iterations: 6"),
    (proposed(seen(LOW, n_runs=1)), set(), {"sd_score"},
     "inconclusive: no configuration has 2 undisturbed runs with values above 0 (runs: 4)"),
    (proposed(seen(LOW), n_excluded=3), {4}, set(), "3 of 15 runs are excluded: disturbed or failed"),
], ids=["no noise between runs", "one observation", "no iterations", "too few", "excluded"])  # fmt: skip
def test_the_unknown_is_not_invented(found: Proposal, iterations: set[int], unknown: set[str], warning: str) -> None:
    (told,) = found.warnings
    assert told.startswith(warning) if warning.endswith(" ") else told == warning
    assert iterations_of(found) == iterations and (found.choose_plan(None) is None) == (iterations == set())
    assert {name for name in unknown if getattr(found, name) is not None} == set()


def test_what_is_out_of_reach_is_said_unless_few_runs_assert_it() -> None:
    found = proposed(seen(Noise(within=0.1, between=2.0)))
    assert "\N{PLUS-MINUS SIGN}1% needs more than 10,000 runs per configuration" in found.warnings
    assert 0.01 not in [offer.precision for offer in found.offers]
    few = proposed(seen(Noise(within=0.1, between=0.5), n_runs=2, ends=(0,)))
    (told,) = [text for text in few.warnings if "\N{PLUS-MINUS SIGN}5%" in text]
    why = "inconclusive: 2 undisturbed runs are too few to plan for"
    assert told.startswith(why) and told.endswith(". Repeat the pilot with --wait-quiet 10m")


def test_a_configuration_that_varies_more_and_another_study_are_named() -> None:
    found = proposed([*seen(LOW, ends=(0, 1, 4)), *seen(Noise(0.02, 0.8), ends=(5,))])
    assert any(text.startswith("threads=4 lock=cas varies more") for text in found.warnings)
    other = proposed(seen(LOW), name="other")
    assert other.warnings[0] == "the runs belong to another study: other"
    assert proposed(seen(HIGH), name="hello").warnings[:1] != other.warnings[:1]


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


def test_an_iteration_costs_its_think_time_too_and_a_program_without_has_one(tmp_path: Path) -> None:
    file = tmp_path / "journal.jsonl"
    text = ITERATED.replace("[protocol]", '[protocol]\nthink = "500ms"')
    runs = [(CONFIGURATIONS[0], recorded(19.0, iterations=[(2.0, 1.0, 7)] * 6))] * 2
    assert {run.iteration_s for run in read_prior_runs(write_journal(file, runs, text)).runs} == {2.5}
    runs = [(CONFIGURATIONS[0], recorded(1.5)), (CONFIGURATIONS[0], recorded(1.6))]
    found = read_prior_runs(write_journal(file, runs))
    assert [run.observations for run in found.runs] == [(1.5,), (1.6,)]
    assert {run.iteration_s for run in found.runs} == {0.0} and len(found.groups) == 1
