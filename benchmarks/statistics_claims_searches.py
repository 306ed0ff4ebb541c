"""How often is a claim of a search, a surface or a parallel build false, and how often is it made where it is true?

Studies of simulated runs go through the same analysis as real ones. Each sentence that a claim can begin with has its
share of false ones; then how often it is said where it should be. Noise as `simulate.noise` has it; runs of builds
drift from block to block.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from math import exp, log

import numpy as np
from simulate.cliff import Draw, JumpingProgram, bend, curve, jump, line
from simulate.noise import NOISES, Noise
from statistics_common import Case, Measure, main, share

from scalograph.findings.row import Row
from scalograph.findings.table import Table
from scalograph.findings.whole_run import comparable_samples
from scalograph.protocol.findings import Claim
from scalograph.protocol.plain import Level
from scalograph.questions.break_even.answer import break_even, replay_search
from scalograph.questions.break_even.claim import break_even_claim
from scalograph.questions.break_even.document import BreakEvenLine
from scalograph.questions.break_even.search_state import begin as begin_pairs
from scalograph.questions.cliff.answer import cliffs
from scalograph.questions.cliff.claim import cliff_claim
from scalograph.questions.cliff.search_state import CliffState
from scalograph.questions.parallel_build.claim import build_claim
from scalograph.questions.surface.answer import answer as surface_answer
from scalograph.study.load import parse

FALSE, USEFUL = (0.0, 5.0), (80.0, 100.0)
TOP, CPUS = 512, 8
HEAD = 'version = 1\nname = "s"\ntitle = "t"\nseed = 1\n'
RESPONSE = '[responses.wall]\nfrom = "run.wall"\nunit = "s"\n'
CLIFF = """\
question = "cliff"
work = "total"
[workload]
command = ["p", "{n}"]
[factors.n]
levels = "1:512"
"""
EVEN = """\
question = "break-even"
work = "total"
[workload]
command = ["p", "{version}", "{size}", "{workers}"]
[factors.version]
levels = ["sequential", "parallel"]
[factors.size]
levels = "16:65536:*2"
role = "size"
[factors.workers]
levels = [1, 2, 4, 8]
role = "workers"
[baseline]
version = "sequential"
"""
SURFACE = """\
work = "per-worker"
[workload]
command = ["p"]
copies = "{copies}"
[factors.copies]
levels = [1, 2, 3, 4, 6, 8]
[factors.cpus]
control = "cpus"
levels = [1, 2]
[baseline]
copies = 1
"""
BUILD = """\
work = "total"
[workload]
command = ["make", "-j{jobs}"]
[factors.jobs]
title = "-j"
levels = [1, 2, 4, 8]
[baseline]
jobs = 1
"""

Configuration = Mapping[str, Level]


def table(
    text: str, seed: int, configurations: Sequence[Configuration], runs: Iterable[tuple[Configuration, int, float]]
) -> Table:
    """A study whose runs (configuration, block, score) were all clean."""
    study = parse(HEAD.replace("seed = 1", f"seed = {seed}") + text + RESPONSE)
    rows = [
        Row(
            f"r{i}",
            block,
            0,
            False,
            configuration,
            "ok",
            None,
            "clean",
            (),
            {},
            {"wall": score},
            n_cpus=2,
            wall_s=score,
        )
        for i, (configuration, block, score) in enumerate(runs)
    ]
    return Table(study, "h", {"n_cpus": CPUS}, [*configurations], [1] * len(configurations), rows)


def cliff_said(program: JumpingProgram, rng: np.random.Generator, noise: Noise) -> Claim:
    """The claim of a search over all levels."""
    seed = int(rng.integers(1 << 30))
    state, runs = CliffState(range(1, TOP + 1), seed), list[tuple[Configuration, int, float]]()
    while (n := state.next_level) is not None and len(runs) < 60:
        runs.append(({"n": n}, len(runs), program.run(n, rng, noise)))
        state.observe(n, runs[-1][2])
    read = table(CLIFF, seed, [{"n": n} for n in range(1, TOP + 1)], runs)
    return cliff_claim(read, cliffs(read))


def jumps(claim: Claim) -> bool:
    """Whether it tells of a cliff."""
    return claim.answered and claim.cases[0].case != "none"


def cliff_false(draw: Draw, noise: Noise) -> Measure:
    """Share of claims that are false: a jump where there is none, or elsewhere; none where there is one."""

    def is_false(program: JumpingProgram, claim: Claim) -> bool:
        if not claim.answered:
            return False
        if program.place is None or not jumps(claim):
            return (program.place is None) == jumps(claim)
        ends = (
            [float(x) for row in claim.matrix.rows for x in row.label.split(" to ") if x[0].isdigit()]
            if claim.matrix
            else []
        )
        return bool(ends) and not any(a - 1 <= exp(program.place) <= b + 1 for a, b in zip(ends[::2], ends[1::2]))  # noqa: B905

    return counting(lambda rng: is_false(program := draw(rng, TOP), cliff_said(program, rng, noise)))


def cliff_useful(draw: Draw, noise: Noise, wanted: bool) -> Measure:
    """Share of searches that tell of the jump that there is, or that there is none."""

    def said(rng: np.random.Generator) -> bool:
        claim = cliff_said(draw(rng, TOP), rng, noise)
        return claim.answered and jumps(claim) == wanted

    return counting(said)


def even_searched(
    rng: np.random.Generator, sd: float
) -> tuple[Claim, Sequence[BreakEvenLine], Callable[[float], float]]:
    """The claim of a search, its lines, and from which size a parallel version wins by its number of workers."""
    start, worker, seed = (
        exp(rng.uniform(log(100), log(3000))),
        exp(rng.uniform(log(1), log(50))),
        int(rng.integers(1e6)),
    )
    versions = ("sequential", "parallel")
    sizes, workers = [16 * 2**i for i in range(13)], (1, 2, 4, 8)
    configurations: list[Configuration] = [
        {"version": v, "size": n, "workers": p} for v in versions for n in sizes for p in workers
    ]
    empty = table(EVEN, seed, configurations, [])
    search, runs = begin_pairs(empty.study, configurations, CPUS), list[tuple[Configuration, int, float]]()
    while (point := search.state.next_level) is not None:
        block, times = len(runs) // 2, dict[str, float]()
        for t in search.order(block, point):
            n, p = float(t["size"]), float(t["workers"])
            typical = start + worker * p + n / p if t["version"] == "parallel" else n
            times[str(t["version"])] = typical * exp(sd * rng.standard_normal())
            runs.append((t, block, times[str(t["version"])]))
        search.state.observe(point, log(times["parallel"] / times["sequential"]))
    read = table(EVEN, seed, configurations, runs)
    found = break_even(read, replay_search(read))
    lines = found.maps[0].lines if found else []
    return break_even_claim(read, found), lines, lambda p: (start + worker * p) / (1 - 1 / p) if p > 1 else float("inf")


def even_false(sd: float) -> Measure:
    """Share of the lines of claims that are not where it is said, or of those that are told to be none."""

    def measure(rng: np.random.Generator, n_cases: int) -> tuple[float, float, str]:
        said = [(one, truth) for _ in range(n_cases) for _, lines, truth in [even_searched(rng, sd)] for one in lines]
        told = [(one, truth(one.level or 1)) for one, truth in said if one.kind in ("from", "never")]
        wrong = [n < 30_000 if one.kind == "never" else not (one.low or 0) <= n <= (one.high or 0) for one, n in told]
        return share(sum(wrong), len(told))

    return measure


def even_useful(sd: float) -> Measure:
    """Share of searches whose claim begins with a size."""
    return counting(lambda rng: even_searched(rng, sd)[0].cases[0].case in ("from", "from each"))


def surface_said(rng: np.random.Generator, excess: float, sd: float) -> Claim:
    """The claim of a surface on which each worker beyond the CPUs costs so much more than it must."""
    configurations: list[Configuration] = [{"copies": n, "cpus": m} for m in (1, 2) for n in (1, 2, 3, 4, 6, 8)]
    typical = [1 + excess * max(0, int(t["copies"]) - int(t["cpus"])) / int(t["cpus"]) for t in configurations]
    runs = [
        (t, b, x * exp(sd * rng.standard_normal()))
        for b in range(7)
        for t, x in zip(configurations, typical, strict=True)
    ]
    read = table(SURFACE, 1, configurations, runs)
    claim = surface_answer(read, comparable_samples(read), []).claim
    assert claim is not None
    return claim


def surface_case(case: str, excess: float, sd: float, least: float = 0.0) -> Measure:
    """Share of claims that begin with this case and cost more, or are fair; `least`: to at least this closeness."""

    def said(rng: np.random.Generator) -> bool:
        first = surface_said(rng, excess, sd).cases[0]
        is_dear = first.case != "unfair" or all(e.value > 1 for e in first.values["gain"])
        return first.case == case and is_dear and (not least or first.values["most"] < least)

    return counting(said)


def build_said(rng: np.random.Generator, typical: Sequence[float], n: int) -> Claim:
    """The claim of builds in blocks that drift by 20%; a build itself differs by 2%."""
    configurations: list[Configuration] = [{"jobs": j} for j in (1, 2, 4, 8)]
    drift = np.exp(np.cumsum(0.2 * rng.standard_normal(n)))
    times = drift[:, None] * np.array(typical) * np.exp(0.02 * rng.standard_normal((n, 4)))
    runs = [(t, b, float(times[b, i])) for b in range(n) for i, t in enumerate(configurations)]
    read = table(BUILD, 1, configurations, runs)
    claim = build_claim(read, comparable_samples(read), "jobs")
    assert claim is not None
    return claim


def build_false(typical: Sequence[float], n: int) -> Measure:
    """Share of claims that leave out the best, which is -j 2."""

    def is_false(rng: np.random.Generator) -> bool:
        claim = build_said(rng, typical, n)
        return claim.answered and 2 not in claim.cases[0].values["best"]

    return counting(is_false)


def build_useful(typical: Sequence[float], n: int) -> Measure:
    """Share of claims that name -j 2 alone."""
    return counting(lambda rng: build_said(rng, typical, n).cases[0].values.get("best") == [2])


def counting(holds: Callable[[np.random.Generator], bool]) -> Measure:
    """Share of cases in which it holds."""

    def measure(rng: np.random.Generator, n_cases: int) -> tuple[float, float, str]:
        return share(sum(holds(rng) for _ in range(n_cases)), n_cases)

    return measure


def cases() -> Iterator[Case]:
    """False shares first, then usefulness, for each claim."""
    for name, noise in NOISES.items():
        for shape, draw in (("line", line), ("bend", bend), ("curve", curve)):
            yield Case(f"{name}, {shape}: a jump is told, and there is none", FALSE, cliff_false(draw, noise), 0.2)
        for times in (1.5, 2.0):
            draw = partial(jump, factor=times)
            yield Case(f"{name}, x{times}: told elsewhere, or not", FALSE, cliff_false(draw, noise), 0.2)
            yield Case(f"{name}, x{times}: the jump is told", USEFUL, cliff_useful(draw, noise, True), 0.2)
        yield Case(f"{name}, line: told that there is none", USEFUL, cliff_useful(line, noise, False), 0.2)
    for sd in (0.02, 0.05, 0.1):
        yield Case(f"pairs of {sd}: a line, or that there is none, is false", FALSE, even_false(sd), 0.2)
        yield Case(f"pairs of {sd}: from which size it pays is told", USEFUL, even_useful(sd), 0.2)
    for sd in (0.02, 0.05):
        yield Case(f"surface, {sd}, 20% dearer: fair, closer", FALSE, surface_case("fair", 1.2, sd, 0.2))
        yield Case(f"surface, {sd}, fair: told to be dearer", FALSE, surface_case("unfair", 1.0, sd))
        yield Case(f"surface, {sd}, fair: told so", USEFUL, surface_case("fair", 1.0, sd))
        yield Case(f"surface, {sd}, 50% dearer: told so", USEFUL, surface_case("unfair", 1.5, sd))
    for n in (3, 5, 10):
        yield Case(f"builds, {n} blocks, alike: the best is left out", FALSE, build_false([1, 1, 1, 1], n))
        yield Case(f"builds, {n} blocks, best by 3%: left out", FALSE, build_false([1.8, 1, 1.03, 1.06], n))
        clear = {3: 1.6, 5: 1.15, 10: 1.08}[n]
        yield Case(f"builds, {n} blocks, best by {clear}: named", USEFUL, build_useful([1.8, 1, clear, clear], n))


if __name__ == "__main__":
    main("statistics_claims_searches", list(cases()), n_long=1_000, n_quick=20)
