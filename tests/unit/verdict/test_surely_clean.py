import random
from dataclasses import dataclass
from typing import Any

import msgspec
import pytest

from scalograph.protocol.record import CopyEvent, Iterations, PlacementChange, Record, Values
from scalograph.verdict import judge as judging
from scalograph.verdict.judge import Requirements, is_surely_clean, judge
from tests.kit.records import record
from tests.unit.verdict.test_untouched import WALL, figures

ASKED = Requirements(3, True)
QUIET = record(1.0, 0.9, iterations=[(0.3, 0.3, 7)] * 3, cpus=(0, 1))


@dataclass(frozen=True)
class _Odd:
    """What may be odd about a run, each part in one of ten of them."""

    rng: random.Random

    def run(self) -> Record:
        run = QUIET.replace_values(
            **{"wait_ns": 0, **figures(self.rng), **self._some(tree_wall_ns=(None, 0, 2 * WALL))}
        )
        return msgspec.structs.replace(
            run, copies=self._copies(run.copies[0]), iterations=self._iterations(run.iterations[0]),
            values=[Values(0, {self.rng.choice(["rate", "requests"]): [1.0]})] if self._rarely() else [],
        )  # fmt: skip

    def _copies(self, one: CopyEvent) -> list[CopyEvent]:
        used, start, end = (0, WALL, 4 * WALL), (None, 5 * WALL // 100), (None, WALL // 2, 2**60)
        fields = self._some(user_ns=used, system_ns=used, start_ns=start, end_ns=end, in_force=(None,))
        copy = msgspec.structs.replace(
            one, **fields, **self._some(changed=(PlacementChange(nice=3), PlacementChange(cpus=[7])))
        )
        return [copy, msgspec.structs.replace(copy, copy_index=1)] if self._rarely() else [copy]

    def _iterations(self, one: Iterations) -> list[Iterations]:
        index = self._some(index=([0, 1, 3], [0, 2, 1]))
        ends = self._some(end_ns=([0, 1, 2], [1, 2, 3 * WALL]), copy_index=(1,))
        part = msgspec.structs.replace(one, **index, **ends)
        return self.rng.choice([[part, part], []]) if self._rarely() else [part]

    def _some(self, **fields: tuple[Any, ...]) -> dict[str, Any]:
        return {name: self.rng.choice(values) for name, values in fields.items() if self._rarely()}

    def _rarely(self) -> bool:
        return self.rng.random() < 0.1


def test_what_is_surely_clean_is_clean_by_all_rules(monkeypatch: pytest.MonkeyPatch) -> None:
    odd = _Odd(random.Random(3))
    runs = [odd.run() for _ in range(6000)]
    sure = [is_surely_clean(run, ASKED.iterations) for run in runs]
    assert all(judge(run, ASKED).verdict == "clean" for run, is_sure in zip(runs, sure, strict=True) if is_sure)
    monkeypatch.setattr(judging, "is_surely_clean", lambda *_: False)
    monkeypatch.setattr(judging, "is_untouched", lambda _: False)
    by_rules = [judge(run, ASKED).verdict for run in runs]
    assert {verdict for verdict, is_sure in zip(by_rules, sure, strict=True) if is_sure} == {"clean"}
    assert {"invalid", "disturbed", "unverified", "failed"} <= {*by_rules}
    assert sum(sure) > 600, "a run is odd in one of a dozen ways; most that are not are found"


def test_a_quiet_run_is_surely_clean_of_as_many_iterations_as_were_asked_for() -> None:
    assert is_surely_clean(QUIET, 3)
    assert not is_surely_clean(QUIET, 2) and not is_surely_clean(QUIET.replace_values(steal_ns=1), 3)
