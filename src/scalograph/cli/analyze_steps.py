"""Run analyze and report: from a journal to findings.json, and to the page."""

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from scalograph.errors import Exit, StudyError
from scalograph.protocol import results, saved_documents
from scalograph.protocol.findings import Findings
from scalograph.questions.registry import expects_failures, role, roles_present
from scalograph.study.declare import Declared, claimed_responses, claims_of
from scalograph.study.load import load
from scalograph.study.model import Study, replace_claims

if TYPE_CHECKING:
    from scalograph.findings.table import Table
    from scalograph.protocol.figure import Figure, Overlay


def analyze(
    source: Path, declared: Declared | None = None, to: Path | None = None, keep: bool = True,
    correct: bool | None = None,
) -> tuple[Findings, Path]:  # fmt: skip
    """Analyze a journal, and the profile beside it, into findings.json, or the file `to`.

    Published claims of `declared`, and the responses that they name, replace those that the study had when it was run:
    these only show its results. `correct`: whether the study uses undisturbed time; None: only if a run was corrected.
    """
    from scalograph.findings import table
    from scalograph.findings.reproduce import reproduction_commands
    from scalograph.findings.table import pause_gc
    from scalograph.machine.ceiling.compare_ceiling import add_ceiling
    from scalograph.profile.profile_tables import add_explanation, add_profile
    from scalograph.questions.assemble import findings

    responses = claimed_responses(declared) if declared else {}
    read = table.load(results.locate_journal(source), keep_observations=False, correct=correct, responses=responses)
    folder = results.locate_results(source)
    study = replace_claims(read.study, claims_of(declared)) if declared else read.study
    read = replace(read, study=_replace_comparisons(study, _study_file(folder)))
    with pause_gc():
        result = findings(read, folder.folder, reproduction_commands(read.study, folder.study, read.machine))
    result = add_profile(add_ceiling(result, read.ceiling) if read.ceiling else result, folder.folder, read)
    result = add_explanation(result, folder.folder)
    file = to or folder.findings
    if keep:
        saved_documents.write_findings(result, file)
    return result, file


def _study_file(folder: results.Results) -> Path:
    """Return where the study's own file is if the results are its example."""
    return folder.folder.resolve().parent / "study.toml"


def _replace_comparisons(study: Study, file: Path) -> Study:
    """Return a study with the comparisons that its file declares by now: these only show its results."""
    if not file.is_file():
        return study
    try:
        declared = load(file)
    except StudyError:
        return study  # of another release
    names = {*study.factors, *study.responses, None}
    is_same = declared.name == study.name and declared.question == study.question
    if not is_same or any({*c.of, *c.where, c.response} - names for c in declared.compare):
        return study
    return study.model_copy(update={"compare": declared.compare})


def report(
    source: Path, declared: Declared | None = None, to: Path | None = None, keep: bool = True
) -> tuple[Findings, Path]:
    """Write the HTML page from findings.json; analyze first where the journal is newer, or for `declared` claims."""
    from scalograph.report.html import write

    folder = results.locate_results(source)
    # A page written elsewhere does not change the results.
    compute = _refresh_findings if to is None else _compute_findings
    if declared is not None or not is_current(source):
        findings = compute(source, declared)
    else:
        findings = saved_documents.read_findings(folder.findings)
        if findings.protocol != saved_documents.LATEST and folder.journal.exists():
            findings = compute(source, None)
    page = to or folder.report
    if keep:
        write(findings, draw_charts(findings), page)
    return findings, page


def load_findings(source: Path, correct: bool | None = None) -> Findings:
    """Return findings: a file as it is, those on disk where they are current, else computed; write nothing.

    `correct`: whether a study with a journal uses undisturbed time; None: only if a run was corrected.
    """
    if source.suffix == ".json" and source.is_file():
        return saved_documents.read_findings(source)
    if correct is not None and results.locate_results(source).journal.exists():
        return _compute_findings(source, correct=correct)
    if is_current(source):
        findings = saved_documents.read_findings(results.locate_results(source).findings)
        if findings.protocol == saved_documents.LATEST or not results.locate_results(source).journal.exists():
            return findings
    return _compute_findings(source)


def load_table(source: Path, keep_observations: bool = True) -> "Table":
    """Read a journal as a table, printing its warnings."""
    from scalograph.cli.console import say
    from scalograph.findings import table

    read = table.load(results.locate_journal(source), keep_observations)
    for text in read.warnings:
        say(f"warning: {text}", "yellow")
    return read


def _refresh_findings(source: Path, declared: Declared | None = None) -> Findings:
    if results.is_writable(results.locate_results(source).folder):
        return saved_documents.read_findings(analyze(source, declared)[1])
    return _compute_findings(source, declared)


def _compute_findings(source: Path, declared: Declared | None = None, correct: bool | None = None) -> Findings:
    return Findings.model_validate_json(analyze(source, declared, keep=False, correct=correct)[0].model_dump_json())


def draw_charts(findings: Findings) -> "list[Figure | Overlay]":
    """Return the charts of every question and reading that has data."""
    names = [
        name for name in roles_present("chart") if name in findings.parts and findings.parts[name].data is not None
    ]
    return [chart for name in names for chart in role(name, "chart").figures(findings)]


def is_current(source: Path) -> bool:
    """Return whether findings.json belongs to this journal and no file beside it is newer."""
    folder = results.locate_results(source)
    if not folder.findings.is_file():
        return False
    if not folder.journal.exists():
        return not source.is_file() or source == folder.findings  # no journal by another name
    if source.is_file() and source != folder.journal:  # a second journal in one folder
        return False
    others = [file for file in folder.folder.iterdir() if file not in (folder.findings, folder.report)]
    others.append(_study_file(folder))
    made_ns = folder.findings.stat().st_mtime_ns
    return all(file.stat().st_mtime_ns <= made_ns for file in others if file.is_file())


def exit_code(findings: Findings, strict: bool = True, answered: bool | None = None) -> Exit:
    """Return 4 for a configuration without a successful run, 5 without an answer, else 0.

    If `strict`, a configuration short of its runs ends in 5 too. `answered`: whether an answer is shown; None:
    as in the findings.
    """
    asked = findings.parts.get(findings.study.question)
    is_expected = asked is not None and asked.decided is True and expects_failures(findings.study.question)
    if findings.runs.n_empty and not is_expected:
        return Exit.CONFIGURATION_FAILED
    is_open = asked is not None and asked.decided is False
    if answered is None:
        answered = findings.claim is None or findings.claim.answered
    return Exit.NO_ANSWER if is_open or not answered or (strict and findings.runs.n_short) else Exit.DONE
