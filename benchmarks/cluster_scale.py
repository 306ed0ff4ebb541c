"""What does a thousand nodes cost? A plan of a million runs, and the analysis of a million, in CPU time and memory.

The journal has no timelines: nothing of `analyze` reads them. It takes 2.2 GB of TMPDIR.
"""

import tempfile
from collections.abc import Iterator
from pathlib import Path

import command_journal
from command_common import Child, Figure, command, main, run

N_NODES, N_RUNS = 1_000, 1_000_000
STUDY = """\
version = 1
name = "nodes"
title = "A million runs on a thousand nodes"
work = "total"
seed = 7
[workload]
command = ["true", "{{nodes}}"]
[factors.nodes]
levels = "1:{n_nodes}"
[baseline]
nodes = 1
[protocol]
runs = {runs}
"""


def figures(quick: bool) -> Iterator[Figure]:
    """Plan, then analysis; --quick takes a tenth of both."""
    n_nodes, n_runs = (N_NODES // 10, N_RUNS // 10) if quick else (N_NODES, N_RUNS)
    with tempfile.TemporaryDirectory() as folder:
        study = Path(folder) / "study.toml"
        # The baseline has a few more.
        study.write_text(STUDY.format(n_nodes=n_nodes, runs=n_runs // n_nodes), encoding="utf-8")
        yield from _figures(
            f"plan of {n_runs:,} runs on {n_nodes:,} nodes", run(command("plan", str(study), "--no-host"))
        )
        command_journal.TIMELINE_EVERY = 2 * n_runs
        command_journal.write(Path(folder) / "journal.jsonl", n_runs, n_levels=n_nodes // 10)
        yield from _figures(f"analyze of {n_runs:,} runs", run(command("analyze", folder)))


def _figures(name: str, child: Child) -> Iterator[Figure]:
    yield Figure(f"{name}: CPU time", child.cpu_s, "s")
    yield Figure(f"{name}: peak", child.peak_bytes / 1e6, "MB")


if __name__ == "__main__":
    main(figures, "a tenth of the nodes and runs")
