"""Run as `python -m scalograph.run.hosts.python_probe [--capabilities | --simulate MODEL.json] < SPEC`."""

import json
import sys
from collections.abc import Iterable
from typing import Any

from scalograph.run.hosts.python_probe import FIX, HEADER, VERSIONS, spec
from scalograph.run.hosts.python_probe.spec import CopyLostError, RefusalError, Spec

_USAGE = "python -m scalograph.run.hosts.python_probe [--capabilities | --simulate MODEL.json] < SPEC"
_UNUSED = ("kernel records", "switch records", "names of interfering programs", "cgroup leaf", "namespace")


# Each run starts this program, so each way imports what it needs itself.
def main(arguments: list[str]) -> int:
    """Carry out one run; return the exit code of protocol/probe.md."""
    run: str | None = None
    try:
        if arguments == ["--capabilities"]:
            unused = {"granted": False, "why": "not used by the Python probe", "fix": FIX}
            return _write(
                None, "capabilities", {**VERSIONS, "capabilities": [{"name": name, **unused} for name in _UNUSED]}
            )
        if arguments and not (len(arguments) == 2 and arguments[0] == "--simulate"):
            raise RefusalError(2, "command line", " ".join(arguments)[:200], "other arguments", _USAGE)
        fields = spec.read(sys.stdin.buffer)
        run = fields["run"] if isinstance(fields.get("run"), str) else None
        checked = spec.parse(fields)
        _refuse_services(checked)
        if arguments:
            from scalograph.run.hosts.python_probe import simulate

            return _write_all(checked.run, simulate.events(simulate.load(arguments[1]), checked))
        from scalograph.run.hosts.python_probe.tree import run_in_child

        return run_in_child(lambda: _carry_out(checked))
    except RefusalError as refusal:
        return _write(run, "error", refusal.fields) or refusal.code


def _refuse_services(checked: Spec) -> None:
    services = [("running", service["name"]) for service in checked.running]
    commands = enumerate(checked.commands)
    services += [(f"commands[{i}].role", command.name) for i, command in commands if command.role == "service"]
    for where, name in services:
        raise RefusalError(3, where, f"service {name}", "drivers only", f"{FIX}: services need its probe")


def _carry_out(checked: Spec) -> int:
    from scalograph.run.hosts.python_probe import figures
    from scalograph.run.hosts.python_probe.launch import GatePipe, launch, plan
    from scalograph.run.hosts.python_probe.watch import RunWatch, wake_on_signals

    try:
        wake, copies, gate = wake_on_signals(), plan(checked), GatePipe()
        _write(checked.run, "header", {**HEADER, "degraded": figures.DEGRADED})
        launch(checked, copies, gate)
        watch = RunWatch(checked, copies, wake, gate)
        watch.follow()
        return _write_all(checked.run, figures.events(watch))
    except CopyLostError as lost:
        return _write(checked.run, "run", figures.empty_run(str(lost)))
    except RefusalError as refusal:
        return _write(checked.run, "error", refusal.fields) or refusal.code


def _write_all(run: str | None, events: Iterable[tuple[str, dict[str, Any]]]) -> int:
    for name, fields in events:
        _write(run, name, fields)
    return 0


def _write(run: str | None, name: str, fields: dict[str, Any]) -> int:
    line = json.dumps({"event": name, "run": run, **fields}, ensure_ascii=False, separators=(",", ":"))
    sys.stdout.buffer.write(line.encode(errors="replace") + b"\n")
    sys.stdout.buffer.flush()
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
