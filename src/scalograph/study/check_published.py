"""Check published values and claims on the raw document: names, and whether the parts of a claim fit."""

import csv
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from scalograph.errors import StudyError
from scalograph.protocol.bounded import read_csv
from scalograph.protocol.results import RESERVED
from scalograph.questions.registry import QUESTIONS, SWEEP, publishing_questions, role
from scalograph.study.cross_checks import Mistake, levels_of, table, unknown_name
from scalograph.study.published_claim import CONTRAST
from scalograph.study.scalars import refuse_text, suggest
from scalograph.study.shipped import inside
from scalograph.study.toml_text import KeyPath

Raw = dict[str, Any]
# Kinds whose figures compare levels with each other: one figure fewer than there are levels.
COMPARED = ("flat", "order")
# What only some kinds read; elsewhere it would say nothing, and a reader would believe that it does.
READ_BY = {
    "of": ("value", "ratio"), "over": ("ratio",), "quantity": ("location", "count"), "groups": (CONTRAST,),
    "stack": ("profile",), "per": ("machines",),
}  # fmt: skip
# Kinds whose figures are no responses, and what they are.
OF_QUESTION = "a quantity of the question"
OF_GROUPS = "two groups of factors"
ELSEWHERE = {"location": OF_QUESTION, "count": OF_QUESTION, CONTRAST: OF_GROUPS, "profile": "the stack of a profile"}
OF_RESPONSES = ("where", "of", "over", "along", "levels", "response")


def check_claims(raw: Raw) -> Iterator[Mistake]:
    """Check the published claims of a study, and its published values."""
    published = table(raw, "published")
    if published:
        yield from _incomplete(published)
    claims = published.get("claims")
    first: dict[str, int] = {}
    numbered = enumerate(claims if isinstance(claims, list) else [])
    listed = [(index, claim) for index, claim in numbered if isinstance(claim, dict)]
    for index, claim in listed:
        path: KeyPath = ("published", "claims", index)
        if isinstance(name := claim.get("id"), str) and first.setdefault(name, index) != index:
            yield (*path, "id"), f'"{name}" twice', "each once", f"rename it, or claim {first[name] + 1}"
        others = {other["id"] for i, other in listed if i != index and isinstance(other.get("id"), str)}
        if isinstance(presupposed := claim.get("presupposes"), str) and presupposed and presupposed not in others:
            yield unknown_name((*path, "presupposes"), "another claim", presupposed, others)
        yield from _names(raw, claim, path)
        yield from _unread(claim, path)
        yield from _range(claim, path)
        yield from _counts(raw, claim, path)


def _incomplete(published: Raw) -> Iterator[Mistake]:
    if "file" in published:
        for key in ("match", "values"):
            if not table(published, key):
                yield ("published", key), "no column", f"a table `{key}` of columns of the file", "add it"
        for column in table(published, "ranges"):
            if column not in table(published, "values"):
                yield ("published", "ranges", column), "a range of no value", "a column of `values`", ""
        return
    for key in ("match", "levels", "values", "ranges", "unlike"):
        if key in published:
            yield ("published", key), "no file", "a file of published figures, which they are columns of", "add `file`"
    if published.keys() <= {"note"}:
        yield ("published",), "neither a file nor claims", "one of them", "remove the table, or add them"


def _names(raw: Raw, claim: Raw, path: KeyPath) -> Iterator[Mistake]:
    yield from _groups(raw, claim, path)
    asked = raw.get("question", SWEEP)
    names = publishing_questions(asked if isinstance(asked, str) and asked in QUESTIONS else SWEEP)
    quantities = sorted({quantity for name in names for quantity in role(name, "published").QUANTITIES} - {CONTRAST})
    if isinstance(quantity := claim.get("quantity"), str) and quantity not in quantities:
        expected = "one of " + (", ".join(quantities) or "none: its question offers none")
        yield (*path, "quantity"), f'no quantity "{quantity}"', expected, suggest(quantity, quantities)


def _groups(raw: Raw, claim: Raw, path: KeyPath) -> Iterator[Mistake]:
    factors = {name: factor for name, factor in table(raw, "factors").items() if isinstance(factor, dict)}
    declared = {group for factor in factors.values() if isinstance(group := factor.get("group"), str) and group}
    groups = claim.get("groups")
    named = [factor for factor in groups if isinstance(factor, str)] if isinstance(groups, list) else []
    for group in dict.fromkeys(named):
        if group not in declared:
            yield unknown_name((*path, "groups"), "group", group, declared)
        for name, factor in factors.items():
            if factor.get("group") == group and (levels := levels_of(factor)) is not None and len(levels) < 2:
                text = f"{name} of {group}, which has one level"
                yield (*path, "groups"), text, "factors of several levels", "leave it out of the group"


def _unread(claim: Raw, path: KeyPath) -> Iterator[Mistake]:
    kind = claim.get("kind")
    for key, kinds in READ_BY.items():
        if key in claim and isinstance(kind, str) and kind not in kinds:
            yield (*path, key), f'beside kind = "{kind}"', f"only of {' and '.join(kinds)}", "remove it"
    if isinstance(kind, str) and kind in ELSEWHERE:
        for key in OF_RESPONSES:
            if key in claim and (key != "where" or kind == CONTRAST):
                yield (*path, key), f'beside kind = "{kind}"', ELSEWHERE[kind], "remove it"
    if "levels" in claim and "along" not in claim:
        yield (*path, "levels"), "without `along`", "the factor that they are of", "add it"
    if (along := claim.get("along")) is not None:
        fixed = [key for key in ("where", "of", "over") if isinstance(along, str) and along in table(claim, key)]
        if "where" in fixed or {"of", "over"} <= {*fixed}:
            yield (
                (*path, "along"),
                f"{along}, which {' and '.join(fixed)} fix{'es' * (len(fixed) == 1)}",
                "a factor that is free",
                "",
            )


def _range(claim: Raw, path: KeyPath) -> Iterator[Mistake]:
    holds = claim.get("holds")
    if not isinstance(holds, list) or len(holds) != 2:
        return  # reported already
    ends = [end for end in holds if isinstance(end, int | float) and not isinstance(end, bool)]
    if len(ends) == 2 and ends[0] > ends[1]:
        yield (*path, "holds"), f"{ends[0]} above {ends[1]}", "the lower end first", "exchange them"
    elif holds == ["any", "any"]:
        yield (*path, "holds"), "no end at all", "one end at least: any figure would do", ""


def _counts(raw: Raw, claim: Raw, path: KeyPath) -> Iterator[Mistake]:
    n, kind, published = _n_levels(raw, claim), claim.get("kind"), claim.get("published")
    if kind in COMPARED and n is not None and n < 2:
        yield (*path, "levels"), f"{n} level", "two or more, which are compared", ""
        return
    if not isinstance(published, list) or n is None or kind in READ_BY["quantity"]:
        return
    n_figures = n - (kind in COMPARED)
    if len(published) != n_figures:
        reason = ", each over the first" if kind == "flat" else ", each over the one before" if kind == "order" else ""
        yield (*path, "published"), f"{len(published)} numbers", f"{n_figures}: one for each figure{reason}", ""


def _n_levels(raw: Raw, claim: Raw) -> int | None:
    along, levels = claim.get("along"), claim.get("levels")
    if along is None:
        return 1
    listed = levels if levels else levels_of(table(raw, "factors").get(along)) if isinstance(along, str) else None
    return len(listed) if isinstance(listed, list) else None


WHERE = ("published", "file")
EXPECTED = "a file inside the study's folder"
MAX_BYTES = 16 << 20


def check_published_file(raw: dict[str, Any], folder: Path) -> Iterator[Mistake]:
    """Check name, place and columns of the published file that a study names."""
    published = table(raw, "published")
    name = published.get("file")
    if not isinstance(name, str) or refuse_text(name):
        return  # reported already
    try:
        file = inside(folder, name, "published.file", EXPECTED)
    except StudyError as error:
        yield from ((WHERE, problem.found, problem.expected, problem.fix) for problem in error.problems)
        return
    if Path(name).name in RESERVED:
        yield WHERE, f'"{name}"', "a name that no file of the results has", "rename it"
    elif not file.is_file():
        yield WHERE, f'no file "{name}"', EXPECTED, "correct the name or add the file"
    else:
        yield from _columns(published, file, name)


def _columns(published: dict[str, Any], file: Path, name: str) -> Iterator[Mistake]:
    try:
        columns = list(read_csv(file, MAX_BYTES).fieldnames or ())
    except (OSError, ValueError, csv.Error) as error:
        reason = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
        yield WHERE, f"{name} cannot be read: {reason}", "a CSV file in UTF-8", ""
        return
    expected = "one of " + (", ".join(columns)[:300] or "none: the file is empty")
    for path, column in _column_references(published):
        if column not in columns:
            yield path, f'no column "{column}" in {name}', expected, suggest(column, columns)


def _column_references(published: dict[str, Any]) -> Iterator[tuple[KeyPath, str]]:
    for key in ("match", "values", "ranges"):
        yield from ((("published", key, column), column) for column in table(published, key))
    for column, ends in table(published, "ranges").items():
        names = ends if isinstance(ends, list) else []
        yield from ((("published", "ranges", column), end) for end in names if isinstance(end, str))
    unlike = published.get("unlike")
    for index, rows in enumerate(unlike if isinstance(unlike, list) else []):
        where = table(rows, "where") if isinstance(rows, dict) else {}
        yield from ((("published", "unlike", index, "where", column), column) for column in where)
