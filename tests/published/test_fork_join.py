"""The published rows of the fork-join studies, and their claims on machines of which times and break-even are known."""

from collections.abc import Mapping

import pytest

from scalograph.analysis.estimate import Estimate
from scalograph.design.resolve import design
from scalograph.protocol.facts import CpuFact, HostFacts, Jvm
from scalograph.study.load import load, quick_form
from scalograph.study.scalars import Level
from scalograph.study.shipped import shipped_study
from tests.published.claims import decided, decisions, found, printed_rows

FACTS = HostFacts(cpus=(CpuFact(cpu=0, core=0),), jvms=(Jvm(name="17", java="java", release=17, build="17.0.0"),))
FOLDER = shipped_study("fork-join")


def rows() -> dict[tuple[str, int], dict[str, str]]:
    return {(row["version"], int(row["parallelism"])): row for row in printed_rows("fork-join")}


def test_every_row_has_a_configuration_and_the_highest_lie_outside_the_error() -> None:
    study = load(FOLDER / "study.toml")
    assert {(t["version"], t["p"]) for t in design(study, FACTS).configurations} == set(rows())
    quick = {(t["version"], t["p"]) for t in design(quick_form(study), FACTS).configurations}
    assert quick < set(rows()) and ("sequential", 1) in quick
    most = float(rows()["sequential", 1]["time_to_s"])
    times = {p: float(row["time_from_s"]) for (version, p), row in rows().items() if version == "stream"}
    assert {p for p, least in times.items() if least > most} == {64, 128}


def test_factors_are_the_time_at_one_over_that_of_the_row() -> None:
    found = {p: row for (version, p), row in rows().items() if version == "stream"}
    assert list(found) == [1 << i for i in range(8)]
    for row in found.values():
        recomputed = float(found[1]["time_s"]) / float(row["time_s"])
        digits = len(row["scaling_factor"].partition(".")[2])
        assert float(row["scaling_factor"]) == pytest.approx(recomputed, abs=0.51 * 10**-digits)
        if row is not found[1]:
            least = float(found[1]["time_from_s"]) / float(row["time_to_s"])
            most = float(found[1]["time_to_s"]) / float(row["time_from_s"])
            assert (float(row["factor_from"]), float(row["factor_to"])) == pytest.approx((least, most), rel=0.006)


def as_published(configuration: Mapping[str, Level]) -> dict[str, float]:
    """Runs that show what the paper printed; outliers and subtasks as it describes them."""
    version, p = str(configuration["version"]), int(configuration["p"])
    alone = version == "sequential"
    return {
        "wall": float(rows()[version, p]["time_s"]), "tail": 30.0 if p > 32 else 1.5,
        "subtasks": 1 if alone else 8 * p, "subtask": 364 if alone else 25, "subtasks_sum": 364 if alone else 200 * p,
    }  # fmt: skip


def on_two_cpus(configuration: Mapping[str, Level]) -> dict[str, float]:
    """A pool that costs twice the task from the second worker on, and never collapses."""
    p = int(configuration["p"])
    alone = configuration["version"] == "sequential"
    wall = 364e-6 if alone else 364e-6 * (1.2 if p == 1 else 1.5 if p == 2 else 2.5 + p / 100)
    return {"wall": wall, "tail": 4.0, "subtasks": 184, "subtask": 3.4, "subtasks_sum": 364 if alone else 625}


def test_what_was_printed_bears_out_every_claim_that_can_be_compared() -> None:
    shown = decisions("fork-join", as_published, n_cpus=32)
    assert shown.pop("S2-1a") == "not comparable"
    assert shown.pop("S2-4") == "not measured"  # which takes a profile
    assert shown.pop("S2-6") == "not testable here"  # without hardware threads that share a core
    assert set(shown.values()) == {"holds"} and len(shown) == 13


def test_two_cpus_show_what_needs_no_more() -> None:
    shown = found("fork-join", on_two_cpus, quick=True)
    claims = {claim.id: claim for claim in shown.published_claims}

    def with_decision(decision: str) -> list[str]:
        return [name for name, claim in claims.items() if claim.decision == decision]

    assert with_decision("not testable here") == [
        "S2-1d", "S2-1e", "S2-1f", "S2-2a", "S2-2b", "S2-2c", "S2-3b", "S2-3c", "S2-3d", "S2-5", "S2-6",
    ]  # fmt: skip
    assert with_decision("holds") == ["S2-1b"]
    assert with_decision("does not hold") == ["S2-1c", "S2-3a"]
    # A figure of this machine says nothing of a claim of a larger one; the paper's stays.
    assert claims["S2-3b"].why == "it needs 32 CPUs, this machine has 2"
    (figure,) = claims["S2-3b"].figures
    assert (figure.published, figure.here, figure.decision) == (25, None, "not measured")
    (table,) = [table for table in shown.tables if table.title.startswith("Subtasks of a task")]
    assert [column.name for column in table.columns] == [
        "parallelism", "subtasks of a task", "mean time of a subtask", "times of its subtasks together",
    ]  # fmt: skip
    at_32 = next(row for row in table.rows if row[0] == 32)
    values = [cell.value for cell in at_32[1:] if isinstance(cell, Estimate)]
    assert values == [pytest.approx(value, rel=0.01) for value in (184, 3.4, 625)]


def test_published_ratios_are_those_of_the_printed_times() -> None:
    times = {p: float(row["time_s"]) for (_, p), row in rows().items()}
    alone = float(rows()["sequential", 1]["time_s"])
    claims = {claim.id: claim.published for claim in load(FOLDER / "study.toml").published.claims}  # type: ignore[union-attr]
    wanted = {
        "S2-1b": times[1] / alone, "S2-1c": times[2] / alone, "S2-1e": times[64] / alone, "S2-1f": times[128] / alone,
        "S2-1d": [times[p] / alone for p in (4, 8, 16, 32)],
        "S2-2a": [times[p] / times[8] for p in (1, 2, 4, 16, 32, 64, 128)],
        "S2-2b": [times[32] / times[8], times[64] / times[32], times[128] / times[64]],
        "S2-2c": [times[2] / times[1], times[8] / times[2]], "S2-6": times[32] / times[16],
    }  # fmt: skip
    assert {name: claims[name] for name in wanted} == {n: pytest.approx(x, rel=0.005) for n, x in wanted.items()}


@pytest.mark.parametrize(("factor", "decision"), [(13.0, "holds"), (4.4, "does not hold"), (19.5, "inconclusive")])
def test_a_collapse_with_the_options_of_the_paper(factor: float, decision: str) -> None:
    shown = decisions(
        "fork-join-flags", lambda t: {"wall": 364e-6 * (factor if t["flags"] and t["p"] == 64 else 1)}, quick=True,
        noise=0.01, n_cpus=32,
    )  # fmt: skip
    assert shown["S2-1g"] == decision


def times(configuration: Mapping[str, Level], n_even: float, cpus: int = 32) -> dict[str, float]:
    """A pool that pays from so many elements of cost 58 on with 32 workers; its start and its workers cost time."""
    n, p = int(configuration["n"]) * int(configuration["q"]) / 58, int(configuration["p"])
    if configuration["version"] == "sequential":
        return {"wall": n * 1e-7}
    gain = 1 - 1 / min(32, cpus)
    lost = n_even * gain * (p / 32) ** 0.5
    return {"wall": (n / min(p, cpus) + lost) * 1e-7}


@pytest.mark.parametrize(("n_even", "decision"), [(3000, "holds"), (12_000, "does not hold"), (900, "does not hold")])
def test_whether_3000_elements_break_even_with_32_workers(n_even: float, decision: str) -> None:
    claim = decided("break-even", lambda t: times(t, n_even), n_cpus=32, quick=True)["S2-7"]
    assert claim.decision == decision
    (figure,) = claim.figures
    assert figure.published == 0.96 and figure.here and figure.here.value
    truth = times({"version": "sequential", "n": 3000, "q": 58, "p": 32}, n_even)["wall"]
    truth /= times({"version": "stream", "n": 3000, "q": 58, "p": 32}, n_even)["wall"]
    assert figure.here.value == pytest.approx(truth, rel=0.08)


def test_two_cpus_decide_nothing_of_a_point_of_32() -> None:
    claim = decided("break-even", lambda t: times(t, 18_000, cpus=2), n_cpus=2, quick=True)["S2-7"]
    assert claim.decision == "not testable here" and claim.why == "it needs 32 CPUs, this machine has 2"
    assert [(figure.published, figure.here) for figure in claim.figures] == [(0.96, None)]


@pytest.mark.parametrize("name", ["break-even", "break-even-clients"])
def test_the_quick_form_finds_its_line(name: str) -> None:
    def figures(configuration: Mapping[str, Level]) -> dict[str, float]:
        shown = times({"q": 58, **configuration}, 9000, cpus=2)
        clients = int(configuration.get("clients", 1))
        return {"wall": shown["wall"] * (max(1.0, clients / 2) if configuration["version"] == "stream" else 1.0)}

    made = found(name, figures, n_cpus=2, quick=True, noise=0.05)
    assert made.parts["break-even"].decided
    assert made.runs.n_done <= 100  # at most 3 s each: five minutes
