"""Find where verdict, flags, matrix and answer of a findings document contradict each other."""

import math
import re
from collections.abc import Iterator, Sequence
from itertools import product
from typing import Any, NamedTuple

import numpy as np
from simulate.scaling import NOISES, SHAPES, disturb_runs, simulate_study

from scalograph.analysis.estimate import Estimate
from scalograph.protocol.findings import Claim, Findings, Matrix, MatrixCell
from scalograph.questions.assemble import findings
from scalograph.text.cell_numbers import INCONCLUSIVE, cell_number, claim_number, matrix_scale
from scalograph.text.format import level_text

DISTURBED = (0.0, 0.1, 0.3)  # shares of runs that are disturbed, and that are unverified
# Past this share of flagged numbers a study is at most CAUTION.
MANY = 1 / 3
NUMBER = r"[−-]?\d[\d,]*(?:\.\d+)?"
# An interval as sentences print it: (95% CI 1.81–2.07), [43, 53], ±7%; and a number before it with its unit.
INTERVAL = re.compile(rf"(?:\((?:\d+% CI )?|\[)({NUMBER})(?:, |–)({NUMBER})[)\]]|±({NUMBER})%")
BEFORE = re.compile(rf"(?<![\w.,-])({NUMBER})( ?[×%]|-fold| [a-zµ/]+)?((?: [a-z]+){{0,3}})")
# "from 58 to 59 open files", "between 290 and 850 elements".
RANGE = re.compile(rf"(?i:from (?:between )?|between )({NUMBER}) (?:to|and) ({NUMBER}) ([a-z][a-z ]*)")
PLACES = ("cliff", "throughput", "within-limit", "size")  # questions whose answer is a place
VERB = re.compile(
    r"""\b(?:is|are|was|were|has|have|had|do|does|did|can|cannot|may|might|would|will|must|stays?|reach(?:es)?|falls?|
    gives?|gains?|adds?|takes?|increases?|beats?|overlap|matter|fail|waits?|needs?|carr(?:y|ies)|sustains?|wins?|loses?|goes|jumps?|rises?|grows?|
    differs?|matters?|changes?|ends?|ended|varies|vary|leaves?|tells?|lies?|succeeded|succeeds?|uses?|reports?|costs?|
    builds?|looks?|saturates?|plateaus?|peaks?|scales?|holds?|moves?|seems?|shares?|starts?|drops?|makes?|counts?)\b""",
    re.VERBOSE | re.IGNORECASE,
)
DOUBLED = r"(?<!\.)\.\.(?!\.)|\. \.|\.;|,\."  # periods
SIGN = {"-": -1.0, "−": -1.0}


class Quoted(NamedTuple):
    """A number with an interval in a sentence."""

    text: str
    value: float
    step: float
    unit: str
    more: str


def contradictions(found: Findings) -> list[str]:
    """List what parts of a findings document contradict each other; empty where all agree."""
    claim = found.claim
    if claim is None:
        return []
    wrong = [*_language(found, claim), *_flag_counts(found)]
    if claim.matrix is not None:
        wrong += [*_case_numbers(claim, claim.matrix), *_case_names(found, claim, claim.matrix)]
        wrong += [*_quoted_numbers(claim, claim.matrix), *_verdict_of_cells(found, claim, claim.matrix)]
    wrong += [*_effects(found, claim), *_places(found, claim)]
    return list(dict.fromkeys(wrong))


def estimates_in(value: Any) -> Iterator[Estimate]:
    """Yield the estimates in a value of a case, however nested, also such as were read back from a file."""
    if isinstance(value, Estimate):
        yield value
    elif isinstance(value, dict) and {"value", "low", "high"} <= value.keys():
        yield Estimate(value["value"], value["low"], value["high"], value.get("confidence", 0.95))
    elif isinstance(value, dict):
        yield from (e for inner in value.values() for e in estimates_in(inner))
    elif isinstance(value, list | tuple):
        yield from (e for inner in value for e in estimates_in(inner))


def _cells(matrix: Matrix) -> list[MatrixCell]:
    """Return the cells that show something."""
    return [cell for row in matrix.rows for cell in row.cells if cell.text or (cell.estimate and cell.estimate.value)]


def _is_same(a: Estimate | None, b: Estimate) -> bool:
    if a is None or a.value is None or b.value is None:
        return False
    ends = [
        (a.value, b.value),
        *((x, y) for x, y in ((a.low, b.low), (a.high, b.high)) if x is not None and y is not None),
    ]
    return (a.low is None) == (b.low is None) and all(math.isclose(x, y, rel_tol=1e-9) for x, y in ends)


def _claimed(claim: Claim, but: Sequence[str] = ()) -> list[Estimate]:
    values = [value for case in claim.cases for name, value in case.values.items() if name not in but]
    return [e for e in estimates_in(values) if e.value is not None]


def _case_numbers(claim: Claim, matrix: Matrix) -> Iterator[str]:
    """Every number of a case is a cell that is shown as a number, and printed with its digits."""
    scale, text = matrix_scale(matrix), " ".join(claim.sentences)
    for e in _claimed(claim, but=["sides"]):  # on which the size of a jump rests
        own = [cell for cell in _cells(matrix) if _is_same(cell.estimate, e)]
        if not own:
            yield f"number: {claim_number(e)} of the answer is no cell of the matrix"
        elif all(_shown(cell, scale) == INCONCLUSIVE for cell in own):
            yield f"number: {e.value:.3g} of the answer is inconclusive in the matrix"
        elif not any(_says(text, form) for cell in own for form in _printed(cell, scale)):
            yield f"digits: no sentence prints {_shown(own[0], scale)} as its cell does"


def _shown(cell: MatrixCell, scale: Any) -> str:
    return cell.text or cell_number(cell.estimate, scale)


def _says(text: str, form: str) -> bool:
    return re.search(rf"(?<![\d.,]){re.escape(form)}(?![\d]|[.,]\d)", text) is not None


def _printed(cell: MatrixCell, scale: Any) -> list[str]:
    """Return the forms in which a sentence may print a cell: as it is, or what it is more or less, in percent."""
    e, text = cell.estimate or Estimate(), _shown(cell, scale)
    if ends := re.fullmatch(rf"(?:up to )?({NUMBER})(?:–| to )({NUMBER})", text):  # a place, or two runs
        return [f"{ends[1]} {word} {ends[2]}" for word in ("and", "to")]
    shown = text.split(" ")[0].rstrip("\N{MULTIPLICATION SIGN}")
    units = ("\N{MULTIPLICATION SIGN}", "-fold", f" {scale.unit}", scale.unit or " ", " vs.")
    forms = [f"{shown}{unit}".rstrip() for unit in units]
    value, low, high = (100 * abs((x or 0.0) - 1) for x in (e.value, e.low, e.high))
    share = Estimate(value, min(low, high), max(low, high))
    return [*forms, *(f"{claim_number(share, ends=False)}{unit}" for unit in ("%", " %"))]


def _case_names(found: Findings, claim: Claim, matrix: Matrix) -> Iterator[str]:
    """Every configuration that a case names is a row, every level along the columns a column."""
    words = {word for factor in found.study.factors for word in f"{factor.title} {factor.unit}".split()}
    levels = {level_text(level) for factor in found.study.factors for level in factor.levels}
    skipped = (words - levels) | {word.rstrip("s") for word in words - levels} | {"and", "or", "with", "no"}
    heads = {head.split(" ")[0] for head in matrix.columns} | {*matrix.columns}
    rows = [_words(f"{row.label} {matrix.rows_are} {matrix.note}") for row in matrix.rows]
    open_rows = any(" more" in row.label or row.label == "all" for row in matrix.rows)
    for case in claim.cases:
        for name in _names(case.values):
            shown = any(_alternative(choice) - skipped <= row for choice in _choices(name) for row in rows)
            if not shown and not open_rows:
                yield f"row: {name} of the answer is no row of the matrix"
        level = case.values.get("level")
        if isinstance(level, str) and level not in heads and not {*level.split()} & heads:
            yield f"column: {level} of the answer is no column of the matrix"


def _names(values: dict[str, Any]) -> Iterator[str]:
    """Yield the names of configurations in the values of a case: each is one, or beside its number, or in a list."""
    for key in ("who", "lower", "near", "left", "reversed", "alike", "never", "undecided", "first", "second"):
        value = values.get(key) or ()
        for entry in value if isinstance(value, list | tuple) else [value]:
            text = entry[0] if isinstance(entry, list | tuple) else entry
            if isinstance(text, str):
                yield from re.sub(r" and \d+ more$", "", text).split("; ")


def _choices(name: str) -> Iterator[Sequence[str]]:
    """Yield one name for each way to choose: "lock none or cas and work 2" is two."""
    return product(*([*re.split(r", | or ", part)] for part in name.split(" and ")))


def _alternative(parts: Sequence[str]) -> set[str]:
    return _words(" ".join(parts))


def _words(text: str) -> set[str]:
    return {word.strip(",;:()") for word in text.split()}


def _quoted_numbers(claim: Claim, matrix: Matrix) -> Iterator[str]:
    """Every number with an interval in a sentence is a cell: with its digits, in its unit, in its direction."""
    shown = [cell for cell in _cells(matrix) if cell.estimate and cell.estimate.value]
    values = [float(cell.estimate.value or 0.0) for cell in shown if cell.estimate]
    scale = matrix_scale(matrix)
    for quoted in quoted_numbers(claim.sentences):
        ratio = quoted.unit in ("×", "-fold") or quoted.unit.startswith("%")
        pairs = zip(shown, values, strict=True)
        near = [cell for cell, value in pairs if _is_near(quoted, value, _factor(cell, scale))]
        if near:
            forms = {form for cell in near for form in _printed(cell, scale)}
            if quoted.text not in {re.sub(r"[^\d]*$", "", form) for form in forms}:
                yield f"digits: {quoted.text}{quoted.unit} of a sentence is {_shown(near[0], scale)} in the matrix"
        elif ratio and any(value and _is_near(quoted, 1 / value, 1.0) for value in values):
            yield f"direction: {quoted.text}{quoted.unit} of a sentence is its reciprocal in the matrix"
        elif not ratio and any(_is_near(quoted, value * 10.0**k, 1.0) for value in values for k in range(-9, 10, 3)):
            yield f"unit: {quoted.text}{quoted.unit} of a sentence has another unit in the matrix"
        elif _is_ratio_of(quoted, values):
            continue
        else:
            yield f"number: {quoted.text}{quoted.unit} of a sentence is no cell of the matrix"


def _factor(cell: MatrixCell, scale: Any) -> float:
    """Return what a cell's number is multiplied by to be shown: a text beside numbers of a unit is a ratio."""
    return 1.0 if cell.text else float(scale.factor)


def quoted_numbers(sentences: Sequence[str]) -> Iterator[Quoted]:
    """Parse the numbers with an interval in sentences: the last one before it that lies in it.

    >>> [q.value for q in quoted_numbers(["It is 1.94× (95% CI 1.81–2.07), 22% more time than -j 1 [18, 25]."])]
    [1.94, 22.0]
    """
    for sentence in sentences:
        end = 0
        for match in INTERVAL.finditer(sentence):
            before = [_quoted(number) for number in BEFORE.finditer(sentence, end, match.start())]
            end = match.end()
            if match[3] is None:
                low, high = _number(match[1]), _number(match[2])
                before = [quoted for quoted in before if low - quoted.step <= quoted.value <= high + quoted.step]
            yield from before[-1:]


def _quoted(match: re.Match[str]) -> Quoted:
    bare = match[1].lstrip("-−").replace(",", "")
    zeros = 0 if "." in bare else len(bare) - len(bare.rstrip("0"))
    step = 10.0 ** (zeros - len(bare.partition(".")[2]))
    return Quoted(match[1], _number(match[1]), step, (match[2] or "").strip(), match[3])


def _number(text: str) -> float:
    return SIGN.get(text[0], 1.0) * float(text.lstrip("-−").replace(",", ""))


def _is_near(quoted: Quoted, value: float, factor: float) -> bool:
    """Tell whether a number is a value, rounded as it is printed: as it is, or what it is more or less in percent."""
    room = 0.51 * quoted.step
    if quoted.unit == "%" and re.match(r" (?:more|less|longer|faster|slower)", quoted.more):
        sign = -1.0 if re.match(r" (?:less|faster)", quoted.more) else 1.0
        return abs(100 * sign * (value - 1) - quoted.value) <= room
    return abs(factor * value - quoted.value) <= room


def _is_ratio_of(quoted: Quoted, values: Sequence[float]) -> bool:
    """Tell whether a ratio is that of two cells: matrices of times show both, and not their ratio."""
    if quoted.unit not in ("×", "-fold", "%"):
        return False
    return any(_is_near(quoted, a / b, 1.0) for a in values for b in values if a > 0 and b > 0 and a != b)


def _used_cells(claim: Claim, matrix: Matrix) -> list[MatrixCell]:
    """Return the cells whose numbers the answer uses: those of its cases, else those that sentences print."""
    cells = [cell for cell in _cells(matrix) if cell.estimate]
    if claim.cases:
        return [cell for cell in cells if any(_is_same(cell.estimate, e) for e in _claimed(claim))]
    quoted, scale = [*quoted_numbers(claim.sentences)], matrix_scale(matrix)
    values = [(cell, float(cell.estimate.value or 0.0), _factor(cell, scale)) for cell in cells if cell.estimate]
    return [cell for cell, value, factor in values if any(_is_near(number, value, factor) for number in quoted)]


def _verdict_of_cells(found: Findings, claim: Claim, matrix: Matrix) -> Iterator[str]:
    cells = _cells(matrix)
    n_flagged = sum(bool(cell.doubt) for cell in cells)
    if found.trust.level != "reliable":
        return
    if flagged := [cell for cell in _used_cells(claim, matrix) if cell.doubt]:
        yield f"verdict: RELIABLE, and the answer uses a flagged number: {flagged[0].doubt}"
    if n_flagged > MANY * len(cells) > 0:
        yield f"verdict: RELIABLE, and {n_flagged} of {len(cells)} numbers are flagged"


def _effects(found: Findings, claim: Claim) -> Iterator[str]:
    """No effect within the systematic error is claimed under RELIABLE."""
    error = (found.trust.error_percent or 0.0) / 100
    if found.trust.level != "reliable" or not claim.answered:
        return
    gains = [e.value for case in claim.cases for e in estimates_in(case.values.get("gain")) if e.value]
    if not claim.cases:
        first = [*quoted_numbers(claim.sentences[:1])][:1]
        gains = [q.value for q in first if q.unit in ("×", "-fold") and q.value > 0]
        gains += [1 + q.value / 100 for q in first if q.unit == "%" and re.match(r" (?:more|less)", q.more)]
    for gain in gains:
        if 0 < math.expm1(abs(math.log(gain))) <= error:
            yield f"effect: RELIABLE, and {gain:.4g}× is within the systematic error of {100 * error:g}%"


def _flag_counts(found: Findings) -> Iterator[str]:
    """A verdict that counts configurations counts no more than are flagged."""
    if not found.curves:
        return
    n_flagged = sum(bool(point.doubt) for curve in found.curves for point in curve.points)
    for text in (found.trust.sentence, *found.trust.points):
        counted = re.match(r"(\d+) of \d+ configurations? (?:rests?|(?:has|have) a disturbed|may be off)", text)
        if counted and int(counted[1]) > n_flagged:
            yield f"flags: the verdict counts {counted[1]} configurations, {n_flagged} are flagged"


def _language(found: Findings, claim: Claim) -> Iterator[str]:
    for text in claim.sentences:
        if not VERB.search(text):
            yield f"verb: {text}"
    for text in (*claim.sentences, found.trust.sentence, *found.trust.points):
        if re.search(DOUBLED, text):
            yield f"period: {text}"


def _places(found: Findings, claim: Claim) -> Iterator[str]:
    """A place has one range, wherever it is told."""
    if found.study.question not in PLACES:
        return
    first: dict[str, tuple[float, float]] = {}
    for text in (*claim.sentences, *found.answer):
        for low, high, what in RANGE.findall(text):
            ends = float(low.replace(",", "")), float(high.replace(",", ""))
            own = first.setdefault(what.split()[0], ends)
            if own != ends and ends[0] <= own[1] and own[0] <= ends[1]:
                yield f"place: {own[0]:g} to {own[1]:g} and {ends[0]:g} to {ends[1]:g} {what}"


def simulate_findings(seed: int) -> Findings:
    """Simulate a study of 1 to 8 curves and analyze it: shapes and noises in turn, with and without disturbed runs."""
    rng, noises = np.random.default_rng([seed, 29]), [*NOISES.values()]
    names = [*SHAPES]
    n, is_mixed = int(rng.integers(1, 9)), seed % 2
    shapes = [SHAPES[names[(seed // 8 + i * is_mixed) % len(names)]] for i in range(n)]
    table = simulate_study(rng, shapes, *noises[seed // 2 % len(noises)])
    return findings(disturb_runs(rng, table, DISTURBED[seed // 3 % len(DISTURBED)]))
