"""State of a running reproduction, its document and its page."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from scalograph.cli import analyze_steps
from scalograph.cli.answer_output import short_path
from scalograph.cli.console import out, say
from scalograph.control.machine_control import NO_CONSENT, Consent
from scalograph.errors import Problem, ScalographError, StudyError
from scalograph.findings.published.reproduced_studies import OtherMachine, collect_reproduced_studies
from scalograph.protocol import journal, results, saved_documents
from scalograph.protocol.findings import Findings
from scalograph.protocol.reproduction import ReproducedPart, Reproduction
from scalograph.run.hosts.host_names import LOCAL
from scalograph.study.catalogue import OpenedCatalogue
from scalograph.study.declare import Declared, claims_of
from scalograph.study.published_claim import factors_of
from scalograph.text.summaries import short_machine

# Of a text that a document may hold.
LONGEST = 2000


@dataclass
class ReproductionRun:
    """A running reproduction.

    Attributes:
        folder: of the results; each part has one of its name in it.
        parts: what became of each part so far.
        again: finished parts to run once more, for the machine was busy.
        further: parts that go on with other runs or another budget than declared.
        others: results of other machines, by the path of their folder; None where they cannot be read any more.
        is_new: whether it has no folder yet.
        host: name of the host that makes the runs.
    """

    catalogue: OpenedCatalogue
    folder: Path
    quick: bool
    started: str
    consent: Consent = NO_CONSENT
    machine: dict[str, Any] = field(default_factory=dict)
    parts: dict[str, ReproducedPart] = field(default_factory=dict)
    findings: dict[str, Findings] = field(default_factory=dict)
    again: set[str] = field(default_factory=set)
    further: dict[str, Declared] = field(default_factory=dict)
    others: dict[str, OtherMachine | None] = field(default_factory=dict)
    is_new: bool = False
    host: str = LOCAL

    def current_study(self, name: str) -> Declared:
        """Return a part's study as it is to be run."""
        return self.further.get(name, self.catalogue.declared[name])

    def document(self) -> Reproduction:
        """Return the document of what is known so far."""
        is_over = all(part.state in ("done", "failed", "skipped") for part in self.parts.values())
        used = [findings.machine for findings in self.findings.values()]
        jvms = {name: build for facts in used for name, build in (facts.get("jvms_used") or {}).items()}
        machine = {**self.machine, **(used[-1] if used else {}), **({"jvms_used": jvms} if jvms else {})}
        reasons = {name: _skip_reason(part) for name, part in self.parts.items()}
        studies = collect_reproduced_studies(
            self.catalogue, self.findings, reasons, machine, [*filter(None, self.others.values())]
        )
        file = "" if self.catalogue.is_shipped else str(self.catalogue.file)
        return Reproduction(
            quick=self.quick, catalogue=file, others=[*self.others], started=self.started,
            ended=journal.now() if is_over else None, machine=machine, parts=list(self.parts.values()), studies=studies,
        )  # fmt: skip

    def save(self) -> Reproduction:
        """Write the document and its page. Raises HostError where the disk refuses."""
        from scalograph.report.reproduction_page import write

        document = self.document()
        saved_documents.write_reproduction(document, self.folder)
        write(document, self.folder / saved_documents.PAGE)
        return document

    def parts_left(self) -> list[str]:
        """Return the parts still to run, in order."""
        once_more = {*self.again, *self.further}
        return [name for name, part in self.parts.items() if part.state in ("begun", "not run") or name in once_more]

    def update_part(self, name: str, **changes: Any) -> None:
        self.parts[name] = self.parts[name].model_copy(update=changes)


def _skip_reason(part: ReproducedPart) -> str:
    state = {"skipped": "was skipped", "failed": "failed", "begun": "was interrupted"}.get(part.state, "has not run")
    return f"{state}: {part.why}" if part.why else state


def show(document: Reproduction, folder: Path, next_: tuple[str, str] | None = None, page: Path | None = None) -> None:
    """Print the decided claims, where to find more, and `next_` (label, command)."""
    from scalograph.report.reproduction_page import render_reproduction

    latest = folder.parent / "latest"
    folder = latest if latest.is_symlink() and latest.resolve() == folder.resolve() else folder
    places = [("page", short_path(page or folder / saved_documents.PAGE))]
    places += [("parts", f"scalograph report {short_path(folder)}/NAME")]
    render_reproduction(document, out(), [*places, *([next_] if next_ else [])])


# Results of other machines that one reproduction may take.
MOST_OTHERS = 16
OTHER = "a reproduction, or results of a study of the catalogue"


def read_others(
    catalogue: OpenedCatalogue, folders: Sequence[Path], before: Sequence[str] = ()
) -> dict[str, OtherMachine | None]:
    """Read the results of other machines, those of `before` as far as they are still there.

    Raises StudyError: a folder of `folders` holds no such results, or there are too many.
    """
    wanted, problems, others = [str(folder.resolve()) for folder in folders], [], dict[str, OtherMachine | None]()
    for path in dict.fromkeys([*before, *wanted]):
        try:
            others[path] = _read_other(catalogue, Path(path))
        except ScalographError as error:
            others[path], reason = None, str(error)[:LONGEST]
            if path in wanted:
                problems.append(Problem("--with", f"{path}: {reason}", OTHER, "give another folder"))
            else:
                say(f"--with {path} is excluded: {reason}", "yellow")
    if len(others) > MOST_OTHERS:
        problems.append(Problem("--with", f"{len(others)} folders", f"at most {MOST_OTHERS}", "leave some out"))
    if problems:
        raise StudyError(problems)
    return others


def _read_other(catalogue: OpenedCatalogue, folder: Path) -> OtherMachine:
    """Decide the claims of every part from the journals in a folder; its documents are not trusted."""
    findings = dict[str, Findings]()
    if saved_documents.has_reproduction(folder):
        saved_documents.read_reproduction(folder)
        for name, declared in catalogue.declared.items():
            if (folder / name).is_dir() and results.is_begun(results.locate_results(folder / name).journal):
                findings[name] = _decide(folder / name, declared)
    else:
        name = analyze_steps.load_table(folder, keep_observations=False).study.name
        if name not in catalogue.declared:
            raise StudyError.one("study", f'"{name}"', "one of the catalogue", "")
        findings[name] = _decide(folder, catalogue.declared[name])
    if not findings:
        raise StudyError.one("parts", "none with a journal", "one or more", "")
    machines = {name: short_machine(each.machine) for name, each in findings.items()}
    if len({*machines.values()}) > 1:
        raise StudyError.one("parts", f"several machines: {'; '.join({*machines.values()})}", "one", "")
    return OtherMachine(next(iter(machines.values())), findings)


def _decide(folder: Path, declared: Declared) -> Findings:
    lacking = (
        factors_of(claims_of(declared)) - analyze_steps.load_table(folder, keep_observations=False).study.factors.keys()
    )
    if lacking:
        raise StudyError.one(declared.study.name, f"no factor {sorted(lacking)[0]}", "the study of this release", "")
    return analyze_steps.analyze(folder, declared, keep=False)[0]


def report_reproduction(folder: Path, to: Path | None, keep: bool) -> Reproduction:
    """Read reproduction.json, and write its page if `keep`."""
    from scalograph.report.reproduction_page import write

    document = saved_documents.read_reproduction(folder)
    if keep:
        write(document, to or folder / saved_documents.PAGE)
    return document
