"""A reproduction as one HTML file without network or script: the outcome, then each claim with its values."""

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from markupsafe import Markup

from scalograph import __version__
from scalograph.protocol.reproduction import ReproducedClaim, ReproducedPart, Reproduction
from scalograph.protocol.results import write_text
from scalograph.report.claim_rows import ClaimRow, claim_rows
from scalograph.report.first_screen import WORDS, nonce
from scalograph.report.html import environment, join_files
from scalograph.report.machine_facts import facts
from scalograph.text import reproduction_words, summaries
from scalograph.text.reproduced import is_conclusive

STYLES = ("base", "verdict", "claims", "tables", "evidence", "reproduced", "print")
SEVERAL = "What published studies claim, on this machine"
UNDECIDED = "\N{EN DASH}"
# The whole is rejected above this share of rejected parts.
MOST = 0.5
GLOSSARY = (
    ("holds", "The whole interval of each figure lies in the range that bears the claim out."),
    ("does not hold", "The whole interval of a figure lies outside that range."),
    ("not resolved", "The interval of a figure crosses an end of the range; how many more runs may decide is told."),
    ("cannot be seen here", "This machine lacks what would show it; what that is stands at the claim."),
    ("not comparable", "What is measured here is not what was published, or the publication contradicts itself."),
    ("not yet", "No study that ships asks it."),
    ("not measured", "A study that ships asks it, and has no runs here."),
)


@dataclass(frozen=True, slots=True)
class ReproducedRow:
    """One claim as the page shows it.

    Attributes:
        shown: as the page of its own study shows it; None where it was not measured.
        sign, style: of the outcome.
        doubts: flags of its runs and of its values.
        page: of the study that decides it; empty where there is none.
    """

    claim: ReproducedClaim
    shown: ClaimRow | None
    sign: str
    style: str
    doubts: list[tuple[str, str]]
    page: str


def write(reproduction: Reproduction, file: Path) -> None:
    """Write the page atomically, the same bytes for a document. Raises HostError where the disk refuses."""
    write_text(file, page(reproduction))


def page(reproduction: Reproduction) -> str:
    """Return the page as text."""
    style, parts = join_files("css", STYLES), {part.study: part for part in reproduction.parts}
    level = _level(reproduction)
    titles = [study.title for study in reproduction.studies]
    context: dict[str, Any] = {
        "r": reproduction,
        "title": f"Does it hold here? {titles[0]}" if len(titles) == 1 else SEVERAL,
        "words": reproduction_words,
        "kinds": reproduction_words.columns(reproduction),
        "level": level,
        "trust_word": WORDS[level],
        "trust_words": WORDS,
        "run_words": summaries.runs,
        "studies": [(study, [_row(claim, parts) for claim in study.claims]) for study in reproduction.studies],
        "machine": facts(reproduction.machine),
        "command": f"scalograph reproduce{' --quick' * reproduction.quick}",
        "glossary": GLOSSARY,
        "version": __version__,
        "style": Markup(style),  # noqa: S704  ours, from this package
        "nonce": nonce(__version__, style, reproduction.model_dump_json()),
    }
    return environment().get_template("reproduced.html").render(context)


def _level(reproduction: Reproduction) -> str:
    """Return the verdict on the whole: reject if most parts are rejected, doubt if any is in doubt."""
    levels = Counter(part.trust.level for part in reproduction.parts if part.trust)
    n = sum(levels.values())
    if not n or levels["reject"] > MOST * n:
        return "reject"
    return "doubt" if levels["believe"] < n else "believe"


def _row(claim: ReproducedClaim, parts: Mapping[str, ReproducedPart]) -> ReproducedRow:
    part, shown = parts.get(claim.part), claim_rows([claim.decided])[0] if claim.decided else None
    trust = part.trust if part and claim.decided and is_conclusive(claim.decided) else None
    doubts = [(WORDS[trust.level], trust.sentence)] if trust and trust.level != "believe" else []
    doubts += [(WORDS["doubt"], claim.decided.doubt)] if claim.decided and claim.decided.doubt else []
    return ReproducedRow(
        claim=claim, shown=shown, sign=shown.sign if shown else UNDECIDED, style=claim.outcome.replace(" ", "-"),
        doubts=doubts, page=part.page if part else "",
    )  # fmt: skip
