"""A probe whose runs are made up from a declared law: nothing is started, no time passes, a run gives the same record.

Run as `python simulated_probe.py MODEL.json [--capabilities] < SPEC`, where the model is one JSON object:

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
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

from scalograph.run.hosts.python_probe import HEADER
from scalograph.run.hosts.python_probe import __main__ as probe
from scalograph.run.hosts.python_probe import spec as specification
from scalograph.run.hosts.python_probe.spec import Command, RefusalError, Spec, refusal

_START_NS = 500_000
_SIMULATED = [{"what": "the run", "why": "simulated: nothing was started", "fix": "use another probe"}]


class SimulatedOutcome(NamedTuple):
    """How a whole run ends; a row of the table."""

    wall_ns: float = 0
    cpu_ns: float | None = None
    status: str = "ok"
    exit_code: int = 0
    signal: int | None = None
    reason: str | None = None


class SimulatedLaw(NamedTuple):
    """The law of all other runs."""

    t1_ns: float
    sigma: float
    kappa: float
    workers: int | str


class SimulatedModel(NamedTuple):
    seed: int
    noise_percent: float = 0
    table: Mapping[str, Mapping[str, Any]] = {}
    law: Mapping[str, Any] | None = None
    iterations: int = 1
    work: int = 1


def main(model: str, *arguments: str) -> int:
    """Carry out one run; return its exit code."""
    if arguments:
        return probe.main([*arguments])
    declared = SimulatedModel(**json.loads(Path(model).read_text(encoding="utf-8")))
    run = specification.parse(specification.read(sys.stdin.buffer))
    try:
        return probe.write_events(run.run, events(declared, run))
    except RefusalError as refused:
        return probe.write_event(run.run, "error", refused.fields) or refused.code


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
    outcome = _follow_law(model, spec) if listed is None else SimulatedOutcome(**listed)
    noise = math.exp(random.Random(f"{model.seed}/{spec.run}").gauss(0.0, model.noise_percent / 100))
    wall = round(outcome.wall_ns * noise)
    cpu = wall if outcome.cpu_ns is None else round(outcome.cpu_ns * noise)
    if wall > spec.timeout_ns:
        reason = f"still running after {spec.timeout_ns / 1e9:g} s; killed"
        return outcome._replace(status="timeout", signal=9, reason=reason), spec.timeout_ns, cpu
    return outcome, wall, cpu


def _follow_law(model: SimulatedModel, spec: Spec) -> SimulatedOutcome:
    if not model.law:
        raise refusal("model: table", " ".join(spec.commands[0].argv), "this argv, or a law beside the table", "add it")
    law = SimulatedLaw(**model.law)
    n = _workers(law.workers, spec)
    cpu = law.t1_ns * (1 + law.sigma * (n - 1) + law.kappa * n * (n - 1))
    return SimulatedOutcome(wall_ns=cpu / n, cpu_ns=cpu)


def _workers(declared: int | str, spec: Spec) -> int:
    first = spec.commands[0]
    mask = first.masks[0]
    if declared == "copies":
        n = sum(command.copies for command in spec.commands)
    elif declared == "cpus":
        n = len(mask or (0,))
    else:
        n = max(1, int(first.argv[int(declared)]))
    return n if mask is None else min(n, len(mask))


def _copy(command: Command, outcome: SimulatedOutcome, wall_ns: int, share_ns: float) -> dict[str, Any]:
    placed = {"policy": command.policy or "other", "priority": command.priority, "nice": command.nice or 0}
    return {
        "exit_code": None if outcome.signal else outcome.exit_code, "signal": outcome.signal,
        "start_ns": _START_NS, "end_ns": _START_NS + wall_ns, "user_ns": round(share_ns), "system_ns": 0,
        "in_force": {"cpus": list(command.masks[0] or (0,)), **placed},
    }  # fmt: skip


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
