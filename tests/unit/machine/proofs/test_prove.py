"""What becomes of promises: proofs, and folders that are kept or removed. The runs themselves are in end_to_end."""

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from uuid import uuid4

import pytest

from scalograph.errors import HostError
from scalograph.machine.proofs.proof import DisprovedError, NotProvableError, Proof, find_marked, kill_marked
from scalograph.machine.proofs.proof_context import ProofContext, find_empty_leaves, leaf_parents, read_settings
from scalograph.machine.proofs.run_proofs import GUARANTEES, GuaranteeCheck, prove
from scalograph.protocol.facts import HostFacts
from scalograph.run.hosts.base import ProbeProgram
from scalograph.run.hosts.local.local_host import LocalHost
from tests.kit.studies import facts_of
from tests.unit.control.trees import write


class OneCpu(LocalHost):
    """This machine, as if it had one CPU."""

    def facts(self) -> HostFacts:
        return facts_of()


HOST = OneCpu(ProbeProgram(("probe",)))


def uses(name: str, outcome: Exception | str) -> Callable[[ProofContext], str]:
    """A check that leaves results, as a study does, and comes to this."""

    def check(bench: ProofContext) -> str:
        folder = bench.folder / name
        folder.mkdir(exist_ok=True)
        bench.used.add(folder)
        (folder / "journal.jsonl").write_text("what happened")
        if isinstance(outcome, Exception):
            raise outcome
        return outcome

    return check


@pytest.fixture
def proofs(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Callable[..., list[Proof]]:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))

    def run(**checks: Callable[[ProofContext], str]) -> list[Proof]:
        promises = tuple(GuaranteeCheck(name, f"{name} holds", f"doubt {name}", it) for name, it in checks.items())
        monkeypatch.setattr("scalograph.machine.proofs.run_proofs.GUARANTEES", promises)
        return prove(HOST)

    return run


def test_proofs_and_what_is_not_provable_leave_nothing(proofs: Callable[..., list[Proof]], tmp_path: Path) -> None:
    assert proofs(a=uses("a", "all is well")) == [Proof("a", "a holds", "proved", "all is well")]
    (found,) = proofs(a=uses("a", NotProvableError("one CPU", "use more")))
    assert (found.status, found.found, found.expected, found.fix) == ("not provable", "one CPU", "", "use more")
    with pytest.raises(ZeroDivisionError):  # a bug is no proof
        proofs(a=uses("a", ZeroDivisionError()))
    assert list(tmp_path.iterdir()) == []


def test_a_failure_keeps_its_own_results_and_tells_where(proofs: Callable[..., list[Proof]], tmp_path: Path) -> None:
    disproved = uses("b", DisprovedError("0 survivors", "1"))
    first, second, third = proofs(a=uses("a", "well"), b=disproved, c=uses("c", "well"))
    assert [first.status, second.status, third.status] == ["proved", "failed", "proved"]
    (kept,) = tmp_path.glob("scalograph-sanity-*/*")
    assert kept.name == "b" and (kept / "journal.jsonl").read_text() == "what happened"
    assert (second.found, second.expected, second.fix) == ("0 survivors", "1", f"doubt b; kept: {kept}")


def test_a_refusal_of_the_path_is_a_failure_of_its_claim_alone_and_no_room_one_of_all(
    proofs: Callable[..., list[Proof]], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    refused = HostError("probe", "no answer", "a record", "reinstall it")
    first, second = proofs(a=uses("a", refused), b=uses("b", "well"))
    assert (first.status, first.found, first.expected) == ("failed", "probe: no answer", "a record")
    assert first.fix.startswith("reinstall it; kept: ")
    assert second.status == "proved"
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path / "missing"))
    with pytest.raises(HostError, match=r"scratch folder: cannot be made: .*room in TMPDIR"):
        prove(HOST)


def test_every_claim_has_a_name_of_its_own_and_a_sentence() -> None:
    names, sentences = ({getattr(promise, part) for promise in GUARANTEES} for part in ("name", "what"))
    assert len(names) == len(sentences) == len(GUARANTEES)
    assert all(promise.what[0].isupper() and promise.doubt for promise in GUARANTEES)


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """A machine with cgroup v2 and two CPUs; we are in /system/user."""
    for name, text in {
        "proc/self/mountinfo": "30 23 0:26 / /cg rw - cgroup2 cgroup2 rw\n",
        "proc/self/cgroup": "0::/system/user\n",
        "cg/cgroup.subtree_control": "cpuset cpu\n",
        "cg/system/user/cgroup.subtree_control": "\n",
        "cg/scalograph-1a/cgroup.events": "populated 0\nfrozen 0\n",
        "cg/system/user/scalograph-2b/cgroup.events": "populated 1\nfrozen 0\n",
        "cg/other/cgroup.events": "populated 0\n",
        "sys/devices/system/cpu/cpu0/cpufreq/scaling_governor": "performance\n",
        "sys/devices/system/cpu/cpu1/cpufreq/scaling_governor": "powersave\n",
    }.items():
        write(tmp_path / name, text)
    return tmp_path


def test_leaves_and_what_a_study_can_touch_are_looked_for_where_they_are_made(root: Path) -> None:
    found = read_settings(root)
    assert (found["governor of cpu0"], found["governor of cpu1"]) == ("performance", "powersave")
    assert found[f"{root}/cg/cgroup.subtree_control"] == "cpuset cpu"
    assert found[f"{root}/cg/system/user/cgroup.subtree_control"] == ""
    assert found["our nice value"] == str(os.getpriority(os.PRIO_PROCESS, 0))
    assert leaf_parents(root) == [root / "cg/system/user", root / "cg"]
    assert find_empty_leaves(root) == {root / "cg/scalograph-1a"}
    (root / "proc/self/mountinfo").unlink()  # without cgroup v2 there is nothing to look at
    assert (leaf_parents(root), find_empty_leaves(root)) == ([], set())


def test_a_change_of_ourselves_shows() -> None:
    before, mask = read_settings(), os.sched_getaffinity(0)
    if len(mask) < 2:
        pytest.skip("needs 2 CPUs")
    os.sched_setaffinity(0, {min(mask)})
    try:
        now = read_settings()
    finally:
        os.sched_setaffinity(0, mask)
    assert {name for name in now if now[name] != before[name]} >= {"our CPUs"}
    assert now["our CPUs"] == str(min(mask))


def test_marked_processes_are_found_and_ended() -> None:
    mark = f"sanity-{uuid4().hex}"
    sleeper = [sys.executable, "-S", "-c", "import time; print(flush=True); time.sleep(60)", mark]
    with subprocess.Popen(sleeper, stdout=subprocess.PIPE) as process:
        assert process.stdout is not None and process.stdout.read(1)
        assert find_marked(mark) == (process.pid,)
        kill_marked(mark)
        assert process.wait(20) == -9
    assert find_marked(mark) == ()
