"""What a search has found, on the terminal or as one document."""

from pathlib import Path
from typing import TYPE_CHECKING

from scalograph.cli.console import emit_json, out, tell
from scalograph.cli.measure_output import close, warn_first

if TYPE_CHECKING:
    from scalograph.protocol.findings import Findings
    from scalograph.run.session import Conducted


def tell_effective_cpus(conducted: "Conducted", json: bool) -> int:
    """Figures, levels and the sentence; the report has the rest."""
    from scalograph.cli.last_stops import exit_code, report

    found, page = report(conducted.results.folder)
    (one,) = found.effective_cpus
    if json:
        told = {"verdict": found.trust.level, "sentence": found.trust.sentence, "answer": found.answer[:1]}
        parts = {"limit_sentence": one.sentence, "runs": found.runs.model_dump(mode="json")}
        emit_json({**one.model_dump(mode="json"), **told, **parts, "results": str(conducted.results.folder)})
        return exit_code(found)
    return _tell(conducted, found, page, "effective-")


def tell_cliffs(conducted: "Conducted", json: bool) -> int:
    """The sentence, every cliff with both its sides, and the levels; the report has the rest."""
    from scalograph.cli.last_stops import exit_code, report

    found, page = report(conducted.results.folder)
    if not json:
        return _tell(conducted, found, page, "cliff")
    one = found.cliffs
    first = max(one.cliffs, key=lambda cliff: cliff.probability, default=None) if one else None
    emit_json(
        {
            "location": first.location if first else None,
            "interval": [first.low, first.high] if first else None,
            "runs": one.n if one else 0,
            "probability": one.probability if one else None,
            **(one.model_dump(mode="json") if one else {"decided": False, "cliffs": []}),
            **{"verdict": found.trust.level, "answer": found.answer[:1]},
            "results": str(conducted.results.folder),
        }
    )
    return exit_code(found)


def tell_break_even(conducted: "Conducted", json: bool) -> int:
    """The sentence, the line at every setting, and the pairs; the report has the rest."""
    from scalograph.cli.last_stops import exit_code, report

    found, page = report(conducted.results.folder)
    if not json:
        return _tell(conducted, found, page, "break-even-")
    one = found.break_even
    lines = [
        {**m.group, m.y or "y": line.level, **line.model_dump()} for m in (one.maps if one else []) for line in m.lines
    ]
    figures = one.model_dump(mode="json", exclude={"maps"}) if one else {"decided": False, "n": 0}
    told = {"lines": lines, "verdict": found.trust.level, "answer": found.answer}
    emit_json({**figures, **told, "results": str(conducted.results.folder)})
    return exit_code(found)


def _tell(conducted: "Conducted", found: "Findings", page: Path, tables: str) -> int:
    """The tables of a search, its sentence, and what stands below every answer."""
    from scalograph.cli.last_stops import exit_code
    from scalograph.protocol import journal
    from scalograph.report.cells import sheet
    from scalograph.report.terminal_table import draw

    tell(found.study.title)
    warn_first(found)
    for table in found.tables:
        if table.id.startswith(tables):
            tell()
            draw(sheet(table), out())
    tell()
    tell(found.answer[0])
    noted = {str(event["text"]) for event in journal.read(conducted.results.journal) if event["event"] == "note"}
    close(conducted, found, noted, page)
    return exit_code(found)
