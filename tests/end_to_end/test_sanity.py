"""The proofs on this machine, by the command's own path; and lies, each of which must make its proof fail.

Verdicts are never asserted to be clean here, nor is anything's speed.
"""

import os
import sys
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import reduce
from operator import getitem
from pathlib import Path
from typing import Any

import msgspec
import pytest

from scalograph.control.store import lock_machine
from scalograph.machine.proofs.proof import DisprovedError, ProofRun
from scalograph.machine.proofs.proof_context import ProofContext
from scalograph.machine.proofs.run_proofs import GUARANTEES, judge
from scalograph.protocol.record import Record
from scalograph.run.hosts.base import ProbeProgram
from scalograph.run.hosts.local.local_host import LocalHost
from scalograph.study.declare import check
from scalograph.study.shipped import shipped_workload
from tests.end_to_end.conftest import Sanity
from tests.kit.command import LONG_S, machine
from tests.kit.processes import write_program
from tests.kit.refusals import refuses

pytestmark = [pytest.mark.guarantee, machine]
SANITY = shipped_workload("sanity/pinning").parent
CHECKS = {promise.name: promise.check for promise in GUARANTEES}
Fields = dict[str, Any]
Lie = Callable[[ProofRun], ProofRun]


@pytest.fixture(autouse=True)
def as_before() -> Iterator[None]:
    """A lying probe sets our mask."""
    mask = os.sched_getaffinity(0)
    yield
    os.sched_setaffinity(0, mask)


def test_nothing_is_wrong_with_this_machine(sanity: Sanity) -> None:
    told = sanity.told
    assert [proof["name"] for proof in told["proofs"]] == list(CHECKS)
    assert [proof for proof in told["proofs"] if proof["status"] == "failed"] == []
    assert (sanity.code, sanity.left) == (0, [])
    assert all(proof["fix"] for proof in told["proofs"] if proof["status"] == "not provable")
    # These need nothing that a host may refuse.
    always = {"containment: daemon", "CPU time: daemon", "crash", "exit code", "garbage", "hang", "never ready"}
    assert always <= {proof["name"] for proof in told["proofs"] if proof["status"] == "proved"}


@pytest.fixture
def truth(sanity: Sanity) -> ProofContext:
    return sanity.bench


def told(change: Callable[[Fields], object]) -> Lie:
    """A run with another record."""

    def lie(ran: ProofRun) -> ProofRun:
        fields = msgspec.to_builtins(ran.record)
        change(fields)
        return replace(ran, record=msgspec.convert(fields, Record))

    return lie


def lie_at(*place: str | int) -> Callable[..., Lie]:
    return lambda **figures: told(lambda fields: reduce(getitem, place, fields).update(figures))


of_run, of_copy, in_force = lie_at("run"), lie_at("copies", 0), lie_at("copies", 0, "in_force")
of_values = lie_at("values", 0, "values")


def times(factor: float) -> Lie:
    return told(lambda fields: fields["run"].update(cpu_ns=int(fields["run"]["cpu_ns"] * factor)))


def verdict(said: str) -> Lie:
    return lambda ran: replace(ran, verdict=said)


def survivor(ran: ProofRun) -> ProofRun:
    return replace(ran, left=(4711,))


def stray(fields: Fields) -> None:
    """CPU time by the kernel's records on a CPU that no mask has."""
    line = fields["timeline"]
    line["cpus"].append(8000)
    n_bins = max(map(len, line["busy_ns"]), default=1)
    line["busy_ns"].append([5_000_000, *[0] * (n_bins - 1)])


def one_too_early(fields: Fields) -> None:
    fields["values"][0]["values"]["released_ns"] = [fields["values"][0]["values"]["ready_ns"][0] - 10**10]


def swapped(fields: Fields) -> None:
    work = fields["iterations"][0]["work"]
    work[1], work[2] = work[2], work[1]


# What a proof rests on, its study, and the lies that each make it fail.
LIED_TO: dict[tuple[str, str], list[Lie]] = {
    ("pinning", "pinning-study"): [
        in_force(cpus=[8000]), of_values(allowed=[8000]), of_values(cpu=[8000]), of_values(cpu=[]),
        lambda ran: replace(ran, cpus=(0, 1, 2, 3, 8000)), of_run(status="failed", reason="no"), verdict("invalid"),
    ],
    ("pinning", "pinning-last-cpu"): [of_values(cpu=[8000])],
    ("pinning: kernel", "pinning-study"): [told(stray)],
    ("CPU count", "cpu-count-study"): [of_values(believed_cpus=[8000]), of_values(spun_ns=[1]), of_values(spun_ns=[])],
    ("gate", "gating-study"): [told(one_too_early), of_copy(start_ns=2**62), of_copy(end_ns=None)],
    ("containment: daemon", "containment-study"): [survivor, of_run(n_survivors=0)],
    ("containment: children", "forks-and-leaves-study"): [survivor, of_run(n_survivors=None)],
    ("containment: hops", "hops-study"): [survivor, of_run(n_survivors=0)],
    ("CPU time: children", "accounting-study"): [times(0.5), times(1.5)],
    ("CPU time: daemon", "containment-study"): [times(0.2), times(2)],
    ("crash", "crash-study"): [
        of_run(status="ok"), of_run(status="failed"), of_copy(signal=None, exit_code=139), of_copy(stderr_tail=""),
        verdict("unverified"),
    ],
    ("exit code", "exit-code-study"): [
        of_run(status="ok"), of_run(reason="it did not work"), of_copy(exit_code=1), verdict("clean"),
    ],
    ("garbage", "garbage-study"): [
        of_run(status="failed"), of_run(reason=None), of_run(reason="\x1b[31m"), lambda ran: replace(ran, causes=()),
    ],
    ("hang", "hang-study"): [of_run(status="signal"), of_copy(signal=15), survivor],
    ("never ready", "never-ready-study"): [of_run(status="ok"), survivor],
    ("much output", "much-output-study"): [
        of_copy(stdout="0"), of_copy(stderr_tail="the last line"),
        of_copy(stderr_tail="x" * 70_000 + "the last line\n"),
    ],
    ("many iterations", "many-iterations-asked"): [told(swapped), told(lambda fields: fields["iterations"].clear())],
    ("many iterations", "many-iterations-study"): [verdict("unverified")],
    ("settings in force", "exit-code-settings"): [in_force(nice=0), in_force(policy="fifo")],
    ("settings restored", "exit-code-settings"): [in_force(nice=0)],
}  # fmt: skip
LIES = [(promise, study, lie) for (promise, study), lies in LIED_TO.items() for lie in lies]


@pytest.mark.parametrize(
    ("promise", "study", "lie"), LIES, ids=[f"{n}-{promise}" for n, (promise, *_) in enumerate(LIES)]
)
def test_a_lie_makes_its_proof_fail(promise: str, study: str, lie: Lie, truth: ProofContext, sanity: Sanity) -> None:
    folder = truth.folder / study
    # Copies that happen to be ready at the same moment prove no gate, and refute none.
    (honest_proof,) = (proof for proof in sanity.told["proofs"] if proof["name"] == promise)
    if folder not in truth.done or honest_proof["status"] == "not provable":
        pytest.skip(f"not provable here: {honest_proof['found']}")
    sources = {ran.record.timeline and ran.record.timeline.source for ran in truth.done[folder]}
    if promise == "pinning: kernel" and sources != {"records"}:
        pytest.skip("needs switch records")
    honest = truth.done[folder]
    truth.done[folder] = [lie(ran) for ran in honest]
    try:
        with pytest.raises(DisprovedError) as failed:
            CHECKS[promise](truth)
    finally:
        truth.done[folder] = honest
    assert failed.value.found and failed.value.expected


def test_every_workload_proves_something_and_every_proof_is_lied_to(truth: ProofContext) -> None:
    used = {folder.name for folder in truth.done}
    assert {path.name for path in SANITY.iterdir() if path.is_dir()} <= {name.rpartition("-")[0] for name in used}
    # Below: neither rests on a record alone.
    elsewhere = {"containment: cgroup", "exclusive CPUs"}
    assert {promise for promise, *_ in LIES} | elsewhere == set(CHECKS)


def test_every_study_can_be_run_by_hand() -> None:
    protocols = {file: check(file).protocol for file in SANITY.glob("*/*.toml") if file.name != "workload.toml"}
    assert protocols and {(one.max_reruns, one.order) for one in protocols.values()} == {(0, "declared")}, protocols


def test_exclusive_cpus_that_are_not_given_back_are_told(truth: ProofContext, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = truth.folder / "exit-code-settings"
    owned = [replace(ran, configuration={**ran.configuration, "isolation": "exclusive"}) for ran in truth.done[folder]]
    monkeypatch.setitem(truth.done, folder, owned)
    monkeypatch.setattr("scalograph.machine.proofs.run_proofs.find_isolation_refusal", lambda: None)
    assert "given back" in CHECKS["exclusive CPUs"](truth)
    monkeypatch.setattr(truth, "before", {**truth.before, "/cg/cpuset.cpus.effective": "0-63"})
    refuses(DisprovedError, r"cpuset.cpus.effective: absent, expected 0-63", CHECKS["exclusive CPUs"], truth)


def test_a_cgroup_that_stays_is_told(truth: ProofContext, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    folder = truth.folder / "containment-study"
    lie = told(lambda fields: fields["header"].update(cgroup="scalograph-1a"))
    monkeypatch.setitem(truth.done, folder, [lie(ran) for ran in truth.done[folder]])
    monkeypatch.setattr("scalograph.machine.proofs.run_proofs.leaf_parents", lambda: [tmp_path])
    assert "none is left" in CHECKS["containment: cgroup"](truth)
    (tmp_path / "scalograph-1a").mkdir()
    refuses(DisprovedError, r"1 of .* still there", CHECKS["containment: cgroup"], truth)
    # And an empty one that anybody of ours has left.
    monkeypatch.setattr("scalograph.machine.proofs.run_proofs.find_empty_leaves", lambda: {tmp_path / "scalograph-2b"})
    monkeypatch.setattr("scalograph.machine.proofs.run_proofs._SETTLE_S", 0.0)
    refuses(DisprovedError, "1 cgroups that runs left empty", CHECKS["settings restored"], truth)


LIAR = """\
import json, os, subprocess, sys
lie, spec = os.environ["LIE"], json.loads(sys.stdin.readline())
(command,) = spec["commands"]
asked = command["cpus"]
if lie == "mask":
    command["cpus"] = None
if lie == "our settings":
    os.sched_setaffinity(os.getppid(), {min(os.sched_getaffinity(0))})
probe = [sys.executable, "-P", "-m", "scalograph.run.hosts.python_probe"]
done = subprocess.run(probe, input=json.dumps(spec), stdout=subprocess.PIPE, text=True)
if lie == "leftover":
    sleep = [sys.executable, "-S", "-c", "import time; time.sleep(60)", *command["argv"]]
    closed = subprocess.DEVNULL
    subprocess.Popen(sleep, stdin=closed, stdout=closed, stderr=closed, start_new_session=True)
for event in map(json.loads, done.stdout.splitlines()):
    if lie == "mask" and event["event"] == "copy":
        event["in_force"]["cpus"] = asked
    if event["event"] == "run" and lie == "all is well":
        event.update(status="ok", reason=None)
    if event["event"] == "run" and lie == "no children":
        event["cpu_ns"] //= 2
    if event["event"] == "run" and lie == "silent":
        sys.exit()
    print(json.dumps(event))
"""


@pytest.mark.parametrize(("lie", "promise", "found"), [
    ("mask", "pinning", "the program saw the mask"), ("leftover", "containment: daemon", "processes left"),
    ("no children", "CPU time: children", "ms of CPU time"), ("all is well", "crash", "status ok"),
    ("silent", "garbage", "no run event"), ("our settings", "settings restored", "our CPUs: "),
])  # fmt: skip
def test_a_liar_is_found(lie: str, promise: str, found: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    if lie in ("mask", "our settings") and len(os.sched_getaffinity(0)) < 2:
        pytest.skip("needs 2 CPUs")
    script = write_program(tmp_path / "liar.py", LIAR)
    probe = write_program(tmp_path / "liar", f'exec "{sys.executable}" "{script}"')
    monkeypatch.setenv("LIE", lie)
    with lock_machine(LONG_S), ProofContext(LocalHost(ProbeProgram((str(probe),))), tmp_path) as bench:
        proof = judge(next(c for c in GUARANTEES if c.name == promise), bench, kept := set())
    if proof.status == "not provable":
        pytest.skip(proof.found)
    assert (proof.status, found in proof.found) == ("failed", True), proof
    assert kept and all(f"{folder}" in proof.fix for folder in kept)
