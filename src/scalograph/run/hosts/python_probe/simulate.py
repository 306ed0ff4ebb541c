"""Runs made up from a declared law: nothing is started, no time passes, the same run gives the same record.

For tests of whatever asks for runs. `--simulate MODEL.json`, where the model is one JSON object:

    {"seed": 7, "noise_percent": 2,
     "table": {"./prog -t 1": {"wall_ns": 1000000000},
               "./prog -t 64": {"status": "failed", "exit_code": 1}},
     "law": {"workers": 2, "t1_ns": 1000000000, "sigma": 0.05, "kappa": 0.001},
     "iterations": 5, "work": 1000}

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
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from scalograph.run.hosts.python_probe import counters
from scalograph.run.hosts.python_probe.spec import Command, RefusalError, Spec

_FIX = "correct the model (docstring of scalograph.run.hosts.python_probe.simulate)"
_START_NS = 500_000
Model = dict[str, Any]


def _wrong(where: str, found: object, expected: str) -> RefusalError:
    return RefusalError(2, f"model: {where}", f"{found!r:.80}", expected, _FIX)


def load(path: str) -> Model:
    """The model, its law checked."""
    try:
        with Path(path).open(encoding="utf-8") as stream:
            model = json.load(stream)
    except (OSError, ValueError) as error:
        raise _wrong(path, str(error), "one JSON object in a readable file") from None
    if not isinstance(model, dict) or type(model.get("seed")) is not int:
        raise _wrong("seed", model.get("seed") if isinstance(model, dict) else model, "an integer")
    _check(model)
    return model


def _check(model: Model) -> None:
    table, law = model.get("table", {}), model.get("law", {})
    if not isinstance(table, dict) or not all(isinstance(row, dict) for row in table.values()):
        raise _wrong("table", table, "an object from argv to an object")
    if not isinstance(law, dict):
        raise _wrong("law", law, "an object")
    numbers = {"noise_percent": model.get("noise_percent", 0)}
    numbers |= {f"table[{argv!r}].{n}": row.get(n, 0) for argv, row in table.items() for n in ("wall_ns", "cpu_ns")}
    numbers |= {f"law.{name}": law.get(name) for name in ("t1_ns", "sigma", "kappa") if law}
    for where, value in numbers.items():
        if type(value) not in (int, float) or not 0 <= value < math.inf:
            raise _wrong(where, value, "a number of at least 0")
    for name, low in (("iterations", 1), ("work", 0)):
        value = model.get(name, low)
        if type(value) is not int or not low <= value <= 1_000_000_000:
            raise _wrong(name, value, f"an integer of at least {low}")


def events(model: Model, spec: Spec) -> Iterator[tuple[str, dict[str, Any]]]:
    """All events of one run."""
    simulated = {"what": "the run", "why": "simulated: nothing was started", "fix": "leave --simulate out"}
    yield "header", {**counters.header(), "degraded": [simulated]}
    outcome = _outcome(model, spec)
    wall = round(outcome["wall_ns"])
    copies = [(index, command) for index, command in enumerate(spec.commands) for _ in range(command.copies)]
    for number, (index, command) in enumerate(copies):
        yield "copy", _copy(number, index, command, outcome, len(copies))
    if spec.events and outcome["status"] == "ok":
        for number in range(len(copies)):
            yield "iterations", _iterations(model, number, wall, outcome["cpu_ns"] / len(copies))
    yield "run", _run(outcome, wall, simulated)


def _outcome(model: Model, spec: Spec) -> dict[str, Any]:
    """Status, wall and CPU time of the whole run, noise included."""
    first = spec.commands[0]
    listed = model.get("table", {}).get(" ".join(first.argv))
    found = dict(listed) if listed is not None else _law(model, spec)
    drawn = random.Random(f"{model['seed']}/{spec.run}").gauss(0.0, model.get("noise_percent", 0) / 100)
    found["wall_ns"] = found.get("wall_ns", 0) * math.exp(drawn)
    found["cpu_ns"] = found["cpu_ns"] * math.exp(drawn) if "cpu_ns" in found else found["wall_ns"]
    found.setdefault("status", "ok")
    if found["wall_ns"] > spec.timeout_ns:
        reason = f"still running after {spec.timeout_ns / 1e9:g} s; killed"
        found |= {"status": "timeout", "wall_ns": spec.timeout_ns, "signal": 9, "reason": reason}
    return found


def _law(model: Model, spec: Spec) -> dict[str, Any]:
    law = model.get("law")
    if law is None:
        raise _wrong("table", " ".join(spec.commands[0].argv), "this argv, or a law beside the table")
    n = _workers(law.get("workers"), spec)
    cpu = law["t1_ns"] * (1 + law["sigma"] * (n - 1) + law["kappa"] * n * (n - 1))
    return {"wall_ns": cpu / n, "cpu_ns": cpu}


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
        raise _wrong("law.workers", declared, "copies, cpus, or the position of an integer in argv")
    return n if mask is None else min(n, len(mask))


def _copy(number: int, index: int, command: Command, outcome: dict[str, Any], n: int) -> dict[str, Any]:
    mask = command.masks[0] or (0,)
    priority = {"policy": command.policy or "other", "priority": command.priority, "nice": command.nice or 0}
    return {
        "copy": number,
        "command": index,
        "pid": 1000 + number,
        "exit_code": None if outcome.get("signal") else outcome.get("exit_code", 0),
        "signal": outcome.get("signal"),
        "start_ns": _START_NS,
        "end_ns": _START_NS + round(outcome["wall_ns"]),
        "user_ns": round(outcome["cpu_ns"] / n),
        "system_ns": 0,
        "in_force": {"cpus": list(mask), **priority},
    }


def _iterations(model: Model, number: int, wall: int, cpu: float) -> dict[str, Any]:
    n = model.get("iterations", 1)
    edges = [_START_NS + wall * i // n for i in range(n + 1)]
    return {
        "copy": number,
        "index": list(range(n)),
        "start_ns": edges[:-1],
        "end_ns": edges[1:],
        "work": [model.get("work", 1)] * n,
        "cpu_ns": [round(cpu / n)] * n,
    }


def _run(outcome: dict[str, Any], wall: int, simulated: dict[str, str]) -> dict[str, Any]:
    cpu = round(outcome["cpu_ns"])
    return {
        "status": outcome["status"],
        "reason": outcome.get("reason"),
        "wall_ns": wall,
        "wall_source": "gate",
        "wall_outer_ns": wall + _START_NS,
        "tree_wall_ns": wall,
        "gate_ns": 0,
        "gate_skew_ns": 0,
        "queue_drain_ns": 0,
        "user_ns": cpu,
        "system_ns": 0,
        "cpu_ns": cpu,
        "cpu_source": "rusage",
        "n_survivors": 0,
        "degraded": [simulated],
    }
