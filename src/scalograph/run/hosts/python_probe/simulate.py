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

from scalograph.run.hosts.python_probe import PROTOCOL, VERSION
from scalograph.run.hosts.python_probe.spec import Command, RefusalError, Spec

_FIX = "correct the model (docstring of scalograph.run.hosts.python_probe.simulate)"
_START_NS = 500_000
_SIMULATED = [{"what": "the run", "why": "simulated: nothing was started", "fix": "leave --simulate out"}]
Model = dict[str, Any]


def _wrong(where: str, found: object, expected: str) -> RefusalError:
    return RefusalError(2, f"model: {where}", f"{found!r:.80}", expected, _FIX)


def load(path: str) -> Model:
    """Read the model, and check its law."""
    try:
        model = json.loads(Path(path).read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise _wrong(path, str(error), "one JSON object in a readable file") from None
    if not isinstance(model, dict) or type(model.get("seed")) is not int:
        raise _wrong("seed", model.get("seed") if isinstance(model, dict) else model, "an integer")
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
        if type(value := model.get(name, low)) is not int or not low <= value <= 1_000_000_000:
            raise _wrong(name, value, f"an integer of at least {low}")
    return model


def events(model: Model, spec: Spec) -> Iterator[tuple[str, dict[str, Any]]]:
    """All events of one run."""
    made_by = {"protocol": PROTOCOL, "probe": VERSION, "kind": "degraded", "backend": "plain"}
    yield "header", {**made_by, "containment": "best effort", "degraded": _SIMULATED}
    outcome = _outcome(model, spec)
    copies = [(index, command) for index, command in enumerate(spec.commands) for _ in range(command.copies)]
    share = outcome["cpu_ns"] / len(copies)
    for number, (index, command) in enumerate(copies):
        yield "copy", {"copy": number, "command": index, "pid": 1000 + number, **_copy(command, outcome, share)}
    if spec.events and outcome["status"] == "ok":
        for number in range(len(copies)):
            yield "iterations", {"copy": number, **_iterations(model, outcome["wall_ns"], share)}
    yield "run", _run(outcome)


def _outcome(model: Model, spec: Spec) -> dict[str, Any]:
    """Status, wall and CPU time of the whole run, noise included."""
    listed = model.get("table", {}).get(" ".join(spec.commands[0].argv))
    found = {"status": "ok", "wall_ns": 0, **(_law(model, spec) if listed is None else listed)}
    noise = math.exp(random.Random(f"{model['seed']}/{spec.run}").gauss(0.0, model.get("noise_percent", 0) / 100))
    found["cpu_ns"] = round(found.get("cpu_ns", found["wall_ns"]) * noise)
    found["wall_ns"] = round(found["wall_ns"] * noise)
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


def _copy(command: Command, outcome: dict[str, Any], share_ns: float) -> dict[str, Any]:
    placed = {"policy": command.policy or "other", "priority": command.priority, "nice": command.nice or 0}
    return {
        "exit_code": None if outcome.get("signal") else outcome.get("exit_code", 0),
        "signal": outcome.get("signal"),
        "start_ns": _START_NS,
        "end_ns": _START_NS + outcome["wall_ns"],
        "user_ns": round(share_ns),
        "system_ns": 0,
        "in_force": {"cpus": list(command.masks[0] or (0,)), **placed},
    }


def _iterations(model: Model, wall_ns: int, share_ns: float) -> dict[str, Any]:
    n = model.get("iterations", 1)
    edges = [_START_NS + wall_ns * i // n for i in range(n + 1)]
    windows = {"index": list(range(n)), "start_ns": edges[:-1], "end_ns": edges[1:]}
    return {**windows, "work": [model.get("work", 1)] * n, "cpu_ns": [round(share_ns / n)] * n}


def _run(outcome: dict[str, Any]) -> dict[str, Any]:
    wall, cpu = outcome["wall_ns"], outcome["cpu_ns"]
    return {
        "status": outcome["status"],
        "reason": outcome.get("reason"),
        "wall_ns": wall,
        "wall_source": "gate",
        "wall_outer_ns": wall + _START_NS,
        "tree_wall_ns": wall,
        **dict.fromkeys(("gate_ns", "gate_skew_ns", "queue_drain_ns", "system_ns", "n_survivors"), 0),
        "user_ns": cpu,
        "cpu_ns": cpu,
        "cpu_source": "rusage",
        "degraded": _SIMULATED,
    }
