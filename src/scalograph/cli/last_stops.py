"""Stops 4 and 5 as the commands call them: from files to files."""

from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING

from scalograph.errors import Exit
from scalograph.protocol import findings_file, results
from scalograph.protocol.findings import Findings

if TYPE_CHECKING:
    from scalograph.protocol.figure import Figure, Overlay

# Questions that have a figure, in the order of the page.
DRAWING = ("break_even", "surface", "cliff")


def analyze(source: Path) -> tuple[Findings, Path]:
    """Stop 4: read the journal, and the profile beside it, and write findings.json there.

    Raises:
        ProtocolError: there is no readable journal.
    """
    from scalograph.findings import table
    from scalograph.findings.reproduce import reproduce
    from scalograph.machine.ceiling.joined import joined
    from scalograph.profile.profile_tables import profiled
    from scalograph.questions.assemble import findings

    read = table.load(results.journal_of(source), keep_observations=False)
    folder = results.at(source)
    found = findings(read, folder.folder, reproduce(read.study, folder.study))
    found = profiled(joined(found, read.ceiling) if read.ceiling else found, folder.folder)
    findings_file.write(found, folder.findings)
    return found, folder.findings


def report(source: Path) -> tuple[Findings, Path]:
    """Stop 5: read findings.json and write the page; stop 4 comes first where the journal has more to say.

    Raises:
        ProtocolError: there are no readable findings, and no journal to make them from.
    """
    from scalograph.report.html import write

    folder = results.at(source)
    if not is_current(source):
        analyze(source)
    found = findings_file.read(folder.findings)
    if found.protocol != findings_file.LATEST and folder.journal.exists():
        analyze(source)
        found = findings_file.read(folder.findings)
    write(found, figures(found), folder.report)
    return found, folder.report


def figures(found: Findings) -> "list[Figure | Overlay]":
    """What the questions draw of findings, in the order of the page."""
    roles = (import_module(f"scalograph.questions.{question}.figure") for question in DRAWING)
    return [one for role in roles for one in role.figures(found)]


def is_current(source: Path) -> bool:
    """Whether findings.json is there, of this journal, and no file beside it is newer; without a journal it is."""
    folder = results.at(source)
    if not folder.findings.is_file():
        return False
    if not folder.journal.exists():
        return True
    if source.is_file() and source != folder.journal:  # a second journal in one folder
        return False
    others = (file for file in folder.folder.iterdir() if file not in (folder.findings, folder.report))
    made = folder.findings.stat().st_mtime_ns
    return all(file.stat().st_mtime_ns <= made for file in others if file.is_file())


def exit_code(found: Findings) -> Exit:
    """4 where a treatment ran and never succeeded, 5 where one has fewer clean runs than asked, else 0.

    5 also where a search ended without its answer.

    Undecided runs count as clean (`findings.trust.n_short`): a machine that cannot tell is a doubt in `trust`, no code.
    """
    if found.runs.n_empty:
        return Exit.TREATMENT_FAILED
    searched = [one.decided for one in (*found.effective_cpus, found.cliffs, found.break_even) if one]
    is_open = found.study.question != "sweep" and not (searched and all(searched))
    return Exit.SHORT_OF_RUNS if found.runs.n_short or is_open else Exit.DONE
