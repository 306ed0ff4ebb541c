"""Findings as one HTML file: it opens without a network, on screen and paper, and runs only our script."""

import math
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from itertools import pairwise
from pathlib import Path
from typing import Any

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup

from scalograph import __version__
from scalograph.protocol.figure import Figure, Overlay, Plot
from scalograph.protocol.findings import Findings, RunLog
from scalograph.protocol.results import write_text
from scalograph.report import rows
from scalograph.report.cells import table_layout
from scalograph.report.claim_rows import claim_rows
from scalograph.report.explanation_chart import explanation_in
from scalograph.report.first_chart import first_chart, pictures
from scalograph.report.first_screen import GLOSSARY, WORDS, day, json_text, letters, matrix_text, nonce, pack
from scalograph.report.machine_facts import facts
from scalograph.report.payload import payload
from scalograph.report.picture_marks import element, paint, text_lines
from scalograph.text import summaries
from scalograph.text.escape import escape_controls
from scalograph.text.explained import answer_sentences
from scalograph.text.reproduced import published_outcome
from scalograph.text.units import format_duration

STRIP_HEIGHT, LEFT, RIGHT, TOP, BOTTOM = 84, 44, 8, 6, 18
WIDTHS = {"wide": 1100, "middle": 640, "narrow": 368}
LEAST, MOST = math.log(1.1), math.log(4)
KINDS = {"clean": "counted", "corrected": "corrected", "unverified": "counted, unverified", "disturbed": "disturbed"}


@dataclass(frozen=True, slots=True)
class RunTimeline:
    """The timeline of runs: pictures by width, number of runs of each kind, and a description."""

    pictures: Mapping[str, str]
    counts: list[tuple[str, str, int]]
    words: str


@dataclass(frozen=True, slots=True)
class RunMark:
    """A run: its start in seconds, the logarithm of its ratio, and its kind."""

    at: float
    height: float
    kind: str


def run_timeline(log: RunLog | None) -> RunTimeline | None:
    """Draw the runs over time; None where none has both a time and a value."""
    if log is None:
        return None
    seen = ((at, ratio, _kind(log, i)) for i, (at, ratio) in enumerate(zip(log.start_s, log.relative, strict=False)))
    marks = [RunMark(at, math.log(ratio), kind) for at, ratio, kind in seen if at is not None and ratio and ratio > 0]
    if not marks:
        return None
    reach = min(max(LEAST, *(abs(mark.height) for mark in marks)), MOST)
    n = {kind: sum(_kind(log, i) == kind for i in range(len(log.run))) for kind in KINDS}
    n_excluded, failed = log.counted.count(False), "disturbed or failed" if {*log.status} - {"ok"} else "disturbed"
    # Where too few others are left, disturbed runs count.
    some = f"{failed}, {n_excluded or 'none'} of them excluded"
    texts = KINDS | {"disturbed": "excluded" if n_excluded == n["disturbed"] else some}
    counts = [(kind, text, n[kind]) for kind, text in texts.items() if n[kind]]
    took = format_duration(max(mark.at for mark in marks) or 1.0)
    kinds = ", ".join(f"{count:,} {text}" for _, text, count in counts)
    words = f"Runs in the order in which they were made, over {took}: {kinds}."
    return RunTimeline(
        {name: _draw_timeline(marks, width, reach, took) for name, width in WIDTHS.items()}, counts, words
    )


def _kind(log: RunLog, i: int) -> str:
    if not log.counted[i] or log.verdict[i] in ("disturbed", "invalid"):
        return "disturbed"
    return log.verdict[i] if log.verdict[i] in KINDS else "clean"


def _draw_timeline(marks: Sequence[RunMark], width: int, reach: float, took: str) -> str:
    end, middle = max(mark.at for mark in marks) or 1.0, (TOP + STRIP_HEIGHT - BOTTOM) / 2
    half = middle - TOP
    places: dict[str, dict[tuple[int, int], None]] = {kind: {} for kind in KINDS}
    for mark in marks:
        x = LEFT + (width - LEFT - RIGHT) * mark.at / end
        y = middle - half * min(max(mark.height / reach, -1), 1)
        places[mark.kind][round(x), round(y)] = None
    rule = element("path", d=f"M{LEFT} {middle:g}H{width - RIGHT}", **paint("stroke", "rule"))
    ends = [
        text_lines([f"{math.exp(sign * reach):.2g}×"], LEFT - 8, middle - sign * half + 4, "end") for sign in (1, -1)
    ]
    foot = [(["0"], LEFT, STRIP_HEIGHT - 3, "start"), ([took], width - RIGHT, STRIP_HEIGHT - 3, "end")]
    parts = [rule, text_lines(["1×"], LEFT - 8, middle + 4, "end"), *ends, *(text_lines(*text) for text in foot)]
    return element(
        "svg", *parts, *_signs(places), viewBox=f"0 0 {width} {STRIP_HEIGHT}", aria_hidden="true", focusable="false"
    )


def _signs(places: dict[str, dict[tuple[int, int], None]]) -> Iterator[str]:
    pen = {"fill": "none", "stroke_linecap": "round"}
    for kind, color, width in (("clean", "line-0", 4), ("corrected", "line-2", 4), ("unverified", "muted", 4)):
        if places[kind]:  # each point is relative to the one before: half the size
            steps = pairwise([(0, 0), *sorted(places[kind])])
            dots = "".join(f"m{x - a} {y - b}h0" for (a, b), (x, y) in steps)
            yield element("path", d=dots, **pen, **paint("stroke", color), stroke_width=width)
    if places["disturbed"]:
        cross = "".join(f"M{x - 3} {y - 3}l6 6m0-6l-6 6" for x, y in places["disturbed"])
        yield element("path", d=cross, **pen, **paint("stroke", "line-1"), stroke_width=1.6)


ROOM = Path(__file__).parent
STYLES = ("base", "verdict", "claims", "controls", "figures", "tables", "evidence", "print")
SCRIPTS = (
    "dom", "links", "tools", "sort", "look", "plots", "figure", "samples", "family", "legend", "ranges", "laws",
    "crosshair", "curves", "compare", "main",
)  # fmt: skip
# Types and comments are for developers.
COMMENT = re.compile(r"\s*(//.*|/\*.*\*/)")
# The library's maps set two constant style attributes: an empty one, and unsmoothed pixels. Both are allowed by digest;
# any other style attribute stays forbidden.
STYLE_HASHES = (
    "sha256-47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU=",
    "sha256-AR/cKIZjWPcPmBUPDA6oti9XBiTbJvz0Cro2J1VzzS8=",
)
Drawn = Sequence[Figure | Overlay]


def write(findings: Findings, drawn: Drawn, path: Path) -> None:
    """Write the report atomically, the same bytes for the same findings. Raises HostError where the disk refuses."""
    write_text(path, page(findings, drawn))


def page(findings: Findings, drawn: Drawn = ()) -> str:
    """Return the page as text."""
    shown = payload(findings, drawn)
    first = first_chart(findings, shown, drawn)
    live = {"label": first.label, "data": first.data, "layout": first.layout} if first else None
    data = json_text(shown | {"first": live})
    script, style = join_files("js", SCRIPTS), join_files("css", STYLES)
    context: dict[str, Any] = {
        "f": findings,
        **_first(findings, first),
        "claim_rows": claim_rows(findings.published_claims),
        "published": published_outcome(findings),
        "why": answer_sentences(document) if (document := explanation_in(findings)) else [],
        "sheets": [table_layout(t) for t in findings.tables],
        "machine": facts(findings.machine),
        "rows": rows,
        "words": summaries,
        "version": __version__,
        "nonce": nonce(__version__, script, style, data, findings.model_dump_json()),
        "style_hashes": STYLE_HASHES,
        "style": Markup(style),  # noqa: S704  ours, from this package
        "script": pack(f'(() => {{\n"use strict";\n{script}\n}})();'),
        "data": pack(data),
        "library": letters((ROOM / "vendor" / "plotly-small.min.js.gz").read_bytes()),
        "glossary": GLOSSARY,
        "samples": shown["samples"],
        "has_figures": any(shown[name] for name in ("before", "families", "after")) or bool(findings.curves),
    }
    return environment().get_template("page.html").render(context)


def _first(findings: Findings, first: Plot | None) -> dict[str, Any]:
    claim, strip = findings.claim, run_timeline(findings.log)
    sentences = claim.sentences if claim else findings.answer[:1]
    return {
        "said": sentences, "rest": [sentence for sentence in findings.answer if sentence not in sentences],
        "trust_word": WORDS[findings.trust.level], "day": day(findings.runs),
        "matrix": matrix_text(claim.matrix) if claim and claim.matrix else None, "first": first,
        "pictures": _markup(pictures(first) if first else {}),
        "strip": strip and replace(strip, pictures=_markup(strip.pictures)),
    }  # fmt: skip


def _markup(pictures: Mapping[str, str]) -> dict[str, Markup]:
    return {name: Markup(svg) for name, svg in pictures.items()}  # noqa: S704  drawn here, texts escaped


@cache
def environment() -> Environment:
    """Return the renderer of our templates: every text escaped, control characters shown."""
    return Environment(
        loader=FileSystemLoader(ROOM / "page"), autoescape=True, undefined=StrictUndefined, trim_blocks=True,
        lstrip_blocks=True, finalize=_show_controls,
    )  # fmt: skip


def _show_controls(value: Any) -> Any:
    return escape_controls(value) if isinstance(value, str) and not isinstance(value, Markup) else value


def render_page(template: str, styles: tuple[str, ...], hashed: Sequence[str], **context: Any) -> str:
    """Return a page without script; its nonce is of its style and of the `hashed` texts."""
    style = join_files("css", styles)
    context |= {"version": __version__, "nonce": nonce(__version__, style, *hashed)}
    return environment().get_template(template).render(style=Markup(style), **context)  # noqa: S704  ours


@cache
def join_files(kind: str, names: tuple[str, ...]) -> str:
    """Join files of the page, `css` or `js`, without comments."""
    texts = ((ROOM / "page" / kind / f"{name}.{kind}").read_text(encoding="utf-8") for name in names)
    lines = (line.strip() for text in texts for line in text.splitlines())
    return "\n".join(line for line in lines if line and not COMMENT.fullmatch(line))
