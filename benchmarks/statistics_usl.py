"""Does the scaling law find what was put in? Published coefficients, coverage of the intervals, speed, refusals."""

import time
from collections.abc import Callable, Iterator

import numpy as np
from scipy.optimize import curve_fit
from statistics_common import Case, Measure, main, share

from scalograph.analysis.center import FloatArray
from scalograph.analysis.usl import Usl, fit_usl
from scalograph.analysis.usl_predict import predict
from scalograph.exchange.csv_points import Points
from scalograph.exchange.fit import fit_claim, laws

# SPEC SDM 91 and a ray tracer (Gunther 2007), with the coefficients that R's package usl prints for them.
PUBLISHED = (
    (([1, 18, 36, 72, 108, 144, 216], [64.9, 995.9, 1652.4, 1853.2, 1828.9, 1775.0, 1702.2]),
     (0.0277285, 0.0001044, 89.99523)),
    (([1, 4, 8, 12, 16, 20, 24, 28, 32, 48, 64], [20, 78, 130, 170, 190, 200, 210, 230, 260, 280, 310]),
     (0.057771, 0.0, 21.848843)),
)  # fmt: skip
SIZES = np.repeat([1.0, 2, 4, 8, 16, 32], 3)
NOISE = 0.03
TRUTHS = {"contention and coherency": (0.05, 0.001), "Amdahl (kappa = 0)": (0.05, 0.0), "linear": (0.0, 0.0)}


def curve(n: FloatArray, sigma: float, kappa: float, gamma: float = 10.0) -> FloatArray:
    """The law."""
    found: FloatArray = gamma * n / (1 + sigma * (n - 1) + kappa * n * (n - 1))
    return found


def published(rng: np.random.Generator, n_cases: int) -> tuple[float, float, str]:
    """Share of the published coefficients that agree to 4 digits."""
    right = total = 0
    for data, (sigma, kappa, gamma) in PUBLISHED:
        fit = fit_usl(*data, weights="none")
        for found, known in ((fit.sigma, sigma), (fit.kappa, kappa), (fit.gamma, gamma)):
            total += 1
            right += abs((found.value or 0.0) - known) <= 5e-4 * known + 1e-9
    return share(right, total, "of 6 coefficients")


def noisy(rng: np.random.Generator, sigma: float, kappa: float) -> FloatArray:
    """Throughputs with relative errors."""
    return curve(SIZES, sigma, kappa) * np.exp(NOISE * rng.standard_normal(SIZES.size))


def covered(sigma: float, kappa: float, hit: Callable[[Usl], bool]) -> Measure:
    """Share of fits whose interval holds the truth."""

    def measure(rng: np.random.Generator, n_cases: int) -> tuple[float, float, str]:
        return share(sum(hit(fit_usl(SIZES, noisy(rng, sigma, kappa))) for _ in range(n_cases)), n_cases)

    return measure


def by_covariance(sigma: float, kappa: float) -> Measure:
    """What a plain curve_fit claims of kappa: value +-1.96 standard errors."""

    def measure(rng: np.random.Generator, n_cases: int) -> tuple[float, float, str]:
        hits = 0
        for _ in range(n_cases):
            found, covariance = curve_fit(
                curve, SIZES, noisy(rng, sigma, kappa), p0=(0.05, 1e-4, 10.0), bounds=(0, np.inf)
            )
            hits += abs(found[1] - kappa) <= 1.96 * float(np.sqrt(covariance[1, 1]))
        return share(hits, n_cases)

    return measure


def speed(rng: np.random.Generator, n_cases: int) -> tuple[float, float, str]:
    """CPU time of 10,000 fits with all intervals, over 30 s."""
    n, began = max(200, n_cases // 10), time.process_time()
    for _ in range(n):
        fit_usl(SIZES, noisy(rng, 0.05, 0.001))
    seconds = (time.process_time() - began) * 10_000 / n
    return 100 * seconds / 30, 0.0, f"{seconds:.1f} s"


def bracketed(sigma: float, kappa: float) -> Measure:
    """Share of predictions at twice the range that hold the truth; those that were refused do not count."""

    def measure(rng: np.random.Generator, n_cases: int) -> tuple[float, float, str]:
        truth, made = float(curve(np.array([64.0]), sigma, kappa)[0]), []
        for _ in range(n_cases):
            made.append(predict(fit_usl(SIZES, noisy(rng, sigma, kappa)), 64))
        told = [p for p in made if p.value is not None]
        return share(sum(p.contains(truth) for p in told), len(told), f"{n_cases - len(told)} refused")

    return measure


# Curves that are none of the law's, over sizes: up to a knee and then slowly down, up to a cap, up to a collapse.
OTHERS: dict[str, tuple[FloatArray, Callable[[FloatArray], FloatArray]]] = {
    "a knee at 3 of 12": (np.arange(1, 13.0), lambda n: np.where(n <= 3, 10 * n, 30 - 1.5 * (n - 3))),
    "a knee at 16 of 32": (np.array([1.0, 2, 4, 8, 12, 16, 20, 24, 28, 32]), lambda n: np.minimum(10 * n, 208 - 3 * n)),
    "a cap of 8 of 16": (np.array([1.0, 2, 4, 6, 8, 10, 12, 16]), lambda n: np.minimum(10 * n, 80)),
    "a collapse at 6 of 12": (np.arange(1, 13.0), lambda n: np.where(n < 6, 10 * n, 30)),
}


# What a claim states, and the cases that state it.
STATED = {"largest near": ("peak",), "is serial": ("share", "serial"), "would be": ("prediction",)}


def said(sizes: FloatArray, law: Callable[[FloatArray], FloatArray], n_runs: int, *named: str) -> Measure:
    """Share of the claims of `fit` that state one of these cases, and that the law was checked; runs differ by 3%."""

    def measure(rng: np.random.Generator, n_cases: int) -> tuple[float, float, str]:
        n, hits = np.repeat(sizes, n_runs), 0
        for _ in range(n_cases):
            rates = law(n) * np.exp(NOISE * rng.standard_normal(n.size))
            claim = fit_claim(laws(Points(n.tolist(), rates.tolist()), "relative", 0.95), "n")
            stated = {case.case for case in claim.cases}
            hits += not stated.isdisjoint(named) and "not checked" not in " ".join(claim.sentences)
        return share(hits, n_cases)

    return measure


def holds(part: str, truth: float) -> Callable[[Usl], bool]:
    """Whether an interval holds the truth; an open end holds all."""

    def hit(fit: Usl) -> bool:
        found = getattr(fit, part)
        return bool((found.low or 0.0) <= truth <= (np.inf if found.high is None else found.high))

    return hit


def cases() -> Iterator[Case]:
    """All figures."""
    yield Case("published coefficients to 4 digits", (100.0, 100.0), published)
    yield Case("CPU time of 10,000 fits with intervals, of 30 s", (0.0, 100.0), speed)
    for name, (sigma, kappa) in TRUTHS.items():
        optimum = np.sqrt((1 - sigma) / kappa) if kappa else np.inf
        for part, truth in (("sigma", sigma), ("kappa", kappa), ("gamma", 10.0), ("optimum", optimum)):
            # On a bound an interval can only be too wide.
            most = 97.0 if truth and np.isfinite(truth) and kappa else 100.0
            yield Case(
                f"{name}: interval of {part} holds the truth", (93.0, most), covered(sigma, kappa, holds(part, truth))
            )
        yield Case(f"{name}: curve_fit's standard error of kappa", None, by_covariance(sigma, kappa), share_of_n=0.25)
        yield Case(f"{name}: prediction at twice the range holds the truth", (93.0, 100.0), bracketed(sigma, kappa))
    for n_runs in (1, 3):
        runs = f"{n_runs} run{'s' * (n_runs > 1)} a size"
        for name, (sizes, law) in OTHERS.items():
            for word, named in STATED.items():
                case = said(sizes, law, n_runs, *named)
                yield Case(f"{name}, {runs}: said falsely, '{word}'", (0.0, 5.0), case, 0.25)
        peak = said(np.array([1.0, 2, 4, 8, 16, 24, 32, 48]), lambda n: curve(n, 0.05, 0.0015), n_runs, "peak")
        yield Case(f"a curve of the law with a peak, {runs}: the peak is said", (80.0, 100.0), peak, 0.25)


if __name__ == "__main__":
    main("statistics_usl", list(cases()), n_long=4000, n_quick=400)
