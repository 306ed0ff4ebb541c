"""Stops 4 and 5 as the commands call them: from files to files."""

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from scalograph.errors import Exit
from scalograph.protocol import results, saved_documents
from scalograph.protocol.findings import Findings
from scalograph.questions.registry import role, roles_present
from scalograph.study.model import replace_claims
from scalograph.study.published_claim import PublishedClaim

if TYPE_CHECKING:
    from scalograph.findings.table import Table
    from scalograph.protocol.figure import Figure, Overlay


def analyze(
    source: Path, claims: list[PublishedClaim] | None = None, to: Path | None = None, keep: bool = True
) -> tuple[Findings, Path]:
    """Stop 4: read the journal, and the profile beside it, and write findings.json there.

    Args:
        source: a folder of results, or a journal.
        claims: of a paper, in place of those that the study had when it was run; these only show its results.
        to: the file that is written instead.
        keep: whether it is written.

    Raises:
        ProtocolError: there is no readable journal.
        HostError: the disk refuses.
    """
    from scalograph.findings import table
    from scalograph.findings.reproduce import reproduction_commands
    from scalograph.findings.table import pause_gc
    from scalograph.machine.ceiling.compare_ceiling import add_ceiling
    from scalograph.profile.profile_tables import add_profile
    from scalograph.questions.assemble import findings

    read = table.load(results.journal_of(source), keep_observations=False)
    read = read if claims is None else replace(read, study=replace_claims(read.study, claims))
    folder = results.at(source)
    with pause_gc():
        result = findings(read, folder.folder, reproduction_commands(read.study, folder.study, read.machine))
    result = add_profile(add_ceiling(result, read.ceiling) if read.ceiling else result, folder.folder, read)
    file = to or folder.findings
    if keep:
        saved_documents.write_findings(result, file)
    return result, file


def report(
    source: Path, claims: list[PublishedClaim] | None = None, to: Path | None = None, keep: bool = True
) -> tuple[Findings, Path]:
    """Stop 5: read findings.json and write the page; stop 4 comes first where the journal has more to say.

    Args:
        source: a folder of results, or a journal.
        claims: as of `analyze`, which they call for.
        to: the page that is written instead of the one beside the journal.
        keep: whether it is written.

    Raises:
        ProtocolError: there are no readable findings, and no journal to make them from.
        HostError: the disk refuses.
    """
    from scalograph.report.html import write

    folder = results.at(source)
    compute = (
        _refresh_findings if to is None else _compute_findings
    )  # a page that goes elsewhere leaves the results as they are
    if claims is not None or not is_current(source):
        findings = compute(source, claims)
    else:
        findings = saved_documents.read_findings(folder.findings)
        if findings.protocol != saved_documents.LATEST and folder.journal.exists():
            findings = compute(source, None)
    page = to or folder.report
    if keep:
        write(findings, draw_charts(findings), page)
    return findings, page


def load_findings(source: Path) -> Findings:
    """Give the findings of results, those on the disk where the journal has no more to say; writes nothing.

    A file of findings is read as it is.

    Raises:
        ProtocolError: there are no readable findings, and no journal to make them from.
    """
    if source.suffix == ".json" and source.is_file():
        return saved_documents.read_findings(source)
    if is_current(source):
        findings = saved_documents.read_findings(results.at(source).findings)
        if findings.protocol == saved_documents.LATEST or not results.at(source).journal.exists():
            return findings
    return _compute_findings(source)


def load_table(source: Path, keep_observations: bool = True) -> "Table":
    """Read the journal of results as a table, and say what is odd about it.

    Args:
        source: a folder of results, or a journal.
        keep_observations: keep each iteration's figures.

    Raises:
        ProtocolError: there is no readable journal.
    """
    from scalograph.cli.console import say
    from scalograph.findings import table

    read = table.load(results.journal_of(source), keep_observations)
    for text in read.warnings:
        say(f"warning: {text}", "yellow")
    return read


def _refresh_findings(source: Path, claims: list[PublishedClaim] | None = None) -> Findings:
    """Findings as a reader of their file has them; the file is made unless the results are read-only."""
    if results.is_writable(results.at(source).folder):
        return saved_documents.read_findings(analyze(source, claims)[1])
    return _compute_findings(source, claims)


def _compute_findings(source: Path, claims: list[PublishedClaim] | None = None) -> Findings:
    return Findings.model_validate_json(analyze(source, claims, keep=False)[0].model_dump_json())


def draw_charts(findings: Findings) -> "list[Figure | Overlay]":
    """Draw what the questions, and the readings, that say something have to draw."""
    names = [
        name for name in roles_present("chart") if name in findings.parts and findings.parts[name].data is not None
    ]
    return [chart for name in names for chart in role(name, "chart").figures(findings)]


def is_current(source: Path) -> bool:
    """Tell whether findings.json is there, of this journal, and no file beside it is newer; without a journal it is."""
    folder = results.at(source)
    if not folder.findings.is_file():
        return False
    if not folder.journal.exists():
        return not source.is_file() or source == folder.findings  # no journal by another name
    if source.is_file() and source != folder.journal:  # a second journal in one folder
        return False
    others = (file for file in folder.folder.iterdir() if file not in (folder.findings, folder.report))
    made_ns = folder.findings.stat().st_mtime_ns
    return all(file.stat().st_mtime_ns <= made_ns for file in others if file.is_file())


def exit_code(findings: Findings) -> Exit:
    """Return 4 where a treatment ran and never succeeded, 5 where one has fewer clean runs than asked, else 0.

    5 also where a search ended without its answer.

    Undecided runs count as clean (`findings.trust.n_short`): a machine that cannot tell is a doubt in `trust`, no code.
    """
    if findings.runs.n_empty:
        return Exit.TREATMENT_FAILED
    asked = findings.parts.get(findings.study.question)
    is_open = asked is not None and asked.decided is False
    return Exit.SHORT_OF_RUNS if findings.runs.n_short or is_open else Exit.DONE
