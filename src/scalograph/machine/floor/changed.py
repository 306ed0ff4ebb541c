"""Has the noise of a machine changed, and does the same work still take as long?"""

import math

from scipy.special import fdtr, fdtrc

from scalograph.analysis.quantiles import student_t
from scalograph.protocol.noise_floor import Move, Reference, SpreadChange

# Every study may ask: at 1 % one quiet start in a hundred is told of a change that is none.
ALPHA = 0.01


def noise_changed(kept_sd: float, kept_df: float, now_sd: float, now_df: float, alpha: float = ALPHA) -> SpreadChange:
    """Two-sided F test on two variances of log times: is the noise now higher, lower, or not known to differ?

    It assumes independent runs of the same work, under the same conditions of measurement, whose log times are normal.
    Where they are not, the nominal degrees of freedom call ordinary changes significant: give those that the
    variances are worth (`spread.effective_df`). Runs that were disturbed by a measured cause are left out before.

    Args:
        kept_sd: standard deviation of log times then; in the unit of `now_sd`.
        kept_df: its degrees of freedom.
        now_sd: that of now.
        now_df: its degrees of freedom.
        alpha: chance of a false "higher" or "lower", both together.

    Returns:
        "unknown" where one of the two has no spread or less than one degree of freedom.

    Raises:
        ValueError: `alpha` is no probability.

    Source: G. W. Snedecor and W. G. Cochran, Statistical methods, 1989, 6.12 (the test); Shoemaker 2003 (the degrees).

    >>> noise_changed(1.0, 90, 3.0, 9), noise_changed(1.0, 90, 1.2, 9), noise_changed(1.0, 90, 0.0, 9)
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


def moved(kept: Reference, now_s: float, n: int, alpha: float = ALPHA) -> Move:
    """Whether the same work takes longer now than the stretches that were kept let expect: a prediction interval.

    Fewer runs than a stretch has make the median less sure; as if all of its variation came from them.

    Args:
        kept: medians of stretches of runs.
        now_s: median of n runs, in seconds.
        n: runs behind it.
        alpha: chance of a false answer, both ends together.

    Source: G. J. Hahn, Factors for calculating two-sided prediction intervals, J. Am. Stat. Assoc. 64 (1969), m = 1.
    """
    if kept.between_log_percent <= 0 or n < 1 or now_s <= 0:
        return "unknown"
    share = 1 / kept.n + max(1.0, kept.runs / n)
    half = student_t(1 - alpha / 2, kept.n - 1) * kept.between_log_percent / 100 * math.sqrt(share)
    delta = math.log(now_s / kept.median_s)
    return "no" if abs(delta) <= half else "slower" if delta > 0 else "faster"
