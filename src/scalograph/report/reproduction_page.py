"""A reproduction: on a terminal in 25 lines, and as one HTML file without network or script."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate
from pathlib import Path

from markupsafe import Markup
from rich.console import Console
from rich.text import Text

from scalograph.protocol.reproduction import Outcome, ReproducedClaim, ReproducedPart, Reproduction
from scalograph.protocol.results import write_text
from scalograph.report.claim_rows import ClaimRow, claim_rows
from scalograph.report.first_screen import WORDS
from scalograph.report.html import render_page
from scalograph.report.machine_facts import facts
from scalograph.report.picture_marks import element
from scalograph.report.screen import emit, words
from scalograph.text import reproduced, summaries
from scalograph.text.escape import one_line

STYLES = ("base", "verdict", "claims", "tables", "evidence", "reproduced", "print")
SEVERAL = "What published studies claim, on this machine"
UNDECIDED = "\N{EN DASH}"
# The whole is rejected above this share of rejected parts.
MOST = 0.5
GLOSSARY = (
    ("holds", "The interval of each value lies within the range that supports the claim."),
    ("does not hold", "The interval of a value lies outside that range."),
    ("exceeds", "The value goes beyond the range in the direction of the claim: more than published."),
    ("moot", "The claim says how something is that is not there."),
    ("demonstration", "It holds because the experiment was built to show it; it counts as no finding."),
    ("inconclusive", "Inconclusive: the interval of a value crosses an end of the range."),
    ("not testable here", "Not testable here: the claim says what this machine lacks."),
    ("not comparable", "The values here and in the paper differ in kind, or the paper contradicts itself."),
    ("not yet", "No built-in study tests it."),
    ("not measured", "A built-in study tests it, but has no runs here."),
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
    parts, level = {part.study: part for part in reproduction.parts}, _level(reproduction)
    titles = [study.title for study in reproduction.studies]
    return render_page(
        "reproduced.html", STYLES, [reproduction.model_dump_json()], r=reproduction, words=reproduced, parts=parts,
        title=f"Does it hold here? {titles[0]}" if len(titles) == 1 else SEVERAL, level=level, glossary=GLOSSARY,
        kinds=reproduced.columns(reproduction), trust_word=WORDS[level], trust_words=WORDS, run_words=summaries.runs,
        bars=[(study, *outcome_bar(Counter(study.outcomes.values()))) for study in reproduction.studies],
        studies=[(study, [_row(claim, parts) for claim in study.claims]) for study in reproduction.studies],
        machine=facts(reproduction.machine), command=f"scalograph reproduce{' --quick' * reproduction.quick}",
    )  # fmt: skip


def outcome_bar(counts: Mapping[Outcome, int]) -> tuple[Markup, str]:
    """Draw the outcomes of the claims of a study as one bar, and count them in words."""
    signs = {str(kind): sign for kind, sign in reproduced.SIGNS.items()}
    kinds = [kind for kind in reproduced.COLUMNS if counts.get(kind)]
    ends = [0, *accumulate(counts[kind] for kind in kinds)]
    box = {"viewBox": f"0 0 {ends[-1] or 1} 1", "preserveAspectRatio": "none", "aria-hidden": "true"}
    widths = [f"{counts[kind] - ends[-1] / 250:g}" for kind in kinds]
    parts = [
        element("rect", x=start, width=width, height=1, **{"class": kind.replace(" ", "-")})
        for kind, start, width in zip(kinds, ends, widths, strict=False)
    ]
    words = ", ".join(f"{signs.get(kind, UNDECIDED)} {counts[kind]} {kind}" for kind in kinds)
    return Markup(element("svg", *parts, **box)), words  # noqa: S704  drawn here


def _level(reproduction: Reproduction) -> str:
    """Return the verdict on the whole: reject if most parts are rejected, doubt if any is in doubt."""
    levels = Counter(part.trust.level for part in reproduction.parts if part.trust)
    n = sum(levels.values())
    if not n or levels["unusable"] > MOST * n:
        return "unusable"
    return "caution" if levels["reliable"] < n else "reliable"


def _row(claim: ReproducedClaim, parts: Mapping[str, ReproducedPart]) -> ReproducedRow:
    part, shown = parts.get(claim.part), claim_rows([claim.decided])[0] if claim.decided else None
    trust = part.trust if part and claim.decided and reproduced.is_conclusive(claim.decided) else None
    doubts = [(WORDS[trust.level], trust.sentence)] if trust and trust.level != "reliable" else []
    doubts += [(WORDS["caution"], claim.decided.doubt)] if claim.decided and claim.decided.doubt else []
    return ReproducedRow(
        claim=claim, shown=shown, sign=shown.sign if shown else UNDECIDED, style=claim.outcome.replace(" ", "-"),
        doubts=doubts, page=part.page if part else "",
    )  # fmt: skip


LABEL = 8  # columns of what stands before a remark or a place
REMARKS = 6  # lines that parts without results may take
WIDTH = 80


def render_reproduction(reproduction: Reproduction, console: Console, places: Sequence[tuple[str, str]]) -> None:
    """Print the outcome of the claims. `places` are named at the end, such as ("report", its path)."""
    first = (
        reproduced.headline(reproduction),
        reproduced.reasons(reproduction),
        reproduced.circumstances(reproduction),
    )
    for text, style in zip(first, ("bold", "", ""), strict=True):
        if text:
            emit(console, words(console, one_line(text), style), WIDTH)
    console.print()
    for line in _table_lines(reproduction):
        _line(console, line)
    console.print()
    unfinished = reproduced.unfinished_parts(reproduction.parts)
    if (more := len(unfinished) - REMARKS) > 0:
        unfinished = [*unfinished[: REMARKS - 1], ("", f"and {more + 1} more")]
    remarks = [
        ("verdict", reproduced.part_verdicts(reproduction.parts)),
        *reproduced.elsewhere(reproduction),
        *unfinished,
    ]
    for label, text in (pair for pair in remarks if pair[1]):
        _line(console, f"{label:{LABEL}}{_one_line(text)}")
    for label, path in places:
        _line(console, f"{label:{LABEL}}{one_line(path)}")


def _table_lines(reproduction: Reproduction) -> list[str]:
    """Lay out the counts; where they are too wide, claims that were not tested take one column."""
    kinds, rows = reproduced.columns(reproduction), reproduced.table_rows(reproduction)
    heads = [("", "claims"), *(reproduced.COLUMNS[kind] for kind in kinds)]
    lines = _lay_out(heads, rows)
    if max(map(len, lines)) <= WIDTH:
        return lines
    n = 1 + sum(kind in [*reproduced.COLUMNS][: reproduced.N_TESTED] for kind in kinds)
    return _lay_out([*heads[:n], ("not", "tested")], [(label, [*row[:n], sum(row[n:])]) for label, row in rows])


def _lay_out(heads: Sequence[tuple[str, str]], rows: Sequence[tuple[str, Sequence[int]]]) -> list[str]:
    left, wide = max((len(label) for label, _ in rows), default=0), [max(map(len, head)) for head in heads]
    texts = [("", [head[i] for head in heads]) for i in range(2)]
    texts += [(label, [str(n or "-") for n in counts]) for label, counts in rows]
    return [f"{label:{left}}  {'  '.join(map(str.rjust, cells, wide))}" for label, cells in texts]


def _one_line(text: str) -> str:
    shown, room = one_line(text), WIDTH - LABEL
    if len(shown) <= room:
        return shown
    return f"{shown[: room - 1].rpartition(' ')[0] or shown[: room - 2]} \N{HORIZONTAL ELLIPSIS}"


def _line(console: Console, text: str) -> None:
    line: Text = words(console, text)
    line.rstrip()
    console.print(line, no_wrap=True, overflow="ignore", crop=False, highlight=False, soft_wrap=True)
