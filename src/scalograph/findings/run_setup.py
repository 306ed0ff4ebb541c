"""How a run was set up and measured: what must not vary between runs undeclared, and what was not granted."""

from collections.abc import Iterable
from functools import lru_cache

from scalograph.protocol.record import Record


def degradations(record: Record) -> tuple[tuple[str, str, str], ...]:
    """Return what was not granted to the probe: what, why, and what would help; each once."""
    if not record.header.degraded and not record.run.degraded:
        return ()
    parts = {(d.what, d.why, d.fix) for d in (*record.header.degraded, *record.run.degraded)}
    return tuple(sorted(parts))


def set_up(record: Record) -> tuple[str, ...]:
    """Instrument, backend, containment, policies and nice values of a run: what must not vary undeclared."""
    forces = frozenset([(copy.in_force.policy, copy.in_force.nice) for copy in record.copies if copy.in_force])
    header = record.header
    return _set_up(header.kind, header.probe, header.backend, header.containment, forces)


@lru_cache
def _set_up(
    kind: str, probe: str, backend: str, containment: str, forces: Iterable[tuple[str, int]]
) -> tuple[str, ...]:
    policies = "+".join(sorted({policy for policy, _ in forces}))
    nices = "+".join(sorted({str(nice) for _, nice in forces}))
    return (f"{kind} {probe}", backend, containment, policies, nices)
