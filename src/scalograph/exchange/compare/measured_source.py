"""What can be compared: treatments with their scores, whatever they were read from."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

from scalograph.analysis.estimate import Estimate
from scalograph.errors import StudyError
from scalograph.protocol.findings import Curve, FactorDoc, ResponseDoc, Trust
from scalograph.protocol.plain import Level, is_number
from scalograph.study.scalars import as_text, meant

# What a response may be divided by.
PER = ("clock", "cpu")
_MOST_CLOCK = 1e12


class SourceTreatment(NamedTuple):
    """One treatment of a source.

    Attributes:
        levels: of all factors.
        scores: of the runs that count, in the unit of the response; one where a figure was printed.
        blocks: the block of each.
        estimate: as the source itself tells it.
        n_cpus: that its runs could use.
        doubt: why it decides nothing; empty where it does.
    """

    levels: Mapping[str, Level]
    scores: tuple[float, ...]
    blocks: tuple[int, ...]
    estimate: Estimate | None = None
    n_cpus: int | None = None
    doubt: str = ""


class FailedTreatment(NamedTuple):
    """A treatment without a measurement: every run of it failed, or more than half did.

    Attributes:
        levels: of all factors.
        runs: how many failed, and of how many.
    """

    levels: Mapping[str, Level]
    runs: tuple[int, int]


@dataclass(frozen=True, kw_only=True)
class MeasuredSource:
    """A result, a journal, or a published table.

    Attributes:
        label: what it is called beside others.
        name: of its study.
        title: what that asks.
        factors: by name.
        along: factor of its curves.
        response: that is compared.
        treatments: in order.
        failed: those that have no measurement, since their runs failed.
        machine: facts of the journal.
        facts: what else is told of it, by name.
        refused: why nothing can be said from it; empty where something can.
        trust: whether to believe it; None of a published table.
        curves: whose laws are compared too: those of the primary response that are compared over all of their points.
        laws_left_out: whether other curves have laws.
    """

    label: str
    name: str
    title: str = ""
    factors: Mapping[str, FactorDoc]
    along: str
    response: ResponseDoc
    treatments: tuple[SourceTreatment, ...]
    failed: tuple[FailedTreatment, ...] = ()
    machine: Mapping[str, Any] = field(default_factory=dict)
    facts: Mapping[str, str] = field(default_factory=dict)
    refused: str = ""
    trust: Trust | None = None
    curves: tuple[Curve, ...] = ()
    laws_left_out: bool = False

    @property
    def is_printed(self) -> bool:
        """Tell whether its figures are those of a paper, without runs."""
        return self.trust is None

    def levels_of(self, factor: str) -> list[Level]:
        """Return the levels that its treatments have, failed ones too, each once."""
        return list(dict.fromkeys(levels[factor] for levels in self.every_levels()))

    def every_levels(self) -> list[Mapping[str, Level]]:
        """Return the levels of each treatment, those that failed last."""
        return [*(one.levels for one in self.treatments), *(one.levels for one in self.failed)]

    def called(self, label: str) -> "MeasuredSource":
        """Return the same under another name."""
        return replace(self, label=label)


def narrowed(sources: Sequence[MeasuredSource], where: Sequence[str]) -> list[MeasuredSource]:
    """Return sources with the treatments of some levels; a source that lacks a factor is not narrowed by it.

    Args:
        sources: one or more.
        where: texts such as `lock=none`, one or several of a factor.

    Raises:
        StudyError: no source has such a factor, or one has no such treatment, or none at all.
    """
    wanted = _wanted(list(dict.fromkeys(name for source in sources for name in source.factors)), where)
    return [_narrowed(source, wanted, where) for source in sources]


def _narrowed(source: MeasuredSource, wanted: Mapping[str, set[str]], where: Sequence[str]) -> MeasuredSource:
    def is_wanted(levels: Mapping[str, Level]) -> bool:
        return all(name not in source.factors or as_text(levels[name]) in texts for name, texts in wanted.items())

    kept = [one for one in source.treatments if is_wanted(one.levels)]
    failed = [one for one in source.failed if is_wanted(one.levels)]
    if not kept and not failed:
        why = f"no configuration with {', '.join(where)}" if where else "no configuration with a run that counts"
        raise StudyError.one(source.label, why, "one or more")
    cut = [one for one in source.curves if one.factor in wanted]
    whole = tuple(one for one in source.curves if one.factor not in wanted and _is_of(one, wanted))
    return replace(without_laws(source, cut), treatments=tuple(kept), failed=tuple(failed), curves=whole)


def mostly_failed(n_failed: int, n_runs: int) -> bool:
    """Tell whether a treatment has no measurement: no run succeeded, or more than half of its runs failed."""
    return 2 * n_failed > n_runs


def without_laws(source: MeasuredSource, curves: Sequence[Curve]) -> MeasuredSource:
    """Return a source that remembers that laws of these curves are not of what is compared."""
    return replace(source, laws_left_out=source.laws_left_out or any(curve.law is not None for curve in curves))


def _is_of(curve: Curve, wanted: Mapping[str, set[str]]) -> bool:
    return all(as_text(level) in wanted.get(name, {as_text(level)}) for name, level in curve.group.items())


def _wanted(known: Sequence[str], where: Sequence[str]) -> dict[str, set[str]]:
    found: dict[str, set[str]] = {}
    for text in where:
        name, equals, level = text.partition("=")
        if not equals or name not in known:
            expected = f"factor=level, of the factors {', '.join(known)}"
            raise StudyError.one("--where", f'"{text}"', expected, meant(name, known))
        found.setdefault(name, set()).add(level)
    return found


def divided(source: MeasuredSource, per: str, mhz: float | None = None) -> MeasuredSource:
    """Return a source whose figures are per clock or per CPU: times become cycles or CPU seconds, rates a share.

    Args:
        source: any.
        per: "clock" or "cpu".
        mhz: its clock, where it is not to be read from the facts of its machine.

    Raises:
        StudyError: the source does not tell its clock, or its CPUs.
    """
    is_rate = source.response.better == "higher"
    by = [_clock(source, mhz) if per == "clock" else _cpus(source, one) for one in source.treatments]
    factors = [1 / x if is_rate else x for x in by]
    made = [
        one._replace(
            scores=tuple(score * f for score in one.scores), estimate=one.estimate.scaled(f) if one.estimate else None
        )
        for one, f in zip(source.treatments, factors, strict=True)
    ]
    return replace(without_laws(source, source.curves), treatments=tuple(made), curves=())


def _clock(source: MeasuredSource, mhz: float | None) -> float:
    """In MHz: the highest that its CPUs have, else the one that was read."""
    highest = [cpu.get("max_khz") for cpu in source.machine.get("topology") or () if isinstance(cpu, dict)]
    known = [khz / 1e3 for khz in highest if is_number(khz) and 0 < khz < _MOST_CLOCK]
    told = source.machine.get("clock_mhz")
    found = mhz or (max(known) if known else told)
    if not is_number(found) or not 0 < found < _MOST_CLOCK:
        fix = "give it for each source: --mhz 2000,2330"
        raise StudyError.one("--per clock", f"{source.label} does not tell its clock", "one", fix)
    return float(found)


def _cpus(source: MeasuredSource, treatment: SourceTreatment) -> int:
    if not treatment.n_cpus:
        raise StudyError.one("--per cpu", f"{source.label} does not tell its CPUs", "how many each run could use")
    return treatment.n_cpus
