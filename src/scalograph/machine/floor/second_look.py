"""A few runs of now against the noise that was kept: one answer, in a sentence."""

from collections.abc import Sequence
from statistics import median

from scalograph.machine.floor.changed import ALPHA, moved, noise_changed
from scalograph.machine.floor.spread import effective_df, spread
from scalograph.protocol.noise_floor import (
    Move,
    Recheck,
    Reference,
    SpreadChange,
)
from scalograph.text.quantities import two_digits


def second_look(
    kept: Reference, kept_at: str, scores: Sequence[float], n_disturbed: int = 0, alpha: float = ALPHA
) -> Recheck:
    """Hold runs of now against the stretches that were kept.

    Args:
        kept: what as many runs on end showed.
        kept_at: when, for the sentence.
        scores: seconds of the runs of now that count.
        n_disturbed: runs of now that do not.
        alpha: chance of a false answer, of each of the two questions.
    """
    found = spread([scores])
    # Ten runs cannot tell how heavy their tails are; the many that were kept can.
    df = effective_df(len(scores), kept.spread.kurtosis) if found else None
    now_s = median(scores) if scores else None
    if found is None or df is None or now_s is None:
        changed: SpreadChange = "unknown"
        move: Move = "unknown"
    else:
        changed = noise_changed(kept.spread.sd_log_percent, kept.spread.df, found.sd_log_percent, df, alpha)
        move = moved(kept, now_s, len(scores), alpha)
    sd = found.sd_log_percent if found else None
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
        said = f"whether the noise is that of {kept_at} is not known: {of} of the same work count"
        return said + _moved(move, percent)
    then = f"{two_digits(kept.spread.sd_log_percent)} % on {kept_at}"
    spread = {"higher": "more than", "lower": "less than", "no": "about the same as"}[changed]
    noise = f"{of} of the same work differ by {two_digits(sd)} %, {spread} the {then}"
    return noise + _moved(move, percent)


def _moved(move: Move, percent: float | None) -> str:
    if move in ("no", "unknown") or percent is None:
        return ""
    longer = "longer" if move == "slower" else "less"
    return f"; it takes {two_digits(abs(percent))} % {longer} than then, beyond what such runs vary"
