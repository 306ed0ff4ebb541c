"""Run as `python -m scalograph.run.hosts.python_probe [--capabilities | --simulate MODEL.json] < SPEC`."""

import os
import signal
import sys
import traceback
from collections.abc import Iterable
from typing import Any

from scalograph.run.hosts.python_probe import (
    capabilities,
    counters,
    simulate,
    spec,
    tree,
)
from scalograph.run.hosts.python_probe.launch import Board, launch, plan
from scalograph.run.hosts.python_probe.watch import Alarm, Watch

_USAGE = "python -m scalograph.run.hosts.python_probe [--capabilities | --simulate MODEL.json] < SPEC"
_SIGNALS = (signal.SIGINT, signal.SIGTERM)


def main(arguments: list[str]) -> int:
    """The exit code of protocol/probe.md."""
    run: str | None = None
    try:
        if arguments == ["--capabilities"]:
            _say(None, [("capabilities", capabilities.event())])
            return 0
        if arguments and not (len(arguments) == 2 and arguments[0] == "--simulate"):
            raise spec.RefusalError(2, "command line", " ".join(arguments)[:200], "other arguments", _USAGE)
        model = simulate.load(arguments[1]) if arguments else None
        fields = spec.read(sys.stdin.buffer)
        run = fields["run"] if isinstance(fields.get("run"), str) else None
        checked = spec.parse(fields)
        if model is None:
            return _keep(checked)
        _say(checked.run, simulate.events(model, checked))
        return 0
    except spec.RefusalError as refusal:
        _say(run, [("error", refusal.fields)])
        return refusal.code


def _say(run: str | None, events: Iterable[tuple[str, dict[str, Any]]]) -> None:
    for name, fields in events:
        sys.stdout.buffer.write(counters.line(name, run, fields).encode(errors="replace") + b"\n")
    sys.stdout.buffer.flush()


def _keep(checked: spec.Spec) -> int:
    """Has a child carry out the run: whoever kills one of the two leaves the other to clean up."""
    tree.become_subreaper()
    tree.die_with_parent(signal.SIGTERM)
    signal.pthread_sigmask(signal.SIG_BLOCK, _SIGNALS)  # until both know what to do with them
    keeper, worker = os.getpid(), os.fork()
    if worker == 0:
        _work(checked, keeper)
    for number in _SIGNALS:
        signal.signal(number, lambda number, _frame: os.kill(worker, number))
    signal.pthread_sigmask(signal.SIG_UNBLOCK, _SIGNALS)
    code = os.waitstatus_to_exitcode(os.waitpid(worker, 0)[1])
    tree.kill_all(tree.reap)
    if code < 0:  # say truthfully how the run ended, by ending the same way
        if -code in _SIGNALS:
            signal.signal(-code, signal.SIG_DFL)
        os.kill(keeper, -code)
    return code


def _work(checked: spec.Spec, keeper: int) -> None:
    """Everything between the two processes' fork and the exit of the worker."""
    code = 1
    try:
        tree.become_subreaper()
        tree.die_with_parent(signal.SIGTERM)
        alarm = Alarm()
        alarm.install()
        signal.pthread_sigmask(signal.SIG_UNBLOCK, _SIGNALS)
        if os.getppid() == keeper:
            _measure(checked, alarm)
        code = 0
    except spec.RefusalError as refusal:
        tree.kill_all(tree.reap)
        _say(checked.run, [("error", refusal.fields)])
        code = refusal.code
    except BaseException:
        traceback.print_exc()
        tree.kill_all(tree.reap)
    finally:
        sys.stderr.flush()
        os._exit(code)


def _measure(checked: spec.Spec, alarm: Alarm) -> None:
    copies = plan(checked)
    _say(checked.run, [("header", counters.header())])
    board = Board(len(copies))
    launch(checked, copies, board)
    window = counters.Window(cpu for copy in copies for cpu in copy.in_force["cpus"])
    watch = Watch(checked, copies, alarm, board.open(len(copies)))
    watch.follow()
    for copy in copies:
        leaving, *before_us = board.left(copy.index)
        copy.before_us = (before_us[0], before_us[1])
        copy.start_ns = leaving - watch.gate_ns if leaving else None
    run = counters.run_event(watch, window)
    for copy in copies:
        _say(checked.run, counters.copy_events(checked, copy))
    for copy in copies:
        _say(checked.run, counters.said_events(copy, watch.gate_ns))
    _say(checked.run, [("run", run)])


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
