"""What a search has found, on the terminal or as one document."""

from typing import TYPE_CHECKING

from scalograph.cli.console import emit_json, out, tell
from scalograph.cli.measured import close

if TYPE_CHECKING:
    from scalograph.conduct import Conducted


def tell_effective_cpus(conducted: "Conducted", json: bool) -> int:
    """Figures, levels and the sentence; the report has the rest."""
    from scalograph import journal
    from scalograph.report.cells import sheet
    from scalograph.report.terminal_table import draw
    from scalograph.stops import exit_code, report

    found, page = report(conducted.results.folder)
    (one,) = found.effective_cpus
    if json:
        told = {"verdict": found.trust.level, "sentence": found.trust.sentence, "answer": found.answer[:1]}
        parts = {"limit_sentence": one.sentence, "runs": found.runs.model_dump(mode="json")}
        emit_json({**one.model_dump(mode="json"), **told, **parts, "results": str(conducted.results.folder)})
        return exit_code(found)
    tell(found.study.title)
    for table in found.tables:
        if table.id.startswith("effective-"):
            tell()
            draw(sheet(table), out())
    tell()
    tell(found.answer[0])
    noted = {str(event["text"]) for event in journal.read(conducted.results.journal) if event["event"] == "note"}
    close(conducted, found, noted, page)
    return exit_code(found)
