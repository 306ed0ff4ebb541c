"""Test whether two configurations are equivalent within a margin (TOST): "no difference found" does not show it."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from scalograph.analysis.center import Scores, finite_scores, has_logs
from scalograph.analysis.contenders import Contender, contenders
from scalograph.analysis.estimate import Estimate, check_confidence
from scalograph.analysis.ratios import ratio
from scalograph.findings.answer import SampleMap
from scalograph.findings.sample import Sample, group_samples
from scalograph.findings.table import Table
from scalograph.protocol.plain import Level, is_number

MARGIN = 0.02  # two builds that differ by less are the same to whoever waits for them

Label = Literal["equivalent", "different", "not shown"]


@dataclass(frozen=True, slots=True)
class Equivalence:
    """What is known about a over b.

    Attributes:
        ratio: a over b with the interval that decides, of confidence 1 - 2 alpha: 90% for a test at 5%.
        label: `equivalent` where the interval lies within the margin; `different` where it lies wholly beyond it;
            else `not shown`.
    """

    ratio: Estimate
    label: Label


def equivalence(a: Scores, b: Scores, *, margin: float = MARGIN, confidence: float = 0.95) -> Equivalence:
    """Test equivalence: two one-sided tests on the log ratio of typical scores of independent runs.

    Args:
        a: scores, shape (n,).
        b: scores, shape (m,), same unit.
        margin: relative difference that does not matter, above 0.
        confidence: 0.95 tests each side at 5%: the chance to call configurations equivalent that lie on the margin.

    Returns the test; `not shown` where data are short or have no logs, with the reason on the ratio.

    Raises ValueError: when an argument has no meaning (never for want of data).

    Source: D. J. Schuirmann, A comparison of the two one-sided tests procedure and the power approach, J.
    Pharmacokinet. Biopharm. 15 (1987); on ratios: E. Diletti, D. Hauschke and V. W. Steinijans, Int. J. Clin.
    Pharmacol. 29 (1991).

    >>> equivalence([10.0, 10.01, 9.99], [10.0, 10.02, 9.98]).label
    'equivalent'
    >>> equivalence([10.0, 11.0, 9.0], [10.0, 11.5, 9.5]).label
    'not shown'
    """
    check_confidence(confidence)
    if not margin > 0 or confidence <= 0.5:
        raise ValueError(f"equivalence: found margin {margin} at {confidence}, expected above 0, at above 0.5")
    estimate = ratio(a, b, 2 * confidence - 1)
    x, y = finite_scores(a)[0], finite_scores(b)[0]
    return Equivalence(estimate, _label(estimate, margin, bool(min(x.size, y.size)) and has_logs(x, y)))


def _label(estimate: Estimate, margin: float, on_logs: bool) -> Label:
    if not on_logs or estimate.low is None or estimate.high is None:
        return "not shown"
    if 1 / (1 + margin) < estimate.low and estimate.high < 1 + margin:
        return "equivalent"
    beyond = estimate.high < 1 / (1 + margin) or estimate.low > 1 + margin
    return "different" if beyond else "not shown"


USER = ("run.user", "window.cpu", "run.cpu")  # responses that are user time, or nearly: the first is the best


@dataclass(frozen=True)
class Group:
    """Configurations that differ in one factor: the other levels, and the samples by level in declared order."""

    fixed: Mapping[str, Level]
    samples: Mapping[Level, Sample]

    def levels(self, factor: str, level: Level) -> dict[str, Level]:
        """Return the levels of all factors at one of the factor that differs."""
        return {**self.fixed, factor: level}


def groups(table: Table, taken: SampleMap, factor: str) -> list[Group]:
    """List every group along a factor, of levels that have runs."""
    by_levels = group_samples((sample for sample in taken.values() if sample.succeeded), factor)
    return [Group(dict(fixed), {s.configuration[factor]: s for s in members}) for fixed, members in by_levels.items()]


def rests_on_disturbed(group: Group, response: str, *levels: Level) -> bool:
    """Tell whether these levels (none: all) include disturbed runs that matter to the response."""
    samples = [group.samples[level] for level in levels or group.samples]
    return any(sample.rests_on_disturbed(response) for sample in samples)


def compare_with_best(table: Table, group: Group, n_groups: int) -> list[Contender]:
    """Compare each level with the best of the others on the primary response; intervals hold jointly."""
    counts = {float(level): sample for level, sample in group.samples.items() if is_number(level)}
    scores = {level: sample.block_means(table.view.primary) for level, sample in counts.items()}
    return contenders(scores, 1 - (1 - table.view.confidence) / n_groups)


def inflation(table: Table, group: Group) -> dict[Level, Equivalence]:
    """Compare user time of each further level with that of the first: what contention adds to the same work."""
    return against_first(table, group, user_time(table))


def against_first(table: Table, group: Group, response: str) -> dict[Level, Equivalence]:
    """Test each further level for equivalence with the first."""
    (first, *others) = group.samples
    base = group.samples[first].scores(response)
    pairs = {level: group.samples[level].scores(response) for level in others}
    confidence = table.view.confidence
    return {level: equivalence(s, base, confidence=confidence) for level, s in pairs.items() if s and base}


def user_time(table: Table) -> str:
    """Find the response nearest to user time; the primary one where there is none."""
    sources = {response.source: name for name, response in table.study.responses.items()}
    return next((sources[source] for source in USER if source in sources), table.view.primary)
