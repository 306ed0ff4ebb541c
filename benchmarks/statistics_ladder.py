"""Do ratios between jobs of a cluster hold the truth if jobs differ? Joined by anchors, and beside it as measured.

Blocks of 1 to 64 nodes in the jobs that `--max-idle 30%` makes. The speed of each job is drawn anew (10%), or each
size always runs on the same slower nodes, and each run has noise of 2%.
"""

from collections.abc import Iterator
from functools import cache
from typing import Any

import numpy as np
from statistics_common import SEED, Case, Measure, main, share

from scalograph.analysis.estimate import Estimate
from scalograph.analysis.ratios import paired_ratio
from scalograph.design.ladder import anchors, split_sizes
from scalograph.findings.job_joins import join_jobs
from scalograph.findings.row import Row
from scalograph.study.load import parse

SIZES, N_BLOCKS, NOISE = (1, 2, 4, 8, 16, 32, 64), 8, 0.02
KINDS = {"jobs differ by 10%": (0.10, 0.0), "jobs are alike": (0.0, 0.0), "larger jobs are always slower": (0.03, 0.08)}
STUDY = parse(f"""
version = 1
name = "ladder"
title = "Which speedup?"
work = "total"
seed = 1
baseline.nodes = 1
workload.command = ["true"]
factors.nodes = {{ control = "cluster:nodes", levels = {[*SIZES]} }}
responses.wall = {{ from = "window.wall", unit = "s" }}
""")


def row(block: int, job: int, size: int, wall: float) -> Row:
    """A run of a job."""
    usual: dict[str, Any] = {"reason": None, "causes": (), "observations": {}, "warmup": False}
    return Row(
        run=f"{block}-{job}-{size}", block=block, replicate=block, configuration={"nodes": size}, status="ok",
        verdict="unverified", scores={"wall": wall}, job=f"{block}-{job}", **usual,
    )  # fmt: skip


def study(rng: np.random.Generator, spread: float, slope: float) -> list[Row]:
    """The runs of a study: of a program that scales as well as can be."""
    jobs = split_sizes(dict.fromkeys(SIZES, 1.0), 0.3)
    shared = [levels["nodes"] for levels in anchors(STUDY, [{"nodes": n} for n in SIZES])]
    rows = []
    for block in range(N_BLOCKS):
        for i, sizes in enumerate(jobs):
            speed = rng.normal(0, spread) + slope * i
            members = [*sizes, *([shared[i - 1]] if i else [])]
            rows += [row(block, i, n, np.exp(speed + rng.normal(0, NOISE)) / n) for n in map(int, members)]
    return rows


def largest(rows: list[Row]) -> Estimate:
    """The speedup of the largest size."""
    walls: dict[tuple[int, int], float] = {}
    for each in rows:
        walls.setdefault((each.block, int(each.configuration["nodes"])), each.scores["wall"])
    return paired_ratio(*([walls[block, n] for block in range(N_BLOCKS)] for n in (SIZES[0], SIZES[-1])))


@cache
def estimates(kind: str, n: int) -> list[tuple[Estimate, Estimate]]:
    """The speedup of n studies, joined and as measured."""
    rng = np.random.default_rng([SEED, [*KINDS].index(kind)])
    drawn = [study(rng, *KINDS[kind]) for _ in range(n)]
    return [(largest(join_jobs(STUDY, rows)), largest(rows)) for rows in drawn]


def held(kind: str, which: int) -> Measure:
    """How often the interval has the truth, and how wide it is."""

    def measure(_: np.random.Generator, n: int) -> tuple[float, float, str]:
        every = [pair[which] for pair in estimates(kind, n)]
        hits = sum(e.low is not None and e.high is not None and e.low <= SIZES[-1] <= e.high for e in every)
        half = np.mean([np.log(e.high / e.low) / 2 for e in every if e.low and e.high])
        return share(hits, n, f"half width {100 * half:.1f}%")

    return measure


def cases() -> Iterator[Case]:
    """Every kind, joined and not."""
    for kind in KINDS:
        yield Case(f"{kind}: joined by anchors, the interval holds", (93, 100), held(kind, 0))
        yield Case(f"{kind}: as measured", None, held(kind, 1))


if __name__ == "__main__":
    main("statistics_ladder", [*cases()], 1000, 100)
