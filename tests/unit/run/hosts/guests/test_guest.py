"""The host that boots guests: what it needs, what it says of them, and a run by a program that stands in for QEMU."""

import json
import tempfile
from pathlib import Path

import pytest

from scalograph.design.planner import Design
from scalograph.errors import HostError, StudyError
from scalograph.protocol.facts import CpuFact, HostFacts, KernelPackage
from scalograph.protocol.record import Record
from scalograph.run.hosts.base import ProbeProgram
from scalograph.run.hosts.guests import guest
from scalograph.run.hosts.guests.guest import GuestHost, find_programs, guest_facts, has_virtualization
from scalograph.run.launches import launches
from scalograph.run.plan import Plan, plan
from scalograph.run.runner import Runner
from scalograph.study.declare import Declared, declare_shipped
from scalograph.study.levels import Run
from scalograph.study.load import parse
from scalograph.study.program import program as started
from tests.kit.command import in_process
from tests.kit.refusals import refuses
from tests.kit.studies import VALID
from tests.unit.run.hosts.guests.test_guest_process import ANSWER, UP, programs

MACHINE = HostFacts(cpus=(CpuFact(cpu=4, core=2), CpuFact(cpu=6, core=2)), memory_bytes=6 << 30, governor="schedutil")
FACTORS = '[factors.kernel]\nlevels = ["cloud"]\ncontrol = "kernel"\n'
ONE = Run("r1", 0, {"kernel": "cloud", "threads": 1, "lock": "none"}, 0)
ANSWERS = f"head -6 {ANSWER}; echo 0 > $boot/exit"


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> GuestHost:
    """Guests of a machine that does nothing else: its answers come from `code`, where a test writes it."""
    monkeypatch.setattr(guest, "read_host_facts", lambda: MACHINE)
    monkeypatch.setattr(guest, "offered_kernels", lambda: ("6.1-cloud",))
    monkeypatch.setattr(guest, "find_probe", lambda: ProbeProgram(("/bin/true",)))
    monkeypatch.setattr(guest, "_KVM", tmp_path / "none")
    kernel = tmp_path / "kernel"
    (kernel / "modules").mkdir(parents=True)
    package = KernelPackage(level="cloud", release="6.1.0", package="p", version="1", sha256="0")
    monkeypatch.setattr(guest, "fetch_kernel", lambda level, tell: (package, kernel))
    return GuestHost(programs(tmp_path, f". {tmp_path}/code"))


def planned(host: GuestHost, folder: Path, more: str = "", **protocol: float) -> Plan:
    """A study of one kernel and one configuration, which asks for three iterations."""
    study = parse(VALID.replace("[factors.threads]", FACTORS + "[factors.threads]", 1) + more)
    workload = study.workload.model_copy(update={"command": ["true"], "events": True})
    asked = study.protocol.model_copy(update={"iterations": 3, **protocol})
    study = study.model_copy(update={"workload": workload, "protocol": asked})
    program = started(study.workload, folder)
    return Plan(Declared(study, Path("study.toml")), host.facts(), Design(study, (ONE.configuration,)), program)


def run(host: GuestHost, folder: Path, code: str, **protocol: float) -> Record:
    (folder / "code").write_text(code)
    said = list[str]()
    ready = host.ready(planned(host, folder, **protocol), said.append)
    assert "functional, not timing" in said[0]
    return Runner(ready, host).measure(ONE)


def test_a_run_tells_what_was_booted_and_no_time_and_fails_after_other_work(here: GuestHost, tmp_path: Path) -> None:
    record = run(here, tmp_path, f"{UP}; {ANSWERS}")
    assert (record.run.status, record.run.reason, record.run.wall_ns) == ("ok", None, None)
    assert record.guest and (record.guest.kernel, record.guest.accelerator) == ("6.1.0", "tcg")
    other_work = run(here, tmp_path, f"{UP}; {ANSWERS}", iterations=4)
    assert other_work.run.reason == "reported 3 of 4 iterations"
    other_kernel = run(here, tmp_path, f"{UP}; sed -i s/6.1.0/5.10.0/ $boot/up; {ANSWERS}")
    assert other_kernel.run.reason == "kernel: asked for 6.1.0, in force was 5.10.0"


@pytest.mark.parametrize(("timeout_s", "ready_s"), [(10.0, 60), (300.0, 300)])
def test_emulated_cpus_leave_time_to_be_ready(here: GuestHost, tmp_path: Path, timeout_s: float, ready_s: int) -> None:
    told = f'IFS= read -r line; echo "$line" > {tmp_path}/line'
    run(here, tmp_path, f"{UP}; {told}; {ANSWERS}", timeout_s=timeout_s)
    assert json.loads((tmp_path / "line").read_text())["ready_timeout_ns"] == ready_s * 10**9


def test_conditions_are_those_that_hold_in_each_guest(here: GuestHost, tmp_path: Path) -> None:
    here.ready(planned(here, tmp_path, '[conditions]\nswap = "off"\nsmt = "off"\n'), str)
    for condition in ('swap = "on"', 'governor = "performance"'):
        with pytest.raises(HostError, match=r"conditions\.(swap: on|governor: performance), expected for guests swap"):
            here.ready(planned(here, tmp_path, f"[conditions]\n{condition}\n"), str)


def test_a_guest_has_cpus_of_its_own_and_hardware_virtualization_needs_a_flag(tmp_path: Path) -> None:
    facts = guest_facts(MACHINE)
    assert [(one.cpu, one.core) for one in facts.cpus] == [(0, 0), (1, 1)]
    assert (facts.memory_bytes, facts.governor, facts.accelerator) == (3 << 30, None, "tcg")
    assert {"isolation", "quota", "tasks"} <= facts.refused.keys()
    assert facts.machine()["accelerator"] == "tcg" and "accelerator" not in MACHINE.machine()
    (tmp_path / "proc").mkdir()
    for flags, expected in (("fpu svm", True), ("fpu vmx", True), ("fpu svm_lock", False)):
        (tmp_path / "proc/cpuinfo").write_text(f"processor: 0\nflags\t\t: {flags}\n")
        assert has_virtualization(tmp_path) is expected


def test_settings_of_a_guest_need_no_consent(here: GuestHost, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    factor = '[factors.swappiness]\nlevels = [7]\ncontrol = "sysctl:vm.swappiness"\n'
    text = VALID.replace("./prog", "true").replace("[factors.threads]", factor + "[factors.threads]", 1)
    declared = Declared(parse(text), tmp_path / "study.toml")
    refuses(StudyError, "--machine-wide", plan, declared, MACHINE)
    assert plan(declared, guest_facts(MACHINE)).design.study.factors["swappiness"].levels == [7]
    declared.file.write_text(text.replace("{threads}", "{threads} {lock}"))
    monkeypatch.setattr(guest, "connect", lambda: here)
    said = in_process("plan", declared.file, "--host", "guest", cwd=tmp_path).stdout
    assert "guest, 2 CPUs; times only if" in said and "--machine-wide" not in said


@pytest.mark.parametrize("name", ["two\nlines", "tab\t", "not-utf-8-\udcff"])
def test_an_unprintable_folder(here: GuestHost, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    (tmp_path / name).mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / name))
    with pytest.raises(HostError, match=r"--host guest: .*, expected a path of printable characters"):
        here.ready(planned(here, tmp_path), str)


def test_a_program_that_is_compiled_is_ready(here: GuestHost, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    ready = here.ready(plan(declare_shipped("cpus-offline", quick=True), here.facts()), str)
    assert ready.design.study.factors["online"].levels == [False, 1]
    assert all(Path(launch.argv[0]).is_file() for one in ready.design.configurations for launch in launches(ready, one))


@pytest.mark.parametrize(
    ("code", "expected"),
    [(f"{UP}; echo 0 > $boot/exit", "kvm"), (f"{UP}; echo 1 > $boot/exit", "tcg"), ("echo 'no such CPU' >&2", "tcg")],
)
def test_hardware_virtualization_is_proved_by_a_guest_that_ends_well(
    here: GuestHost, tmp_path: Path, code: str, expected: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "kvm").touch()
    monkeypatch.setattr(guest, "_KVM", tmp_path / "kvm")
    monkeypatch.setattr(guest, "has_virtualization", lambda: True)
    (tmp_path / "code").write_text(code)
    assert here.ready(planned(here, tmp_path), str).facts.accelerator == expected


def test_what_is_missing_is_named_with_what_installs_it(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    refuses(HostError, r"no qemu-system-x86_64, .*; install them: apt-get install qemu-system-x86 busy", find_programs)
    monkeypatch.setattr("platform.machine", lambda: "riscv64")
    refuses(HostError, "a machine of riscv64, expected x86_64", find_programs)
