"""Run as `python -m scalograph.run.hosts.python_probe [--capabilities | --simulate MODEL.json] < SPEC`."""

import json
import sys
from collections.abc import Iterable
from typing import Any

from scalograph.run.hosts.python_probe import PROTOCOL, VERSION, spec
from scalograph.run.hosts.python_probe.spec import CopyLostError, RefusalError, Spec

_USAGE = "python -m scalograph.run.hosts.python_probe [--capabilities | --simulate MODEL.json] < SPEC"
_UNUSED = ("kernel records", "switch records", "names of neighbors", "cgroup leaf", "namespace")


def main(arguments: list[str]) -> int:
    """Carry out one run; the exit code of protocol/probe.md."""
    run: str | None = None
    try:
        if arguments == ["--capabilities"]:
            return _say(None, [("capabilities", _capabilities())])
        if arguments and not (len(arguments) == 2 and arguments[0] == "--simulate"):
            raise RefusalError(2, "command line", " ".join(arguments)[:200], "other arguments", _USAGE)
        fields = spec.read(sys.stdin.buffer)
        run = fields["run"] if isinstance(fields.get("run"), str) else None
        checked = spec.parse(fields)
        _refuse_services(checked)
        return _simulate(arguments[1], checked) if arguments else _measure(checked)
    except RefusalError as refusal:
        _say(run, [("error", refusal.fields)])
        return refusal.code


def _capabilities() -> dict[str, Any]:
    unused = {"granted": False, "why": "not used by the Python probe", "fix": "install scalograph where cargo is"}
    return {"protocol": PROTOCOL, "probe": VERSION, "capabilities": [{"name": name, **unused} for name in _UNUSED]}


def _refuse_services(checked: Spec) -> None:
    services = [("running", name) for name in checked.running]
    services += [(f"commands[{i}].role", one.name) for i, one in enumerate(checked.commands) if one.ports is not None]
    for where, name in services:
        fix = "install scalograph where cargo is: services need its probe"
        raise RefusalError(3, where, f"service {name}", "drivers only", fix)


# Each run starts this program, so each of the two ways imports what it needs itself.


def _simulate(model: str, checked: Spec) -> int:
    from scalograph.run.hosts.python_probe import simulate

    return _say(checked.run, simulate.events(simulate.load(model), checked))


def _measure(checked: Spec) -> int:
    from scalograph.run.hosts.python_probe.keeper import in_keeping

    return in_keeping(lambda: _carry_out(checked))


def _carry_out(checked: Spec) -> int:
    from scalograph.run.hosts.python_probe import figures
    from scalograph.run.hosts.python_probe.copies import plan
    from scalograph.run.hosts.python_probe.launch import Board, launch
    from scalograph.run.hosts.python_probe.watch import RunWatch, hear_signals

    try:
        wake = hear_signals()
        copies = plan(checked)
        _say(checked.run, [("header", figures.header())])
        board = Board(len(copies))
        launch(checked, copies, board)
        watch = RunWatch(checked, copies, wake, board)
        watch.follow()
        return _say(checked.run, figures.events(watch))
    except CopyLostError as lost:
        return _say(checked.run, [("run", figures.not_started(str(lost)))])
    except RefusalError as refusal:
        _say(checked.run, [("error", refusal.fields)])
        return refusal.code


def _say(run: str | None, events: Iterable[tuple[str, dict[str, Any]]]) -> int:
    for name, fields in events:
        line = json.dumps({"event": name, "run": run, **fields}, ensure_ascii=False, separators=(",", ":"))
        sys.stdout.buffer.write(line.encode(errors="replace") + b"\n")
    sys.stdout.buffer.flush()
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
