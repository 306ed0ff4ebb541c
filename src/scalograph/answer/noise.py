"""How much do runs of one treatment differ, and what is the smallest effect that this study could have seen?"""

import math
from collections.abc import Iterable

import numpy as np
from scipy.stats import chi2

from scalograph.analysis import minimum_detectable_effect
from scalograph.answer.curves import Sample
from scalograph.findings import Noise


def noise(samples: Iterable[Sample], response: str, confidence: float = 0.95) -> Noise | None:
    """Median over treatments of the standard deviation of log scores; None where no treatment has two runs.

    The median, because a few contended treatments may vary a hundred times as much as the others. A sample variance
    of n runs has its median below its mean, by that of chi-square over its n - 1 degrees of freedom: corrected.
    """
    groups = [
        np.log(s) for s in (np.asarray(sample.scores(response)) for sample in samples) if len(s) > 1 and s.min() > 0
    ]
    if not groups:
        return None
    sd = float(np.median([_sd(group.std(ddof=1), len(group) - 1) for group in groups]))
    n = int(np.median([len(group) for group in groups]))
    detectable = minimum_detectable_effect(sd, n, confidence=confidence)
    if detectable is None:
        return None
    return Noise(sd_log_percent=100 * sd, minimum_detectable_percent=100 * math.expm1(detectable), n=n)


def _sd(sample_sd: float, freedom: int) -> float:
    return float(sample_sd / math.sqrt(chi2.ppf(0.5, freedom) / freedom))
