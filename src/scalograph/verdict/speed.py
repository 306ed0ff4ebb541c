"""Speed of the CPUs during a run, as the probe's sentinel measured it, and the CPU time of the probe itself."""

from scalograph.protocol.record import Record, RunFigures
from scalograph.protocol.record_processes import Speed

_FEWEST = 3  # samples below this number say nothing about a run
_KNOWN = 0.5  # share of the run's CPU time that must be on CPUs with samples


def loop_time(record: Record) -> float | None:
    """Return the time in ns of the sentinel's loop at the mean speed of the CPUs of a run.

    Each CPU is weighted by the run's CPU time on it, or equally if that is not recorded. In one study, runs on slower
    CPUs have a larger value. Values of other machines, or numbers of tasks and CPUs, are not comparable.

    Returns:
        None without a sentinel, with fewer than three samples on the CPUs that the run used, or if it was mostly on
        CPUs without any.
    """
    speed = record.run.speed
    if speed is None:
        return None
    weights = record.run.per_cpu_ns if any(record.run.per_cpu_ns or ()) else [int(n > 0) for n in speed.n]
    if weights is None or len(weights) != len(speed.n):
        return None
    seen = [
        (weight, mean, n) for weight, mean, n in zip(weights, speed.mean_ns, speed.n, strict=True) if weight and mean
    ]
    total = sum(weight for weight, _, _ in seen)
    if sum(n for _, _, n in seen) < _FEWEST or total < _KNOWN * sum(weights):
        return None
    return total / sum(weight / mean for weight, mean, _ in seen)


def probe_ns(run: RunFigures) -> int:
    """Return the time in ns that the probe had CPUs for which the run waited; 0 if neighbors have no names."""
    return sum([neighbor.taken_ns for neighbor in run.neighbors if neighbor.observer]) if run.neighbors else 0


def observer_ns(run: RunFigures, of_one_cpu: bool = False) -> int:
    """Return the time in ns that the probe may have taken from a run, or on one of its CPUs.

    Without names, that is all CPU time of the probe: with hundreds of threads, half of the time taken. The sentinel
    works on all CPUs alike, so only its part on as many CPUs as the run used is included.
    """
    is_named = run.neighbors is not None
    most = probe_ns(run) if is_named else run.observer_ns or 0
    if run.speed is None or run.observer_ns is None or (is_named and not of_one_cpu):
        return most
    used = 1.0 if of_one_cpu else (run.cpu_ns or 0) / (run.wall_ns or 1)
    return min(most, run.observer_ns - round(run.speed.cost_ns * (1 - min(1.0, used / _n_cpus(run.speed)))))


def _n_cpus(speed: Speed) -> int:
    """Return the number of CPUs on which the sentinel worked.

    >>> _n_cpus(Speed(mean_ns=[45_000, None], p10_ns=[44_000, None], p90_ns=[46_000, None], n=[12, 0], cost_ns=1))
    1
    """
    return sum(n > 0 for n in speed.n) or 1
