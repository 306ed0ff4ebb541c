"""Stops 4 and 5 as the commands call them: from files to files."""

from pathlib import Path

from scalograph.errors import Exit
from scalograph.findings import table
from scalograph.findings.reproduce import reproduce
from scalograph.protocol import results
from scalograph.protocol.findings import Findings
from scalograph.questions.assemble import findings
from scalograph.report.html import write as write_html


def analyze(source: Path) -> tuple[Findings, Path]:
    """Stop 4: read the journal, write findings.json beside it.

    Raises:
        ProtocolError: there is no readable journal.
    """
    read = table.load(results.journal_of(source), keep_observations=False)
    folder = results.at(source)
    found = findings(read, folder.folder, reproduce(read.study, folder.study))
    results.write_text(folder.findings, found.model_dump_json(indent=1) + "\n")
    return found, folder.findings


def report(source: Path) -> tuple[Findings, Path]:
    """Stop 5: findings anew from the journal, then the page.

    Raises:
        ProtocolError: there is no readable journal.
    """
    found, file = analyze(source)
    page = file.with_name("report.html")
    write_html(found, page)
    return found, page


def exit_code(found: Findings) -> Exit:
    """4 where a treatment ran and never succeeded, 5 where one has fewer clean runs than asked, else 0.

    5 also where a search ended without its answer.

    Undecided runs count as clean (`answer.trust.n_short`): a machine that cannot tell is a doubt in `trust`, no code.
    """
    if found.runs.n_empty:
        return Exit.TREATMENT_FAILED
    searched = [one.decided for one in (*found.effective_cpus, found.cliffs, found.break_even) if one]
    is_open = found.study.question != "sweep" and not (searched and all(searched))
    return Exit.SHORT_OF_RUNS if found.runs.n_short or is_open else Exit.DONE
