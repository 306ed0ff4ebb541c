"""The quick check before a study: the same work a few times again on one CPU, compared with the saved noise."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from statistics import median
from typing import Any

from scipy.special import fdtr, fdtrc

from scalograph.analysis.quantiles import student_t
from scalograph.machine.floor.floor import STRETCH, STUDY, effective_df, spread
from scalograph.machine.floor.saved_noise import SavedNoise
from scalograph.protocol.facts import HostFacts
from scalograph.protocol.noise_floor import Move, Recheck, Reference, SpreadChange
from scalograph.run.hosts.base import Host
from scalograph.run.plan import Plan, plan
from scalograph.run.runner import Runner
from scalograph.run.session import FinishedRun, run_in_memory
from scalograph.study.declare import declare_shipped
from scalograph.study.responses import windows
from scalograph.text.quantities import two_digits
from scalograph.verdict.cause import COUNTED

# Every study may ask: at 1% one quiet session in a hundred sees a change that is none.
ALPHA = 0.01


def compare_spread(kept_sd: float, kept_df: float, now_sd: float, now_df: float, alpha: float = ALPHA) -> SpreadChange:
    """Compare two variances of log times, two-sided F test: is the noise now higher, lower, or not known to differ?

    It assumes independent runs of the same work, under the same conditions of measurement, whose log times are normal.
    Where they are not, the nominal degrees of freedom call ordinary changes significant: give those that the
    variances are worth (`effective_df`). Runs that were disturbed by a measured cause are excluded before.
    `alpha` is the chance of a false "higher" or "lower", both together; ValueError if it is no probability.

    Returns "unknown" where one of the two has no spread or less than one degree of freedom.

    Source: G. W. Snedecor and W. G. Cochran, Statistical methods, 1989, 6.12 (the test); Shoemaker 2003 (the degrees).

    >>> compare_spread(1.0, 90, 3.0, 9), compare_spread(1.0, 90, 1.2, 9), compare_spread(1.0, 90, 0.0, 9)
    ('higher', 'no', 'unknown')
    """
    if not 0 < alpha < 1:
        raise ValueError(f"alpha: found {alpha}, expected a number between 0 and 1, such as 0.01")
    figures = (kept_sd, kept_df, now_sd, now_df)
    if not all(map(math.isfinite, figures)) or min(kept_sd, now_sd) <= 0 or min(kept_df, now_df) < 1:
        return "unknown"
    quotient = (now_sd / kept_sd) ** 2
    if fdtrc(now_df, kept_df, quotient) < alpha / 2:
        return "higher"
    return "lower" if fdtr(now_df, kept_df, quotient) < alpha / 2 else "no"


def compare_median(kept: Reference, now_s: float, n: int, alpha: float = ALPHA) -> Move:
    """Compare a median of n runs, in seconds, with a prediction interval from the saved stretches.

    Fewer runs than a stretch has make the median less sure; as if all of its variation came from them. `alpha` is the
    chance of a false answer, both ends together.

    Source: G. J. Hahn, Factors for calculating two-sided prediction intervals, J. Am. Stat. Assoc. 64 (1969), m = 1.
    """
    if kept.between_log_percent <= 0 or n < 1 or now_s <= 0:
        return "unknown"
    share = 1 / kept.n + max(1.0, kept.runs / n)
    half = student_t(1 - alpha / 2, kept.n - 1) * kept.between_log_percent / 100 * math.sqrt(share)
    delta = math.log(now_s / kept.median_s)
    return "no" if abs(delta) <= half else "slower" if delta > 0 else "faster"


def compare_with_floor(
    kept: Reference, kept_at: str, scores: Sequence[float], n_disturbed: int = 0, alpha: float = ALPHA
) -> Recheck:
    """Compare runs of now with the saved stretches, which as many consecutive runs showed at `kept_at`.

    `scores` are seconds of the runs that count, and `n_disturbed` those that do not; `alpha` is the chance of a false
    answer, of each of the two questions.
    """
    current = spread([scores])
    # Ten runs cannot tell how heavy their tails are; the many that were kept can.
    df = effective_df(len(scores), kept.spread.kurtosis) if current else None
    now_s = median(scores) if scores else None
    if current is None or df is None or now_s is None:
        changed: SpreadChange = "unknown"
        move: Move = "unknown"
    else:
        changed = compare_spread(kept.spread.sd_log_percent, kept.spread.df, current.sd_log_percent, df, alpha)
        move = compare_median(kept, now_s, len(scores), alpha)
    sd = current.sd_log_percent if current else None
    percent = None if now_s is None else 100 * (now_s / kept.median_s - 1)
    return Recheck(
        sd_log_percent=sd, df=df, median_s=now_s, n=len(scores), n_disturbed=n_disturbed,
        kept_sd_log_percent=kept.spread.sd_log_percent, kept_median_s=kept.median_s, kept_at=kept_at,
        changed=changed, moved=move, moved_percent=percent,
        sentence=_sentence(changed, move, sd, percent, kept, kept_at, len(scores), n_disturbed),
    )  # fmt: skip


def _sentence(
    changed: SpreadChange, move: Move, sd: float | None, percent: float | None,
    kept: Reference, kept_at: str, n: int, n_disturbed: int,
) -> str:  # fmt: skip
    of = f"{n} of {n + n_disturbed} runs" if n_disturbed else f"{n} runs"
    if changed == "unknown" or sd is None or percent is None:
        text = f"whether the noise is that of {kept_at} is not known: {of} of the same work count"
        return text + _describe_move(move, percent)
    then = f"{two_digits(kept.spread.sd_log_percent)}% on {kept_at}"
    spread = {"higher": "more than", "lower": "less than", "no": "about the same as"}[changed]
    noise = f"{of} of the same work differ by {two_digits(sd)}%, {spread} the {then}"
    return noise + _describe_move(move, percent)


def _describe_move(move: Move, percent: float | None) -> str:
    if move in ("no", "unknown") or percent is None:
        return ""
    longer = "longer" if move == "slower" else "less"
    return f"; it takes {two_digits(abs(percent))}% {longer} than then, beyond what such runs vary"


_LEVELS: Mapping[str, list[Any]] = {"label": ["A"], "cpus": [1]}


def recheck(host: Host, kept: SavedNoise, alpha: float = ALPHA) -> Recheck | None:
    """Run the work of the noise floor ten times on one CPU (about 3 s) and compare it with the saved noise.

    `kept` must be of this machine (`SavedNoise.is_of`); `alpha` is the chance of a false "higher" or "lower", and of a
    false "slower" or "faster". None where `kept` has nothing to compare with: an earlier form, or too few runs.

    Raises:
        HostError: there is no compiler. Whoever calls it has the machine to itself.
        KeyboardInterrupt: a signal came meanwhile.
    """
    if kept.floor is None or kept.floor.single_cpu is None or kept.floor.single_cpu.reference is None:
        return None
    planned = host.ready(plan_recheck(host.facts()), lambda text: None)
    scores, n_disturbed = score_runs(run_in_memory(planned, Runner(planned, host)))
    return compare_with_floor(kept.floor.single_cpu.reference, kept.at, scores, n_disturbed, alpha)


def plan_recheck(facts: HostFacts) -> Plan:
    """Plan the study of the floor with one label, one CPU, as many runs as a stretch has, none of them repeated."""
    declared = declare_shipped(STUDY)
    study = declared.study
    factors = {name: study.factors[name].model_copy(update={"levels": levels}) for name, levels in _LEVELS.items()}
    protocol = study.protocol.model_copy(update={"runs": STRETCH, "max_reruns": 0})
    changed = study.model_copy(update={"factors": factors, "protocol": protocol})
    return plan(replace(declared, study=changed), facts)


def score_runs(runs: Sequence[FinishedRun]) -> tuple[list[float], int]:
    """Return seconds of the runs that count, in order, and how many were disturbed or failed."""
    scores = [median(windows(run.record).wall_s) for run in runs if run.verdict in COUNTED]
    return scores, len(runs) - len(scores)
