"""The floor of runs whose noise is known: what counts, what was left out and why, and whether A equals B."""

import math
from collections.abc import Iterator

import numpy as np
import pytest
from msgspec.structs import replace
from simulate.noise import Noise

from scalograph.findings.row import Row
from scalograph.findings.table import Table
from scalograph.machine.floor import floor
from scalograph.machine.floor.floor import consecutive_reference, floor_part, noise_floor, spread
from scalograph.machine.floor.floor import floor_rows as in_words
from scalograph.study.load import parse
from scalograph.study.shipped import shipped_study
from scalograph.verdict.cause import Cause

NEIGHBOR = Cause("neighbor", 0.4, "of wanted", "preempted by cc1 for 40.0% of it")


def rows(scores: np.ndarray, n_cpus: int = 1) -> Iterator[Row]:
    """A and B in turn, two in each block; `scores` of shape (blocks, 2)."""
    for block, pair in enumerate(scores):
        for label, score in zip("AB", pair, strict=True):
            yield Row(
                run=f"{n_cpus}{label}{block}", block=block, replicate=block, warmup=False,
                configuration={"label": label, "cpus": n_cpus}, status="ok", reason=None, verdict="clean", causes=(),
                observations={}, scores={"wall": float(score)},
            )  # fmt: skip


def quiet(sd: float = 0.01, blocks: int = 50, seed: int = 20264) -> np.ndarray:
    return 0.2 * np.exp(np.random.default_rng(seed).normal(0, sd, (blocks, 2)))


def test_a_quiet_machine() -> None:
    found = floor_part(list(rows(quiet())), 1)
    assert (found.n, found.n_disturbed, found.n_failed, found.n_runs) == (100, 0, 0, 100)
    assert found.spread and found.spread.low and found.spread.high
    assert found.spread.low < 1.0 < found.spread.high
    assert found.median_s == pytest.approx(0.2, rel=0.01)
    assert list(found.detectable_percent) == [3, 5, 10, 20]
    assert found.difference and not found.difference.is_false and found.difference.n == 50
    assert found.reference and (found.reference.n, found.reference.runs) == (10, 10)


def test_disturbed_runs_are_left_out_by_cause_and_slow_ones_are_not() -> None:
    scores = quiet()
    scores[3, 0], scores[7, 1] = 0.4, 0.4  # one with a cause, one without
    every = list(rows(scores))
    every[6] = replace(every[6], verdict="disturbed", causes=(NEIGHBOR,))
    every[9] = replace(every[9], status="failed", verdict="failed", scores={})
    found = floor_part(every, 1)
    assert (found.n, found.n_disturbed, found.n_failed) == (98, 1, 1)
    assert found.causes == {"neighbor": 1} and found.worst == NEIGHBOR.text
    assert found.difference and found.difference.n == 48
    assert found.spread and found.spread.sd_log_percent > 5  # the slow run without a cause counts


def test_a_difference_is_an_objection_a_drift_of_both_none_and_false_ones_are_rare() -> None:
    found = noise_floor(table(list(rows(quiet() * [1.05, 1]))))
    assert found.single_cpu and found.single_cpu.difference and found.single_cpu.difference.is_false
    (said,) = found.warnings
    assert said.startswith("on 1 CPU A differs from B by") and said.endswith("the method is wrong")
    found = noise_floor(table(list(rows(quiet() * np.exp(np.linspace(0, 0.06, 50))[:, None]))))
    assert found.warnings == ()
    assert found.single_cpu and found.single_cpu.spread and found.single_cpu.reference
    assert found.single_cpu.reference.spread.sd_log_percent < found.single_cpu.spread.sd_log_percent
    # 1% of A/A studies by chance: 5 of 500, and hardly ever more than 14.
    found = [floor.aa_difference(list(rows(quiet(blocks=20, seed=seed)))) for seed in range(500)]
    assert sum(one is not None and one.is_false for one in found) <= 14


def test_a_busy_machine_has_no_floor() -> None:
    every = [replace(row, verdict="disturbed", causes=(NEIGHBOR,)) for row in rows(quiet())]
    found = noise_floor(table(every))
    alone = found.single_cpu
    assert alone and (alone.spread, alone.difference, alone.reference) == (None, None, None)
    assert found.warnings == ("on 1 CPU only 0 of 100 runs count: too few for a floor",)
    shown = dict(line[:2] for line in in_words(found))
    assert shown["runs differ by (sd of logs)"] == shown["A over B (99%)"] == shown["median time"] == "not known"


def test_one_part_for_each_number_of_cpus_with_enough_runs() -> None:
    found = noise_floor(table([*rows(quiet(), 8), *rows(quiet(0.03), 1)]))
    assert [part.n_cpus for part in found.parts] == [1, 8]
    lines = list(in_words(found))
    assert lines[0] == ["the same work", "on 1 CPU", "on 8 CPUs"]
    assert {len(line) for line in lines} == {3}
    smallest = [line[0] for line in lines if line[0].startswith("smallest")]
    assert smallest == [f"smallest effect, {n} runs each" for n in (3, 5, 10, 20)]
    scores = list(quiet().ravel())
    assert consecutive_reference(scores[:29]) is None
    assert consecutive_reference([0.2] * 100) is None
    found = consecutive_reference(scores[:39])
    assert found and found.n == 3


def table(rows: list[Row]) -> Table:
    study = parse((shipped_study("noise-floor") / "study.toml").read_text())
    return Table(study, "h", {"n_cpus": 2}, [], [], rows=rows)


def test_spread_by_hand() -> None:
    """Logs -2 .. 2% twice, at other means: squares 20 over 8 degrees of freedom."""
    logs = np.array([-2, -1, 0, 1, 2]) / 100
    found = spread([list(np.exp(logs)), list(np.exp(logs + 5))])
    assert found is not None and found.low is not None and found.high is not None
    assert found.sd_log_percent == pytest.approx(math.sqrt(20 / 8))
    assert found.df == 8  # kurtosis 1.7 is below that of normal logs: worth no more than its runs
    assert found.kurtosis == pytest.approx(10 * 2 * 34 / 400)
    # Chi-square of 8: 2.180 and 17.535.
    assert (found.low, found.high) == pytest.approx((math.sqrt(20 / 17.535), math.sqrt(20 / 2.180)), rel=1e-3)


@pytest.mark.parametrize("groups", [[], [[1.0]], [[1.0, 1.1, 1.2, 1.3]], [[2.0] * 9], [[1.0]] * 9])
def test_too_little_to_tell(groups: list[list[float]]) -> None:
    assert spread(groups) is None


def test_runs_that_stick_out_are_worth_less_and_the_interval_covers() -> None:
    assert [floor.effective_df(n, kurtosis) for n, kurtosis in ((10, 3.0), (10, 2.0), (1, 3.0))] == [9, 9, 0]
    assert floor.effective_df(10, 30.0) == pytest.approx(20 / (30 - 7 / 9))
    # Nominal 95%: of normal runs, and of runs of which a few are slowed, where the plain one covers far less.
    rng = np.random.default_rng(20261)
    for noise, true, least in ((Noise(0, 0.02), 0.02, 0.93), (Noise(0, 0.02, 0.03, 1.1), 0.0258, 0.88)):
        samples = np.exp(noise.run_logs(rng, (1000, 100)))
        found = [spread([list(sample)]) for sample in samples]
        inside = [f for f in found if f and f.low and f.high and f.low <= 100 * true <= f.high]
        assert least <= len(inside) / 1000 <= 0.985


def test_what_can_be_seen() -> None:
    """A log effect of 9.1% (methods: sd 3%, 3 runs of each) is a ratio of exp(0.091)."""
    found = floor.detectable_effects(3.0)
    assert found == pytest.approx({3: 9.53, 5: 6.29, 10: 4.11, 20: 2.75}, abs=0.06)
    assert floor.detectable_effects(3.0, (1,)) == {}
