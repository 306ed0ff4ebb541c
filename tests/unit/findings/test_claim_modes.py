"""Claims on runs with two modes of CPU time: what is claimed may be the reason, and only the sentinel shows another."""

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest
from msgspec import structs

from scalograph.findings.published.claim_modes import find_higher_mode
from scalograph.findings.table import Table
from scalograph.findings.whole_run import comparable_samples
from scalograph.protocol.published_claim import DecidedClaim
from scalograph.questions.assemble import findings
from tests.kit.findings import table_of
from tests.kit.records import recorded
from tests.kit.studies import VALID

CONFIGURATIONS = [{"threads": n, "lock": lock} for n in (1, 2, 4) for lock in ("none", "cas")]
N_BLOCKS = 8
EIGHT = {"cpus": tuple(range(8))}
CLAIM = '[[published.claims]]\nid = "a"\nsentence = "b"\n'
LOOP_NS = 1000.0
Factor = Callable[[Mapping[str, Any]], float]
# Of a block and a configuration: whether the CPU had half of its speed in that run.
IsSlow = Callable[[int, int], bool]


def never(block: int, configuration: int) -> bool:
    return False


def scattered(block: int, configuration: int) -> bool:
    """Half of the runs of each configuration, of each other block of it."""
    return (block + configuration) % 2 == 1


def by_block(block: int, configuration: int) -> bool:
    """Half of the runs of each configuration: all runs of a block."""
    return block % 2 == 1


def noise(block: int, configuration: int) -> float:
    return 1 + 0.002 * ((7 * block + 3 * configuration) % 5)


def table_with(folder: Path, claim: str, cpu_factor: Factor, is_slow: IsSlow, loop: IsSlow | None = None) -> Table:
    """Runs of 1 s in all, divided over the threads; `loop`: in which runs the sentinel's loop took twice as long."""
    made, loops = [], []
    for block in range(N_BLOCKS):
        for i, configuration in enumerate(CONFIGURATIONS):
            seconds = noise(block, i) * (2 if is_slow(block, i) else 1)
            cpu_s = seconds * cpu_factor(configuration)
            made.append((configuration, recorded(cpu_s / configuration["threads"], cpu_s, **EIGHT)))
            loops.append(LOOP_NS * noise(block + 1, i) * (2 if loop and loop(block, i) else 1) if loop else None)
    table = table_of(folder, made, f"{VALID}\n{CLAIM}{claim}\n")
    table.rows[:] = [structs.replace(row, loop_ns=loop_ns) for row, loop_ns in zip(table.rows, loops, strict=True)]
    return table


def decide(folder: Path, claim: str, is_slow: IsSlow, loop: IsSlow | None = None) -> DecidedClaim:
    (one,) = findings(table_with(folder, claim, lambda _: 1.0, is_slow, loop), folder).published_claims
    return one


@pytest.mark.parametrize("loop", [None, never], ids=["no sentinel", "a loop of one speed"])
@pytest.mark.parametrize(("cpu_factor", "claim", "decision"), [
    (lambda t: t["threads"] ** 2 if t["lock"] == "cas" else 1.0,
     'kind="flat"\nwhere={lock="cas"}\nalong="threads"\nresponse="cpu"', "does not hold"),
    (lambda t: 1.4 if t["threads"] == 4 else 1.0,
     'kind="ratio"\nwhere={lock="none"}\nof={threads=4}\nover={threads=2}\nresponse="cpu"\nholds=[1.3, 1.5]', "holds"),
    (lambda t: 3.0 if t["threads"] > 1 and t["lock"] == "cas" else 1.0,
     'kind="ratio"\nwhere={threads=2}\nof={lock="cas"}\nover={lock="none"}\nresponse="cpu"\nholds=[2, "any"]', "holds"),
], ids=["a lock collapses", "hardware threads share a core", "threads share a cache line"])  # fmt: skip
def test_what_costs_cpu_time_at_some_levels_is_no_slow_cpu(
    tmp_path: Path, cpu_factor: Factor, claim: str, decision: str, loop: IsSlow | None
) -> None:
    claim = claim.replace('response="cpu"', 'response="cpu_time"')
    text = '[responses.wall]\nfrom = "window.wall"\nunit = "s"\n[responses.cpu_time]\nfrom = "run.cpu"\nunit = "s"\n'
    table = table_with(tmp_path, f"{claim}\n{text.replace('window', 'run')}", cpu_factor, never, loop)
    assert find_higher_mode(table, comparable_samples(table)) is None
    shown = findings(table, tmp_path)
    (one,) = shown.published_claims
    assert (one.decision, one.doubt, [figure.doubt for figure in one.figures if figure.doubt]) == (decision, "", [])
    assert "slower CPU" not in shown.model_dump_json() and "two modes of CPU time" not in shown.model_dump_json()


SAME = 'kind="ratio"\nwhere={lock="none"}\nof={threads=1}\nover={threads=4}\nholds=[3.8, 4.2]'
ALONE = 'kind="value"\nof={threads=1, lock="none"}\nholds=[0.9, 1.1]'


def test_where_half_of_the_runs_took_twice_as_long_both_modes_have_to_agree(tmp_path: Path) -> None:
    table = table_with(tmp_path, SAME, lambda _: 1.0, scattered)
    mode = find_higher_mode(table, comparable_samples(table))
    slow = {row.run for row in table.rows if scattered(row.block, CONFIGURATIONS.index(dict(row.configuration)))}
    assert mode and mode.runs == slow and not mode.is_shown
    agreeing = decide(tmp_path, SAME, by_block)
    assert (agreeing.decision, agreeing.why) == ("holds", "")
    assert agreeing.doubt == "runs have two modes of CPU time, which decide alike"
    two = decide(tmp_path, ALONE, by_block)
    assert (two.decision, two.reason_kind, two.doubt) == ("inconclusive", None, "")
    assert two.why.startswith("runs have two modes of CPU time, which decide differently, and nothing shows")
    (figure,) = two.figures
    assert figure.here and figure.here.value == pytest.approx(1.0, rel=0.02), "that of the mode with less CPU time"
    assert figure.doubt.startswith("1.0") and ", 1.4" in figure.doubt and figure.doubt.endswith(" over all runs")
    assert two.why.endswith(figure.doubt) and figure.decision == "inconclusive"


@pytest.mark.parametrize("is_slow", [scattered, by_block])
def test_runs_that_the_sentinel_shows_on_slower_cpus_are_excluded(tmp_path: Path, is_slow: IsSlow) -> None:
    one = decide(tmp_path, ALONE, is_slow, is_slow)
    assert (one.decision, one.doubt) == ("holds", "runs on slower CPUs, as the fixed loop shows, are excluded")
    (figure,) = one.figures
    assert figure.here and figure.here.n == N_BLOCKS // 2
    assert figure.here.value == pytest.approx(1.0, rel=0.02)


def others(block: int, configuration: int) -> bool:
    return not by_block(block, configuration)


@pytest.mark.parametrize("loop", [never, others, scattered, None])
def test_loop_times_that_do_not_agree_exclude_nothing(tmp_path: Path, loop: IsSlow | None) -> None:
    one = decide(tmp_path, ALONE, by_block, loop)
    assert one.decision == "inconclusive" and "excluded" not in one.doubt
    assert one.figures[0].doubt.endswith(" over all runs")


def test_a_run_that_passes_from_one_mode_to_the_other_is_of_the_nearer_one(tmp_path: Path) -> None:
    """Half of the runs are fast; the others were slow for a part of their time, or for all of it."""
    slowness = (1.0, 1.003, 1.006, 1.001, 1.005, 1.2, 1.5, 1.68, 1.8, 2.0)
    made = [
        (configuration, recorded(factor, factor, **EIGHT))
        for block in range(len(slowness))
        for i, configuration in enumerate(CONFIGURATIONS)
        for factor in [slowness[(block + 3 * i) % len(slowness)]]
    ]
    table = table_of(tmp_path, made, f"{VALID}\n{CLAIM}kind='flat'\nalong='threads'\n")
    mode = find_higher_mode(table, comparable_samples(table))
    assert mode is not None
    factors = sorted(row.cpu_s for row in table.rows if row.run in mode.runs and row.cpu_s)
    assert len(factors) == 4 * len(CONFIGURATIONS) and factors[0] == 1.5
