"""State which version to choose, and how much it saves over the reference."""

from collections.abc import Mapping, Sequence

from scalograph.analysis.estimate import Estimate
from scalograph.analysis.versus import detectable_effect
from scalograph.findings.answer import SampleMap
from scalograph.findings.curves import estimate_response, modes_text
from scalograph.findings.sample import Sample, is_mostly_unverified
from scalograph.findings.table import Table
from scalograph.protocol.findings import Claim, Matrix, MatrixCell, MatrixRow
from scalograph.protocol.plain import Level
from scalograph.questions.claims import limit_sentences, why_unanswerable
from scalograph.questions.versions.model import Version, ratio
from scalograph.text.cell_numbers import NOT_RESOLVED, cell_number
from scalograph.text.quantities import change, percent_at_most, ratio_range
from scalograph.text.short_names import join_names

MOST_ROWS = 24
_NOTE = "ratio: over the reference above it, paired within blocks, all intervals at once"


def matrix(table: Table, versions: Sequence[Version], noun: str, odd: Mapping[str, str]) -> Matrix | None:
    """Tabulate a row for each version, its reference above; None where there are too many."""
    references = list({id(version.base): version.base for version in versions}.values())
    if len(versions) + len(references) > MOST_ROWS:
        return None
    response = table.view.response
    rows = []
    for base in references:
        rows.append(_row(table, base, None, odd))
        rows += [
            _row(table, version.sample, ratio(table, version), odd) for version in versions if version.base is base
        ]
    return Matrix(
        title=table.view.primary_title, unit=response.unit, better=response.better,
        columns=[noun, "ratio"], rows=rows, note=_NOTE,
    )  # fmt: skip


def version_name(table: Table, configuration: Mapping[str, Level]) -> str:
    """Name what differs from the reference, and what varies beside; texts first: "stream, 8 threads"."""
    levels = table.view.varying_levels(configuration)
    return table.view.short_levels(dict(sorted(levels.items(), key=lambda item: not isinstance(item[1], str))))


def _row(table: Table, sample: Sample, over: Estimate | None, odd: Mapping[str, str]) -> MatrixRow:
    name = version_name(table, sample.configuration)
    doubt = (
        "disturbed runs only" if sample.falls_back else "most runs unverified" if is_mostly_unverified(sample) else ""
    )
    cell = MatrixCell(estimate=estimate_response(table, sample), doubt=odd.get(name) or doubt)
    return MatrixRow(label=name, cells=[cell, MatrixCell(text="1" if over is None else cell_number(over))])


def claim(table: Table, taken: SampleMap, versions: Sequence[Version]) -> Claim:
    """State what beats the reference."""
    ordered = sorted((v for v in versions if v.gain.value), key=lambda v: v.gain.value or 0, reverse=True)
    resolved = [v for v in ordered if v.word != "not resolved"]
    if reason := why_unanswerable(table, taken):
        text, resolved = f"Cannot be said: {reason}.", []
    elif not resolved:
        text = _inconclusive_sentence(table, ordered)
    elif all(v.word == "the same" for v in ordered):
        text = _equivalence_sentence(table, ordered)
    else:
        text = _single_sentence(table, ordered[0]) if len(ordered) == 1 else _ranking_sentence(table, ordered)
    samples = [sample for version in versions for sample in (version.base, version.sample)]
    modes = {version_name(table, s.configuration): modes_text(table, s) for s in samples}
    odd = [f"Runs of {name} have {text}." for name, text in modes.items() if text]
    return Claim(
        sentences=limit_sentences([text, *odd]), answered=bool(resolved), figure=f"response {table.view.primary}",
        matrix=matrix(table, versions, _noun(table), modes),
    )  # fmt: skip


def _single_sentence(table: Table, version: Version) -> str:
    return f"{_name(table, version)} {_verb(table)} {_change(table, version, over=True)}."


def _equivalence_sentence(table: Table, compared: Sequence[Version]) -> str:
    ratios = [ratio(table, version) for version in compared]
    most = max(abs(end - 1) for ratio in ratios for end in (ratio.low, ratio.high) if end is not None)
    verb = "take" if _is_time(table) else "have"
    every = join_names([_reference(table), *(_name(table, version) for version in compared)])
    names = every if len(compared) < 4 else "All"
    text = f"{names} {verb} the same {_noun(table)} within {percent_at_most(most)}"
    differs = len(compared) == 1 and not ratios[0].contains(1.0)
    return f"{text}: {_single_sentence(table, compared[0])}" if differs else f"{text}."


def _ranking_sentence(table: Table, ordered: Sequence[Version]) -> str:
    best, worst, reference = ordered[0], ordered[-1], _reference(table)
    below = f"the worst ({_name(table, worst)}) {_change(table, worst)}" if worst.word == "slower" else ""
    if best.word == "faster":
        text = f"The fastest ({_name(table, best)}) {_verb(table)} {_change(table, best, over=True)}"
        return f"{text}, {below}." if below else f"{text}."
    if all(version.word == "slower" for version in ordered):
        above = f"the best ({_name(table, best)}) {_verb(table)} {_change(table, best)}"
        return f"None is faster than {reference}: {above}, {below}."
    none = f"None is shown to be faster than {reference}"
    return f"{none}; {below}." if below else f"{none}."


def _inconclusive_sentence(table: Table, compared: Sequence[Version]) -> str:
    seen = [effect for version in compared if (effect := detectable_effect(version.gain))]
    if not seen:
        reason = next(
            (text for version in compared for text in version.gain.warnings[-1:]), f"a {_noun(table)} of 0 has no ratio"
        )
        reason = (
            "one run of each is too few" if all(version.gain.n == 1 for version in compared) and compared else reason
        )
        return f"Cannot be said: {reason}."
    shown = f"effects from {percent_at_most(max(seen))} are visible" if max(seen) < 1 else "runs differ too much"
    if len(compared) > 1 or max(seen) >= 1:
        return f"Cannot be said: no difference from {_reference(table)} is resolved; {shown}."
    left = f"the {_noun(table)} of {_name(table, compared[0])} is {ratio_range(ratio(table, compared[0]))}"
    return f"Cannot be said: {left} that of {_reference(table)}; {shown}."


def _change(table: Table, version: Version, over: bool = False) -> str:
    reference = _reference(table) if over else ""
    if (how := change(ratio(table, version), _noun(table), reference)) != NOT_RESOLVED:
        return how
    is_less = (version.word == "slower") == (table.view.response.better == "higher")
    text = f"{'less' if is_less else 'more'} {_noun(table)}{reference and f' than {reference}'}"
    return f"{text} (by how much is {NOT_RESOLVED})"


def _is_time(table: Table) -> bool:
    return table.view.kind == "time"


def _noun(table: Table) -> str:
    return "time" if _is_time(table) else table.view.primary_title


def _verb(table: Table) -> str:
    return "takes" if _is_time(table) else "has"


def _name(table: Table, version: Version) -> str:
    return version_name(table, version.sample.configuration)


def _reference(table: Table) -> str:
    levels = table.study.reference
    return table.view.short_levels({name: level for name, level in levels.items() if isinstance(level, str)} or levels)
