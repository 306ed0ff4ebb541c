"""Words for published claims and values that were measured again, and for a whole reproduction."""

from collections import Counter
from collections.abc import Sequence
from datetime import UTC, datetime
from math import ceil

from scalograph.protocol.findings import Findings, RunsDoc, TableDoc
from scalograph.protocol.published_claim import ClaimValue, DecidedClaim, Decision, ReasonKind
from scalograph.protocol.reproduction import Outcome, ReproducedPart, Reproduction
from scalograph.text.format import estimate, number
from scalograph.text.quantities import count_noun
from scalograph.text.scale import Scale, scale_for
from scalograph.text.short_names import join_first
from scalograph.text.summaries import DOT, machine_words
from scalograph.text.units import format_duration

TABLE, REPRODUCES = "published", "scaling factor reproduces"
YES, LOWER, HIGHER, INCONCLUSIVE = "yes", "no: published lower", "no: published higher", "inconclusive"
IMPOSSIBLE, OTHER_CPUS, UNLIKE = "no: impossible as published", "no: another number of CPUs", "not comparable"
# Words for published factors that do not reproduce, in this order.
_NO = {
    IMPOSSIBLE: "impossible as published",
    OTHER_CPUS: "of another number of CPUs",
    HIGHER: "higher than here",
    LOWER: "lower than here",
    INCONCLUSIVE: "inconclusive",
}
# What is said of one claim, and of several.
_OUTCOMES: dict[Decision, tuple[str, str]] = {
    "holds": ("holds here", "hold here"),
    "exceeds": ("is exceeded here", "are exceeded here"),
    "does not hold": ("does not hold here", "do not hold here"),
    "moot": ("is moot", "are moot"),
    "demonstration": ("is a demonstration", "are demonstrations"),
    "inconclusive": ("is inconclusive", "are inconclusive"),
    "not testable here": ("is not testable here", "are not testable here"),
    "not comparable": ("is not comparable", "are not comparable"),
    "not measured": ("was not measured", "were not measured"),
}


def count_claims(decided: Sequence[DecidedClaim]) -> str:
    """Count the outcomes of the claims of a paper; empty without any.

    >>> one = DecidedClaim(id="a", sentence="b", quantity="c", decision="holds")
    >>> count_claims([one, one.model_copy(update={"decision": "does not hold"})])
    'Of 2 published claims, 1 holds here, 1 does not hold here.'
    >>> count_claims([one])
    'The one published claim holds here.'
    """
    if not decided:
        return ""
    if len(decided) == 1:
        return f"The one published claim {_OUTCOMES[decided[0].decision][0]}."
    n = Counter(claim.decision for claim in decided)
    outcomes = [f"{n[kind]} {words[n[kind] > 1]}" for kind, words in _OUTCOMES.items() if n[kind]]
    return f"Of {len(decided)} published claims, {', '.join(outcomes)}."


def published_outcome(findings: Findings) -> str:
    """Return what a paper has of the answer, and a sentence on its claims or values; empty where a study has none."""
    table = next((table for table in findings.tables if table.id == TABLE), None)
    beside = [findings.claim.published] if findings.claim and findings.claim.published else []
    return " ".join([*beside, *outcome(findings.published_claims, table)])


def outcome(decided: Sequence[DecidedClaim], table: TableDoc | None) -> list[str]:
    """Count the claims, or the factors of the table of a study without claims."""
    return [count_claims(decided)] if decided else count_reproduced(table)


def count_reproduced(table: TableDoc | None) -> list[str]:
    """Count the published scaling factors that were measured here."""
    if table is None or not table.columns or table.columns[-1].name != REPRODUCES:
        return []
    answers = Counter(str(row[-1]) for row in table.rows)
    n = sum(answers[answer] for answer in (YES, *_NO))
    if not n and answers[UNLIKE]:
        return ["None of the published configurations is comparable."]
    if not n:
        return ["None of the published configurations was run here."]
    verb = "reproduce" if answers[YES] > 1 else "reproduces"
    text = f"{answers[YES] or 'None'} of {count_noun(n, 'published factor')} {verb}"
    # Said once of both.
    words = {**_NO, LOWER: "lower"} if answers[HIGHER] else _NO
    others = [f"{answers[answer]} {what}" for answer, what in words.items() if answers[answer]]
    unlike = f"; {answers[UNLIKE]} more are not comparable" if answers[UNLIKE] else ""
    return [f"{', '.join([text, *others])}{unlike}."]


MOST_TOLD = 16  # values of a claim in one chart, and in words
# Signs before the word of a decision.
SIGNS: dict[Decision, str] = {
    "holds": "\N{CHECK MARK}",
    "exceeds": "\N{UPWARDS ARROW}",
    "does not hold": "\N{MULTIPLICATION X}",
    "moot": "\N{EN DASH}",
    "demonstration": "\N{CHECK MARK}",
    "inconclusive": "?",
    "not testable here": "\N{EN DASH}",
    "not comparable": "\N{EN DASH}",
    "not measured": "\N{EN DASH}",
}


def is_conclusive(claim: DecidedClaim) -> bool:
    """Tell whether a claim could be tested here."""
    return claim.decision in ("holds", "exceeds", "does not hold", "moot", "demonstration", "inconclusive")


def select_values(figures: Sequence[ClaimValue], most: int) -> list[ClaimValue]:
    """Choose values in their order, those that do not hold before the rest."""
    ranked = sorted(range(len(figures)), key=lambda i: (figures[i].decision == "holds", i))
    return [figures[i] for i in sorted(ranked[:most])]


def claim_scale(claim: DecidedClaim) -> Scale:
    """Return the scale in which the values of a claim read best."""
    here = [figure.here.value for figure in claim.figures if figure.here]
    return scale_for(claim.unit, [*here, *(figure.published for figure in claim.figures)])


def span(low: float | None, high: float | None, scale: Scale) -> str:
    """Format the range within which a claim holds.

    >>> plain = Scale(1.0, "")
    >>> span(0.95, 1.05, plain), span(1.0, None, plain), span(None, None, plain)
    ('0.95 to 1.05', 'at least 1', 'any')
    >>> span(None, 0.02, Scale(1e3, "ms"))
    'at most 20 ms'
    """
    unit = f" {scale.unit}" if scale.unit else ""
    if low is None:
        return "any" if high is None else f"at most {number(high, scale)}{unit}"
    if high is None:
        return f"at least {number(low, scale)}{unit}"
    return f"{number(low, scale)} to {number(high, scale)}{unit}"


def published_text(figure: ClaimValue, scale: Scale) -> str:
    """Format the published number; empty without one.

    >>> one = ClaimValue(label="", published=1.81, published_low=1.8, published_high=1.82, decision="holds")
    >>> published_text(one, Scale(1.0, ""))
    '1.81'
    """
    return "" if figure.published is None else number(figure.published, scale)


def figure_words(claim: DecidedClaim) -> list[str]:
    """Describe each value of a claim: label, published, measured here, decision.

    >>> one = ClaimValue(label="512 threads", published=0.53, decision="not measured")
    >>> figure_words(DecidedClaim(id="a", sentence="b", quantity="c", figures=[one], decision="not measured"))
    ['512 threads: published 0.53, not measured']
    """
    scale, shown = claim_scale(claim), select_values(claim.figures, MOST_TOLD)
    more = [f"and {len(claim.figures) - len(shown)} more"] if len(shown) < len(claim.figures) else []
    return [*(_figure(figure, scale, is_conclusive(claim)) for figure in shown), *more]


def _figure(figure: ClaimValue, scale: Scale, is_decided: bool) -> str:
    unit = f" {scale.unit}" if scale.unit else ""
    published = published_text(figure, scale)
    parts = [f"published {published}{unit}"] if published else []
    if figure.here and figure.here.value is not None:
        parts.append(f"here {estimate(figure.here, scale)}{unit}")
    elif figure.none:
        parts.append(f"here {figure.none}")
    verdict = [figure.decision] if is_decided or figure.here is None else []
    doubt = [f"caution: {figure.doubt}"] if figure.doubt else []
    words = ", ".join([*parts, *verdict, *doubt])
    return f"{figure.label}: {words}" if figure.label else words


# Outcomes in the order of a table, with the two lines of their column heads.
COLUMNS: dict[Outcome, tuple[str, str]] = {
    "holds": ("", "holds"), "exceeds": ("ex-", "ceeds"), "does not hold": ("does", "not"), "moot": ("", "moot"),
    "demonstration": ("demon-", "stration"), "inconclusive": ("incon-", "clusive"),
    "not testable here": ("not test-", "able here"), "not comparable": ("not com-", "parable"),
    "not yet": ("not", "yet"), "not measured": ("not", "run"),
}  # fmt: skip
N_TESTED = 6  # so many of them come from a test
_NUMBERS = {2: "two", 3: "three", 4: "four", 5: "five"}
_STATES = ("skipped", "failed", "begun", "not run")  # of parts that did not end
NAMED = 3  # parts that one line names
_VERDICTS = {"reliable": "reliable", "caution": "with caution", "unusable": "unusable"}


def headline(reproduction: Reproduction) -> str:
    """Count the outcomes of all claims in one sentence.

    >>> from scalograph.protocol.reproduction import ReproducedStudy
    >>> study = ReproducedStudy(id="S0", name="a", title="A", outcomes={"S0-1": "holds", "S0-2": "not yet"})
    >>> headline(Reproduction(quick=True, started="", studies=[study]))
    '1 of 2 claims of one published study holds on this machine, 1 not yet.'
    """
    n, of = reproduction.counts(), sum(len(study.outcomes) for study in reproduction.studies)
    n_studies = len(reproduction.studies)
    studies = "one published study" if n_studies == 1 else f"{_NUMBERS.get(n_studies, n_studies)} published studies"
    held = f"{n['holds'] or 'None'} of {count_noun(of, 'claim')} of {studies}"
    parts = [f"{held} {'hold' if n['holds'] > 1 else 'holds'} on this machine"]
    does_not = "does not" if n["does not hold"] == 1 else "do not"
    words = {"does not hold": does_not, "exceeds": "exceeded" if n["exceeds"] else "", "demonstration": "built in"}
    others = [kind for kind in COLUMNS if kind != "holds" and n[kind]]
    return ", ".join([*parts, *(f"{n[kind]} {words.get(kind, kind)}" for kind in others)]) + "."


_REASONS: dict[ReasonKind, str] = {
    "since": "systems have changed since", "host": "due to this machine", "built": "built otherwise here",
    "contradicted": "contradicted", "unknown": "unknown",
}  # fmt: skip


def reasons(reproduction: Reproduction) -> str:
    """Count why claims do not hold; empty where all do.

    A claim of several parts counts by the first part that does not hold.
    """
    refuted, kinds = "does not hold", list[str]()
    for study in reproduction.studies:
        for claim in (name for name, outcome in study.outcomes.items() if outcome == refuted):
            first = next((c.decided for c in study.claims if (c.number, c.outcome) == (claim, refuted)), None)
            kinds.append((first.reason_kind if first else None) or "unknown")
    n = Counter[str](kinds)
    counted = [f"{n[kind]} {text}" for kind, text in _REASONS.items() if n[kind]]
    verb = "does" if len(kinds) == 1 else "do"
    return f"Why {len(kinds)} {verb} not hold: {', '.join(counted)}." if kinds else ""


def reason_text(claim: DecidedClaim) -> str:
    """Say why a claim does not hold; empty where it does.

    >>> one = DecidedClaim(id="a", sentence="b", quantity="c", decision="does not hold", reason_kind="since")
    >>> reason_text(one.model_copy(update={"reason": "JDK 6 has thin locks"}))
    'Reason: systems have changed since: JDK 6 has thin locks.'
    """
    if claim.reason_kind is None:
        return ""
    return f"Reason: {_REASONS[claim.reason_kind]}{f': {claim.reason}' if claim.reason else ''}."


def circumstances(reproduction: Reproduction) -> str:
    """Return machine, form, day and duration of a reproduction in one line."""
    form = "parts in their quick forms" if reproduction.quick else "parts in full"
    return DOT.join(filter(None, [machine_words(reproduction.machine), form, *_times(reproduction)]))


def _times(reproduction: Reproduction) -> list[str]:
    try:
        began = datetime.fromisoformat(reproduction.started).astimezone(UTC)
        day = f"{began:%d %b %Y}".removeprefix("0")
        if reproduction.ended is None:
            return [day, "not finished"]
        # Not until `ended`: parts may be run again on another day.
        seconds = sum(_seconds(part.runs) for part in reproduction.parts if part.runs)
    except (ValueError, OverflowError):
        return []
    return [day, format_duration(60 * round(seconds / 60) if seconds > 600 else max(round(seconds), 1))]


def _seconds(runs: RunsDoc) -> float:
    """Return the seconds from the first run of a part to its end."""
    if not runs.started or not runs.ended:
        return 0.0
    began, ended = (datetime.fromisoformat(text).timestamp() for text in (runs.started, runs.ended))
    return max(ended - began - runs.paused_s, 0.0)


def columns(reproduction: Reproduction) -> list[Outcome]:
    """Return the outcomes of any claim in the order of the table, which always has the usual three."""
    n = reproduction.counts()
    return [kind for kind in COLUMNS if kind in ("holds", "does not hold", "inconclusive") or n[kind]]


def table_rows(reproduction: Reproduction) -> list[tuple[str, list[int]]]:
    """Count claims and their outcomes for each published study, and for all together: (label, numbers)."""
    kinds = columns(reproduction)
    rows = [(f"{study.id} {study.name}", Counter(study.outcomes.values())) for study in reproduction.studies]
    rows += [("all", reproduction.counts())] if len(reproduction.studies) > 1 else []
    return [(label, [sum(n.values()), *(n[kind] for kind in kinds)]) for label, n in rows]


def several(reproduction: Reproduction) -> str:
    """Name the parts of the first claim that has several; empty without one."""
    for study in reproduction.studies:
        for claim_number in study.outcomes:
            ids = [claim.id for claim in study.claims if claim.number == claim_number]
            if len(ids) > 1:
                return f"{', '.join(ids[:-1])} and {ids[-1]}"
    return ""


def part_verdicts(parts: Sequence[ReproducedPart]) -> str:
    """Count parts by verdict and name those that are unusable; empty where none was run."""
    levels = {level: [part.study for part in parts if part.trust and part.trust.level == level] for level in _VERDICTS}
    parts_ = [f"{count_noun(len(names), 'part')} {_VERDICTS[level]}" for level, names in levels.items() if names]
    named = f": {', '.join(levels['unusable'])}" if levels["unusable"] else ""
    return f"{', '.join(parts_)}{named}" if parts_ else ""


def further_runs(reproduction: Reproduction) -> str:
    """Say which claims the planned time decides, and which rest on further blocks; empty where no part was run.

    A claim of several parts counts by each of them.
    """
    further = {part.study: part.further_blocks for part in reproduction.parts if part.further_blocks}
    claims = [claim for study in reproduction.studies for claim in study.claims if not claim.machine]
    decided = [claim for claim in claims if claim.outcome in _DECIDED]
    resting = [claim.id for claim in decided if claim.part in further]
    if not decided:
        return ""
    form = "quick form" if reproduction.quick else "full form"
    text = f"The {form} decides {count_noun(len(decided) - len(resting), 'claim id')}"
    blocks = ", ".join(f"{name} {n}" for name, n in further.items())
    text += f"; {join_first(resting, NAMED)} rest on further blocks ({blocks})" if resting else ""
    needed = {claim.id: claim.decided.runs_needed for claim in claims if claim.decided and claim.decided.runs_needed}
    shown = [f"{name} ({max(ceil(factor), 2)} times as many)" for name, factor in needed.items()]
    return f"{text}.{f' More runs may decide {join_first(shown, NAMED)}.' if shown else ''}"


_DECIDED = ("holds", "exceeds", "does not hold", "moot", "demonstration")


def elsewhere(reproduction: Reproduction) -> list[tuple[str, str]]:
    """Name the claims that other machines decide: ("with", claims and machine)."""
    by_machine: dict[str, list[str]] = {}
    for study in reproduction.studies:
        for claim in study.claims:
            if claim.machine:
                by_machine.setdefault(claim.machine, []).append(claim.id)
    return [("with", f"{join_first(ids, NAMED)} on {machine}") for machine, ids in by_machine.items()]


def unfinished_parts(parts: Sequence[ReproducedPart]) -> list[tuple[str, str]]:
    """Name the parts that did not end, grouped by state and reason: (state, names and reason)."""
    groups: dict[tuple[str, str], list[str]] = {}
    for part in parts:
        if part.state in _STATES:
            groups.setdefault((part.state, part.why), []).append(part.study)
    return [
        (state, f"{', '.join(names[:NAMED])}{_others(len(names) - NAMED)}{reason and f': {reason}'}")
        for (state, reason), names in groups.items()
    ]


def _others(n: int) -> str:
    return f" and {n} more" if n > 0 else ""
