"""`scalograph load`."""

from typing import TYPE_CHECKING, Any

from scalograph.cli.options import bundled
from scalograph.cli.sweep_options import LoadOptions

if TYPE_CHECKING:
    from scalograph.run.session import Session


def _load(options: LoadOptions) -> int:
    """How much does a server carry, with more clients, CPUs and copies? With --serve it is started anew for each run.

    \b
    scalograph load --serve './app --port {port}' --get http://127.0.0.1:{port}/ --clients 1:64:*2
    scalograph load --serve './app {port}' --get http://127.0.0.1:{port}/ --clients 32 --cpus 1:all --ready line:started
    scalograph load --pid 4711 --get http://127.0.0.1:8080/ --rate 100,1000    a server that runs already
    """
    from scalograph.cli.command_line_study.load_study import load_options, load_study, load_text
    from scalograph.cli.measure_output import carried_out

    text = load_text(load_study(options))
    return carried_out(text, options, lambda session: _tell(session, options), as_told=load_options)


def _tell(session: "Session", options: Any) -> int:
    from scalograph.cli.analyze_steps import report
    from scalograph.cli.measure_output import close
    from scalograph.report.screen import screen

    found, _ = report(session.results.folder)
    return close(session, found, screen(found), options, found.model_dump(mode="json"))


command = bundled(_load, LoadOptions)
