"""What a command prints when it ends: the answer, and the tables that can stand above it."""

from collections.abc import Sequence
from dataclasses import dataclass, field

from scalograph.protocol.claim import Claim
from scalograph.protocol.findings import Findings, TableDoc, Trust
from scalograph.text import wording
from scalograph.text.reproduced import published


@dataclass(frozen=True, kw_only=True)
class Screen:
    """The answer of one command.

    Attributes:
        title: the question, or what was looked at.
        machine: which machine, how many runs; empty where nothing was run.
        claim: the answer.
        trust: the verdict; None where runs were made elsewhere.
        published: what became of published figures, in one sentence.
        failures: why runs failed.
        tables: what the claim rests on.
        remarks: titled lists that stand below the tables.
        verbatim: titled lines that are never wrapped: what is drawn, and commands.
    """

    title: str
    machine: str = ""
    claim: Claim
    trust: Trust | None = None
    published: str = ""
    failures: str = ""
    tables: Sequence[TableDoc] = ()
    remarks: dict[str, list[str]] = field(default_factory=dict)
    verbatim: dict[str, list[str]] = field(default_factory=dict)


def screen(findings: Findings) -> Screen:
    """Lay out what a study has found."""
    runs = [text for text in (wording.study(findings), wording.runs(findings.runs)) if text]
    runs += wording.causes(findings.trust)
    runs += [wording.noise(findings.noise)] if findings.noise else []
    return Screen(
        title=findings.study.title or findings.study.name,
        machine=wording.machine(findings),
        claim=findings.claim or Claim(sentences=findings.answer[:1] or ["Cannot be said."]),
        trust=findings.trust,
        published=published(findings),
        failures=wording.failures(findings.runs),
        tables=findings.tables,
        remarks={
            "Answer": findings.answer,
            "Runs": runs,
            "Warnings": findings.warnings,
            "Varied, though not declared": findings.residue,
            "Not granted by this machine": [wording.degraded(d) for d in wording.alike(findings.degraded)],
        },
        verbatim={"To reproduce": findings.reproduce},
    )
