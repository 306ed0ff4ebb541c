"""Planner of the full grid in randomized blocks; disturbed runs are repeated at the end of their block."""

import random
from collections import Counter
from collections.abc import Collection, Iterator, Sequence
from dataclasses import replace

from scalograph.design.planner import Design
from scalograph.errors import StudyError
from scalograph.protocol.record import Record
from scalograph.study.levels import Configuration, Run
from scalograph.study.scalars import Level
from scalograph.text.warning_catalog import warning_text
from scalograph.verdict.cause import REPEATED

# What is done about a block that was disturbed -> the warning.
_TOO_BUSY = {"report": "block busy", "cpu-time": "block busy cpu-time", "stop": "block busy stop"}


class GridPlanner:
    """The full grid: each block holds every configuration once (baselines more often), in a random order of its own.

    Drift of the machine then affects all configurations alike, and differences within a block are paired. Disturbed
    runs are repeated at the end of their block, at most `max_reruns` times. If more than half of a block was disturbed,
    they are repeated only if the study waits for quiet, and the study ends there if it says so (`protocol.when_busy`);
    if more than half is invalid, repeats would be no better.
    """

    def __init__(self, design: Design) -> None:
        self._design, self._max_reruns = design, design.study.protocol.max_reruns
        self.stop_reason = ""
        self._planned = {run.run: run for run in grid_runs(design)}
        self._left: dict[int, dict[str, Run]] = {}
        self._disturbed: dict[int, list[Run]] = {}
        self._n_invalid = Counter[int]()
        for name, run in self._planned.items():
            self._left.setdefault(run.block, {})[name] = run

    def ask(self) -> Run | None:
        """Return the first run in order that was not told yet."""
        left = (run for block in self._left.values() for run in block.values())
        return None if self.stop_reason else next(left, None)

    def tell(self, run: Run, record: Record, verdict: str) -> str | None:
        """Take the verdict on a run; at the end of a block, repeat disturbed runs or return why not.

        Raises StudyError if the name of this run belongs to another configuration.
        """
        self._refuse_other(run)
        left = self._left.get(run.block, {})
        asked = left.pop(run.run, None)
        if asked is None or asked.warmup:
            return None
        if verdict in REPEATED:
            self._disturbed.setdefault(run.block, []).append(asked)
            self._n_invalid[run.block] += verdict == "invalid"
        return None if left else self._repeat(run.block)

    def resume(self) -> None:
        """Reset the stop reason: a new session may meet a quiet machine."""
        self.stop_reason = ""

    @property
    def n_left(self) -> int:
        """The number of runs still to come, as far as known."""
        return sum(map(len, self._left.values()))

    def is_block_done(self, block: int) -> bool:
        """Tell whether a block has no run to come."""
        return not self._left.get(block)

    def add_blocks(self, n: int, configurations: Collection[Configuration]) -> None:
        """Plan further blocks of these configurations."""
        for run in grid_runs(self._design, n):
            if run.block >= self._design.study.protocol.runs and run.configuration in configurations:
                self._planned[run.run] = self._left.setdefault(run.block, {})[run.run] = run

    def skip_configurations(self, configurations: Collection[Configuration]) -> None:
        """Plan no further run of these configurations."""
        for block in self._left.values():
            for name in [name for name, run in block.items() if not run.warmup and run.configuration in configurations]:
                del block[name]

    def _refuse_other(self, run: Run) -> None:
        planned = self._planned.get(run.run.partition("r")[0])
        if planned is not None and dict(planned.configuration) != dict(run.configuration):
            now, before = (
                f"{run.run} of {dict(configuration)}" for configuration in (planned.configuration, run.configuration)
            )
            raise StudyError.one("resume: design", f"now {now}", f"{before} as in the journal", "start over")

    def _repeat(self, block: int) -> str | None:
        disturbed, n = self._disturbed.pop(block, []), self._design.block_size
        n_invalid = self._n_invalid.pop(block, 0)
        n_taken = len(disturbed) - n_invalid
        if 2 * n_invalid > n:
            return warning_text("block invalid", block=block + 1, n=n_invalid, of=n)
        if 2 * n_taken > n and not self._design.study.protocol.wait_quiet_s:
            choice = self._design.study.protocol.when_busy
            self.stop_reason = "busy" if choice == "stop" else ""
            return warning_text(_TOO_BUSY[choice], block=block + 1, n=n_taken, of=n)
        repeats = [again for run in sorted(disturbed, key=lambda run: run.run) if (again := self._again(run))]
        self._left[block] |= {again.run: again for again in repeats}
        is_unusable = 2 * n_taken > n and repeats
        return warning_text("block again", block=block + 1, n=n_taken, of=n) if is_unusable else None

    def _again(self, run: Run) -> Run | None:
        """Return the repeat of a run; its name and replicate follow from the run, as a replay needs."""
        name, _, times = run.run.partition("r")
        number = int(times or 0) + 1
        if number > self._max_reruns:
            return None
        planned = self._planned[name]
        n_planned = self._design.study.protocol.runs * self._design.runs_per_block(
            self._design.configurations.index(planned.configuration)
        )
        return replace(planned, run=f"{name}r{number}", replicate=planned.replicate + number * n_planned)


def grid_runs(design: Design, n_further: int = 0) -> Iterator[Run]:
    """Yield every planned run of a grid, warm-up runs first, then those of further blocks; none of them is stored.

    Replicates of further blocks follow those that repeats of the planned ones may have.
    """
    for number in range(design.study.protocol.warmup_runs):
        configuration = design.configurations[number % len(design.configurations)]
        yield Run(f"w{number:04d}", -1, configuration, number, warmup=True)
    generator = random.Random(design.study.seed)
    replicates = [0] * len(design.configurations)
    n_blocks, n_repeats = design.study.protocol.runs, design.study.protocol.max_reruns
    for block in range(n_blocks + n_further):
        if block == n_blocks:
            replicates = [n * (1 + n_repeats) for n in replicates]
        members = [i for i in range(len(design.configurations)) for _ in range(design.runs_per_block(i))]
        if design.study.protocol.order == "blocks":
            generator.shuffle(members)
            members = _together(design, members)
        for position, index in enumerate(members):
            yield Run(f"b{block:04d}-{position:04d}", block, design.configurations[index], replicates[index])
            replicates[index] += 1


def _together(design: Design, members: Sequence[int]) -> list[int]:
    """Return the runs of a block, those of the same levels of `together` beside each other."""
    groups = dict[tuple[Level, ...], list[int]]()
    for index in members:
        groups.setdefault(tuple(design.configurations[index][name] for name in design.together), []).append(index)
    return [index for group in groups.values() for index in group]
