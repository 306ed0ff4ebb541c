"""Ask a program under a quota how many CPUs it believes to have, and measure the variable that mends it."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from math import ceil
from pathlib import Path
from statistics import median

from scalograph.analysis.crossing import SURE
from scalograph.analysis.ratios import paired_ratio
from scalograph.control.control import Launch
from scalograph.design.stopping_rule import score
from scalograph.errors import HostError
from scalograph.findings import table
from scalograph.findings.sample import replay_runs
from scalograph.profile.what_if import PAIRS
from scalograph.protocol.record import Record
from scalograph.questions.size.model import AmountSearch
from scalograph.questions.size.search_state import begin
from scalograph.run.hosts.base import Host, Tell
from scalograph.run.launches import program_of
from scalograph.run.plan import Plan
from scalograph.run.runner import Runner
from scalograph.study.levels import Run
from scalograph.study.responses import primary_response
from scalograph.system.runtimes import RUNTIMES, find_runtime, interpreter_of
from scalograph.text.answer_form import factor_with_ends
from scalograph.text.quantities import count_noun
from scalograph.text.units import format_duration
from scalograph.text.warning_catalog import warning_text

# How long a program may take to say it; how long all pairs may take together, and the fewest that are run.
_ASK_S, _PAIRS_S, _FEWEST = 10.0, 60.0, 3
# Of the second search: the most runs and how long they may take, the fewest, and how far below the first need it looks.
_AGAIN, _AGAIN_S, _LEAST_AGAIN, _BELOW = 14, 240.0, 7, 4.0
_QUOTA, _SIZE = "quota", "size"


def believed_note(planned: Plan, host: Host, runner: Runner, tell: Tell, journal: Path | None = None) -> str:
    """Return what the program of the run with the least quota believes, if that is too much; else empty.

    `journal` holds the runs of a study that asks for the least quota: that is searched again, with the variable.
    """
    if runner.most_limited is None:
        return ""
    try:
        search = _quota_search(planned, journal) if journal else None
        return BeliefCheck(planned, host, runner, tell, search).note()
    except (HostError, KeyboardInterrupt):
        return ""  # the study is complete all the same


def _quota_search(planned: Plan, journal: Path) -> AmountSearch | None:
    """Return the search for the least quota; None where the study asks for none, or its answer is open."""
    if planned.design.study.question != _SIZE:
        return None
    read = table.load(journal)
    searches = replay_runs(begin(read.study, read.configurations), read).searches
    search = next((search for search in searches if search.factor == _QUOTA), None)
    crossing = search.crossing if search else None
    is_inside = crossing is not None and crossing.is_known and max(crossing.always, crossing.never) < SURE
    return search if is_inside else None


class BeliefCheck:
    """Asks the program of a run under its limits, and repeats the run with the variable: a command, or a service."""

    def __init__(
        self, planned: Plan, host: Host, runner: Runner, tell: Tell, search: AmountSearch | None = None
    ) -> None:  # fmt: skip
        assert runner.most_limited is not None
        self._planned, self._host, self._tell, self._runner, self._search = planned, host, tell, runner, search
        self._quota, self._run, self._wall_s = runner.most_limited
        if search is not None and search.crossing is not None:
            self._quota = 1 / search.crossing.level
            self._run = self._run_at(min(search.levels, key=lambda level: abs(level - self._quota)))
        self._spec = runner.specification(self._run)
        limited = [launch for launch in self._spec.launches if launch.own_quota_cpus]
        self._launch = (limited or self._spec.launches)[0]
        path = self._launch.env.get("PATH")
        self._program = interpreter_of(program_of(self._launch), path)
        self._name = find_runtime(self._program, path)

    def note(self) -> str:
        """Return what the program believes, and what the variable changes; empty if it believes no more than it has."""
        if not self._name:
            return ""
        row, n = RUNTIMES[self._name], ceil(self._quota)
        more = {row.variable: row.setting(n, self._launch.env)}
        believed = self._ask({}) if row.says else self._count_pool(more, n)
        if believed is None or believed <= n:
            return ""
        shown = f"{row.variable}={row.value.format(n)}"
        if not row.obeys or self._ask(more) == n:
            effect = f"with {shown}, {self._need_again(more) or self._try(more)}"
        else:
            effect = f"{shown} does not change that in this version"
        return warning_text("believes", runtime=self._name, n=believed, quota=f"{self._quota:.3g}", effect=effect)

    def _ask(self, more: Mapping[str, str]) -> int | None:
        """Return the number that the runtime writes: started by itself, or in a run where only its program says it."""
        row, launch = RUNTIMES[self._name], self._launch
        limit_s = min(_ASK_S, self._spec.timeout_s)
        if row.asks:
            options = [word for word in launch.argv[1:] if word.startswith("-X")]
            asked = replace(
                launch, name="", role="", service=None, argv=(self._program, *options, *row.asks), copies=1,
                env={**launch.env, **row.env, **more},
            )  # fmt: skip
            record = self._measure([asked], capture=True, events=False, timeout_s=limit_s)
        elif launch.service:
            record = self._measure(self._set_variables({**row.env, **more}))
        else:
            record = self._measure(self._set_variables({**row.env, **more}), capture=True, timeout_s=limit_s)
        theirs = {0} if row.asks else self._commands
        copies = [copy for copy in record.copies if copy.command in theirs]
        return row.number_in("\n".join(f"{copy.stdout or ''}\n{copy.stderr_tail}" for copy in copies))

    def _count_pool(self, more: Mapping[str, str], n: int) -> int | None:
        """Return the threads of a pool: those that go where the variable sets their number to `n`, and these."""
        counts = [self._count_tasks(self._measure(self._set_variables(env))) for env in ({}, more)]
        return None if counts[0] is None or counts[1] is None else counts[0] - counts[1] + n

    def _count_tasks(self, record: Record) -> int | None:
        counts = [process.n_tasks for process in record.processes if process.command in self._commands]
        return counts[0] if counts else record.run.n_tasks

    def _need_again(self, more: Mapping[str, str]) -> str:
        """Search the least quota with the variable; empty where none was searched, or runs take too long."""
        first, n_most = self._search, min(_AGAIN, int(_AGAIN_S / max(self._wall_s, 1e-9)))
        if first is None or first.crossing is None or n_most < _LEAST_AGAIN:
            return ""
        low, high = self._quota / _BELOW, 1 / first.crossing.low
        levels = [level for level in first.levels if low <= level <= high]
        self._tell(f"{self._name} sees more CPUs than its quota: at most {n_most} runs with {' '.join(more)}")
        again = AmountSearch(first.factor, levels, first.beside)
        limit = self._planned.design.study.responses[primary_response(self._planned.design.study)].limit
        while (level := again.next_level) is not None and len(again.at) < n_most:
            spec = self._runner.specification(self._run_at(level))
            reached = self._score(self._measure(self._set_variables(more, spec.launches), self._run_at(level)))
            again.observe(level, None if reached is None or limit is None else reached / limit)
        crossing = again.crossing
        if crossing is None or crossing.never >= SURE:
            return f"it needs no less than {high:.3g} CPUs"
        if crossing.always >= SURE:
            return f"it needs at most {levels[0]:.3g} CPUs"
        return f"it needs {1 / crossing.level:.3g} [{1 / crossing.high:.3g}\N{EN DASH}{1 / crossing.low:.3g}] CPUs"

    def _try(self, more: Mapping[str, str]) -> str:
        """Run pairs without and with the variable, each second one the other way round; return what it changes."""
        n_pairs = min(PAIRS, int(_PAIRS_S / max(2 * self._wall_s, 1e-9)))
        scores: tuple[list[float], list[float]] = ([], [])
        if n_pairs < _FEWEST:
            return "speed was not measured: runs are too long"
        names = " ".join(more)
        self._tell(f"{self._name} sees more CPUs than its quota: {n_pairs} pairs of runs, without and with {names}")
        for number in range(n_pairs):
            for index in (0, 1) if number % 2 == 0 else (1, 0):
                record = self._measure(self._set_variables(more if index else {}))
                reached = self._score(record) if self._launch.service else (record.run.wall_ns or 0) / 1e9
                if record.run.status != "ok" or not reached:
                    return "runs fail"
                scores[index].append(reached)
        study, without = self._planned.design.study, median(scores[0])
        confidence = study.protocol.confidence
        if self._launch.service:
            ratio = factor_with_ends(paired_ratio(scores[1], scores[0], confidence))
            return f"{primary_response(study)} is {ratio} ({count_noun(n_pairs, 'pair')})"
        speed = factor_with_ends(paired_ratio(*scores, confidence))
        return f"speed is {speed} ({count_noun(n_pairs, 'pair')} of {format_duration(without)})"

    def _score(self, record: Record) -> float | None:
        return score(self._planned.design.study, record) if record.run.status == "ok" else None

    def _run_at(self, level: float) -> Run:
        assert self._search is not None
        configuration = {**self._run.configuration, **self._search.beside, self._search.factor: level}
        return replace(self._run, configuration=configuration)

    @property
    def _commands(self) -> set[int]:
        """The numbers of the processes that have the quota."""
        return {i for i, launch in enumerate(self._spec.launches) if launch.name == self._launch.name}

    def _set_variables(self, more: Mapping[str, str], launches: Sequence[Launch] = ()) -> list[Launch]:
        """Return the launches of a run, with variables of the processes that have the quota."""
        return [
            replace(launch, env={**launch.env, **more}) if launch.name == self._launch.name else launch
            for launch in launches or self._spec.launches
        ]

    def _measure(self, launches: Sequence[Launch], run: Run | None = None, **more: bool | float) -> Record:
        spec = replace(self._spec, launches=tuple(launches), echo=None, keeps_services=False, **more)  # type: ignore[arg-type]
        with self._host.apply_settings(self._planned, (run or spec.run).configuration):
            return self._host.measure(replace(spec, run=run or spec.run))
