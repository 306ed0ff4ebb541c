"""Run as `python -m scalograph.run.hosts.python_probe [--capabilities] < SPEC`."""

import json
import sys
from collections.abc import Iterable
from typing import Any

from scalograph.run.hosts.python_probe import FIX, HEADER, VERSIONS, spec
from scalograph.run.hosts.python_probe.spec import CopyLostError, RefusalError, Spec

_USAGE = "python -m scalograph.run.hosts.python_probe [--capabilities] < SPEC"
_RECORDS = ("kernel records", "switch records", "wake-up records", "names of interfering programs")
_UNUSED = (*_RECORDS, "cgroup leaf", "namespace")


# Each run starts this program, so each way imports what it needs itself.
def main(arguments: list[str]) -> int:
    """Carry out one run; return the exit code of protocol/probe.md."""
    run: str | None = None
    try:
        if arguments == ["--capabilities"]:
            unused = {"granted": False, "why": "not used by the Python probe", "fix": FIX}
            return write_event(
                None, "capabilities", {**VERSIONS, "capabilities": [{"name": name, **unused} for name in _UNUSED]}
            )
        if arguments:
            raise RefusalError(2, "command line", " ".join(arguments)[:200], "other arguments", _USAGE)
        fields = spec.read(sys.stdin.buffer)
        run = fields["run"] if isinstance(fields.get("run"), str) else None
        checked = spec.parse(fields)
        _refuse_services(checked)
        from scalograph.run.hosts.python_probe.tree import run_in_child

        return run_in_child(lambda: _carry_out(checked))
    except RefusalError as refusal:
        return write_event(run, "error", refusal.fields) or refusal.code


def _refuse_services(checked: Spec) -> None:
    services = [("running", service["name"]) for service in checked.running]
    commands = enumerate(checked.commands)
    services += [(f"commands[{i}].role", command.name) for i, command in commands if command.role == "service"]
    for where, name in services:
        raise RefusalError(3, where, f"service {name}", "drivers only", f"{FIX}: services need its probe")


def _carry_out(checked: Spec) -> int:
    from scalograph.run.hosts.python_probe.launch import GatePipe, launch, plan
    from scalograph.run.hosts.python_probe.watch import (
        DEGRADED,
        NO_SENTINEL,
        RunWatch,
        empty_run,
        events,
        wake_on_signals,
    )

    try:
        wake, copies, gate = wake_on_signals(), plan(checked), GatePipe()
        degraded = [*DEGRADED, *([NO_SENTINEL] if checked.sentinel else ())]
        write_event(checked.run, "header", {**HEADER, "degraded": degraded})
        launch(checked, copies, gate)
        watch = RunWatch(checked, copies, wake, gate)
        watch.follow()
        return write_events(checked.run, events(watch))
    except CopyLostError as lost:
        return write_event(checked.run, "run", empty_run(str(lost)))
    except RefusalError as refusal:
        return write_event(checked.run, "error", refusal.fields) or refusal.code


def write_events(run: str | None, events: Iterable[tuple[str, dict[str, Any]]]) -> int:
    for name, fields in events:
        write_event(run, name, fields)
    return 0


def write_event(run: str | None, name: str, fields: dict[str, Any]) -> int:
    line = json.dumps({"event": name, "run": run, **fields}, ensure_ascii=False, separators=(",", ":"))
    sys.stdout.buffer.write(line.encode(errors="replace") + b"\n")
    sys.stdout.buffer.flush()
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
