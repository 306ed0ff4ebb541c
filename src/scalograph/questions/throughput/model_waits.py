"""What requests wait for where no CPU is used up: a CPU all the same, or a pool, of which its service tells."""

from collections.abc import Callable, Sequence
from statistics import fmean

from scalograph.questions.throughput.model_driven import DrivenRun, ProcessUse

# Of the time that requests wait in, or hold something of a pool, this share is spent by tasks that are ready and have
# no CPU: they want more CPU.
WAITED = 0.25


def waited_share(processes: Sequence[ProcessUse]) -> float | None:
    """Return the share of the time in which tasks of services were ready that they had no CPU; None: not measured.

    Each service counts by that time: one that is hardly ever ready says little.
    """
    known = [(one.waited, one.ready) for one in processes if one.role == "service" and one.waited is not None]
    if not known:
        return None
    weights = [1.0 if any(ready is None for _, ready in known) else ready or 0.0 for _, ready in known]
    whole = sum(weights)
    return sum(waited * weight for (waited, _), weight in zip(known, weights, strict=True)) / whole if whole else 0.0


def waits_for_cpu(runs: Sequence[DrivenRun], alone_s: float | None) -> bool:
    """Tell whether requests wait for a CPU for a good part of the time that they wait.

    Args:
        runs: of one treatment.
        alone_s: response time where requests do not wait for each other; None where that is not known.
    """
    return _is_large(runs, lambda run: _waiting(run, alone_s))


def holds_for_cpu(runs: Sequence[DrivenRun]) -> bool:
    """Tell whether those who have something of a pool wait for a CPU for a good part of that time."""
    return _is_large(runs, lambda run: run.pool.busy if run.pool else None)


def _is_large(runs: Sequence[DrivenRun], over: Callable[[DrivenRun], float | None]) -> bool:
    shares = [share for run in runs if (share := _share(run, over(run))) is not None]
    return bool(shares) and fmean(shares) >= WAITED


def _share(run: DrivenRun, whole: float | None) -> float | None:
    """Tasks that are ready and have no CPU, of so many requests; the share of ready time where that is not known."""
    services = [one for one in run.processes if one.role == "service"]
    known = [one.waited * one.ready for one in services if one.waited is not None and one.ready is not None]
    if whole is None or len(known) < len(services) or not known:
        return waited_share(services)
    return sum(known) / whole if whole > 0 else 1.0


def _waiting(run: DrivenRun, alone_s: float | None) -> float | None:
    """Mean number of requests in flight that are not served."""
    used = sum(one.used for one in run.processes if one.role == "service")
    return None if run.in_flight is None else run.in_flight - (used if alone_s is None else run.rate * alone_s)
