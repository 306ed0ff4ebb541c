"""State of a running reproduction, its document and its page."""

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from scalograph.cli.answer_output import short_path
from scalograph.cli.console import out
from scalograph.control.machine_control import NO_CONSENT, Consent
from scalograph.findings.published.claim_texts import collect_reproduced_studies
from scalograph.protocol import journal, saved_documents
from scalograph.protocol.findings import Findings
from scalograph.protocol.reproduction import ReproducedPart, Reproduction
from scalograph.study.catalogue import OpenedCatalogue
from scalograph.study.declare import Declared


@dataclass
class ReproductionRun:
    """A running reproduction.

    Attributes:
        folder: of the results; each part has one of its name in it.
        parts: what became of each part so far.
        again: finished parts to run once more, for the machine was busy.
        further: parts that go on with other runs or another budget than declared.
        is_new: whether it has no folder yet.
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
    is_new: bool = False

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
        studies = collect_reproduced_studies(self.catalogue, self.findings, reasons, machine)
        file = "" if self.catalogue.is_shipped else str(self.catalogue.file)
        return Reproduction(
            quick=self.quick, catalogue=file, started=self.started, ended=journal.now() if is_over else None,
            machine=machine, parts=list(self.parts.values()), studies=studies,
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


def report_reproduction(folder: Path, to: Path | None, keep: bool) -> Reproduction:
    """Read reproduction.json, and write its page if `keep`."""
    from scalograph.report.reproduction_page import write

    document = saved_documents.read_reproduction(folder)
    if keep:
        write(document, to or folder / saved_documents.PAGE)
    return document
