"""`scalograph load`."""

from typing import TYPE_CHECKING

from scalograph.cli.explaining import ExplainedOptions
from scalograph.cli.options import group_options
from scalograph.cli.sweep_options import LoadOptions

if TYPE_CHECKING:
    from scalograph.run.session import Session


def _load(options: LoadOptions, explained: ExplainedOptions) -> int:
    """Load a server: maximum throughput, and the bottleneck. --serve starts it for each run.

    \b
    scalograph load --serve './app --port {port}' --get http://127.0.0.1:{port}/ --clients 1:64:*2
    scalograph load --serve './app {port}' --get http://127.0.0.1:{port}/ --clients 32 --cpus 1:all --ready line:started
    scalograph load --serve './app {port}' --get http://127.0.0.1:{port}/ --rate 100:10000 --limit 'p99<50ms'
    scalograph load --pid 4711 --get http://127.0.0.1:8080/ --rate 100,1000    # a running server
    """
    from scalograph.cli.command_line_study.load_study import load_study, map_load_error
    from scalograph.cli.measure_output import print_findings, run_command_study

    def answer(session: "Session") -> int:
        return print_findings(session, options, lambda findings: findings.model_dump(mode="json"))

    explains = explained.explain
    return run_command_study(load_study(options), options, answer, map_error=map_load_error, explains=explains)


command = group_options(_load, LoadOptions, ExplainedOptions)
