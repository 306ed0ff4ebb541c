"""Proofs about settings: in force in a run, and nowhere afterwards."""

import time

from scalograph.control.isolation import refusal
from scalograph.machine.proofs.bench import Bench
from scalograph.machine.proofs.common import missing, went_well
from scalograph.machine.proofs.own_settings import empty_leaves, homes, settings
from scalograph.machine.proofs.proof import NotProvableError, expect
from scalograph.machine.proofs.ran import Ran

_SETTLE_S = 1.0


def in_force(bench: Bench) -> str:
    """Policy and nice value, as the kernel gave them back before the program began."""
    runs = _set(bench, "shared")
    for ran in runs:
        went_well(ran)
        expect(len(ran.record.copies) == 1, f"{len(ran.record.copies)} copies", "1")
        found, asked = ran.record.copies[0].in_force, ran.treatment
        had = (found.policy, found.nice) if found else None
        expect(had == (asked["policy"], asked["nice"]), f"in force {had}", f"{asked['policy']}, nice {asked['nice']}")
    policies = ", ".join(str(ran.treatment["policy"]) for ran in runs)
    return f"policies {policies}, nice {runs[0].treatment['nice']}: each was in force in its run"


def exclusive(bench: Bench) -> str:
    """A partition is made for each such run and proved by the control itself; here it must be gone."""
    if refused := refusal():
        raise NotProvableError(refused.why, refused.fix)
    runs = _set(bench, "exclusive")
    if not runs:
        raise NotProvableError("the machine must keep a CPU, and there is one only", "start it with more CPUs")
    for ran in runs:
        went_well(ran)
    _as_before(bench)
    return f"{len(runs)} runs had CPUs that nobody else might use; all CPUs were given back"


def _set(bench: Bench, isolation: str) -> list[Ran]:
    return [ran for ran in bench.run("exit-code", "settings.toml") if ran.treatment["isolation"] == isolation]


def leaf_gone(bench: Bench) -> str:
    """The cgroup in which the probe held a run is removed with it."""
    records = [ran.record for ran in bench.run("containment") + bench.run("hang")]
    names = [record.header.cgroup for record in records if record.header.cgroup]
    if not names:
        raise missing(records[0], "cgroup", "runs have no cgroup of their own here")
    left = [name for name in names for home in homes() if (home / name).exists()]
    expect(not left, f"{len(left)} of {len(names)} cgroups are still there, first {left[:1]}", "none")
    return f"{len(names)} runs had a cgroup of their own; none is left"


def as_before(bench: Bench) -> str:
    """After all studies. The last proof, and so about all of them."""
    in_force(bench)
    return f"{_as_before(bench)} settings of this process and of the machine are as before all runs"


def _as_before(bench: Bench) -> int:
    now = settings()
    for name in sorted(bench.before.keys() | now.keys()):
        before, found = bench.before.get(name, "absent"), now.get(name, "absent")
        expect(found == before, f"{name}: {found}", before)
    left = _left(bench)
    expect(not left, f"{len(left)} cgroups that runs left empty, first {left[:1]}", "none")
    return len(now)


def _left(bench: Bench) -> list[str]:
    """Somebody who measures without a lock may have made a leaf at this moment, and not be in it yet."""
    new = empty_leaves() - bench.leaves_before
    if new:
        time.sleep(_SETTLE_S)
    return sorted(leaf.name for leaf in new & empty_leaves())
