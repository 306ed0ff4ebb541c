"""Runs made up from a declared law: nothing is started, no time passes, the same run gives the same record.

For tests of whatever asks for runs. `--simulate MODEL.json`, where the model is one JSON object:

    {"seed": 7, "noise_percent": 2,
     "table": {"./prog -t 1": {"wall_ns": 1000000000},
               "./prog -t 64": {"status": "failed", "exit_code": 1}},
     "law": {"workers": 2, "t1_ns": 1000000000, "sigma": 0.05, "kappa": 0.001}, "iterations": 5, "work": 1000}

`table`: from the first command's argv joined by one blank to `wall_ns`, `cpu_ns` (default: the wall),
`status` (default `ok`), `exit_code`, `signal`, `reason`. What it does not list follows the `law`:

    wall(n) = t1 * (1 + sigma * (n - 1) + kappa * n * (n - 1)) / n

where n is the integer at position `workers` of the argv, or the number of all `"copies"`, or of the `"cpus"`
of the first mask; never more than the CPUs of that mask. `noise_percent` is the standard deviation of the
logarithm of the wall, drawn from (seed, run name): the order of runs does not matter. A run with `events` has
`iterations` equal parts (default 1) of `work` units each (default 1).
"""

import json
import math
import random
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Annotated, Any, NamedTuple

from scalograph.run.hosts.python_probe import HEADER
from scalograph.run.hosts.python_probe.spec import Command, RefusalError, Rule, Spec, check, integer, refusal

_FIX = "correct the model (docstring of scalograph.run.hosts.python_probe.simulate)"
_START_NS = 500_000
_SIMULATED = [{"what": "the run", "why": "simulated: nothing was started", "fix": "leave --simulate out"}]
_NUMBER = Rule(lambda value: type(value) in (int, float) and 0 <= value < math.inf, "a number of at least 0")
_OBJECT = Rule(lambda value: isinstance(value, dict), "an object")
_ROWS = Rule(lambda value: _OBJECT.accepts(value) and all(map(_OBJECT.accepts, value.values())), "an object of objects")
_ANY = Rule(lambda _: True, "")


class SimulatedOutcome(NamedTuple):
    """How a whole run ends; a row of the table."""

    wall_ns: Annotated[float, _NUMBER] = 0
    cpu_ns: Annotated[float | None, _NUMBER] = None
    status: Annotated[str, _ANY] = "ok"
    exit_code: Annotated[int, _ANY] = 0
    signal: Annotated[int | None, _ANY] = None
    reason: Annotated[str | None, _ANY] = None


class SimulatedLaw(NamedTuple):
    """The law of all other runs."""

    t1_ns: Annotated[float, _NUMBER]
    sigma: Annotated[float, _NUMBER]
    kappa: Annotated[float, _NUMBER]
    workers: Annotated[int | str | None, _ANY] = None


class SimulatedModel(NamedTuple):
    """The checked model."""

    seed: Annotated[int, integer(-(2**63))]
    noise_percent: Annotated[float, _NUMBER] = 0
    table: Annotated[Mapping[str, Any], _ROWS] = {}
    law: Annotated[Any, _OBJECT] = None
    iterations: Annotated[int, integer(1, 1_000_000_000)] = 1
    work: Annotated[int, integer(0, 1_000_000_000)] = 1


def load(path: str) -> SimulatedModel:
    """Read the model, and check it."""
    try:
        fields = json.loads(Path(path).read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise _model_refusal(path, str(error), "one JSON object in a readable file") from None
    model = SimulatedModel(**check(SimulatedModel, fields if isinstance(fields, dict) else {}, "model: ", _FIX))
    rows = model.table.items()
    table = {
        argv: SimulatedOutcome(**check(SimulatedOutcome, row, f"model: table[{argv!r}].", _FIX)) for argv, row in rows
    }
    return model._replace(
        table=table, law=model.law and SimulatedLaw(**check(SimulatedLaw, model.law, "model: law.", _FIX))
    )


def _model_refusal(where: str, value: object, expected: str) -> RefusalError:
    return refusal(f"model: {where}", value, expected, _FIX)


def events(model: SimulatedModel, spec: Spec) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield all events of one run."""
    yield "header", {**HEADER, "degraded": _SIMULATED}
    outcome, wall, cpu = _outcome(model, spec)
    copies = [(index, command) for index, command in enumerate(spec.commands) for _ in range(command.copies)]
    share = cpu / len(copies)
    for number, (index, command) in enumerate(copies):
        yield "copy", {"copy": number, "command": index, "pid": 1000 + number, **_copy(command, outcome, wall, share)}
    if spec.events and outcome.status == "ok":
        n = model.iterations
        edges = [_START_NS + wall * i // n for i in range(n + 1)]
        windows = {"index": list(range(n)), "start_ns": edges[:-1], "end_ns": edges[1:]}
        for number in range(len(copies)):
            yield "iterations", {"copy": number, **windows, "work": [model.work] * n, "cpu_ns": [round(share / n)] * n}
    run = {
        "status": outcome.status, "reason": outcome.reason, "wall_ns": wall, "wall_source": "gate",
        "wall_outer_ns": wall + _START_NS, "tree_wall_ns": wall,
        **dict.fromkeys(("gate_ns", "gate_skew_ns", "queue_drain_ns", "system_ns", "n_survivors"), 0),
        "user_ns": cpu, "cpu_ns": cpu, "cpu_source": "rusage", "degraded": _SIMULATED,
    }  # fmt: skip
    yield "run", run


def _outcome(model: SimulatedModel, spec: Spec) -> tuple[SimulatedOutcome, int, int]:
    """Return the outcome of the whole run, and its wall and CPU time with noise, in ns."""
    listed = model.table.get(" ".join(spec.commands[0].argv))
    outcome = _follow_law(model, spec) if listed is None else listed
    noise = math.exp(random.Random(f"{model.seed}/{spec.run}").gauss(0.0, model.noise_percent / 100))
    wall = round(outcome.wall_ns * noise)
    cpu = wall if outcome.cpu_ns is None else round(outcome.cpu_ns * noise)
    if wall > spec.timeout_ns:
        reason = f"still running after {spec.timeout_ns / 1e9:g} s; killed"
        return outcome._replace(status="timeout", signal=9, reason=reason), spec.timeout_ns, cpu
    return outcome, wall, cpu


def _follow_law(model: SimulatedModel, spec: Spec) -> SimulatedOutcome:
    law = model.law
    if not law:
        raise _model_refusal("table", " ".join(spec.commands[0].argv), "this argv, or a law beside the table")
    n = _workers(law.workers, spec)
    cpu = law.t1_ns * (1 + law.sigma * (n - 1) + law.kappa * n * (n - 1))
    return SimulatedOutcome(wall_ns=cpu / n, cpu_ns=cpu)


def _workers(declared: object, spec: Spec) -> int:
    first = spec.commands[0]
    mask = first.masks[0]
    if declared == "copies":
        n = sum(command.copies for command in spec.commands)
    elif declared == "cpus":
        n = len(mask or (0,))
    elif type(declared) is int and 0 <= declared < len(first.argv) and first.argv[declared].isdecimal():
        n = max(1, int(first.argv[declared]))
    else:
        raise _model_refusal("law.workers", declared, "copies, cpus, or the position of an integer in argv")
    return n if mask is None else min(n, len(mask))


def _copy(command: Command, outcome: SimulatedOutcome, wall_ns: int, share_ns: float) -> dict[str, Any]:
    placed = {"policy": command.policy or "other", "priority": command.priority, "nice": command.nice or 0}
    return {
        "exit_code": None if outcome.signal else outcome.exit_code, "signal": outcome.signal,
        "start_ns": _START_NS, "end_ns": _START_NS + wall_ns, "user_ns": round(share_ns), "system_ns": 0,
        "in_force": {"cpus": list(command.masks[0] or (0,)), **placed},
    }  # fmt: skip
