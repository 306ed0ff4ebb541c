"""Settings of the whole machine: written ahead, restored whatever hangs on them; on a kernel of paper."""

import json
import os
import sys
from contextlib import ExitStack
from pathlib import Path

import pytest

from scalograph.control import kernel_files
from scalograph.control.control import Level, find_control
from scalograph.control.host_facts import read_host_facts
from scalograph.control.machine_control import MACHINE_SETTINGS, Consent, MachineControl, refuse_unnamed
from scalograph.control.store import CHANGES, Store, lock_machine
from scalograph.errors import HostError, StudyError
from scalograph.study.load import parse
from tests.kit import ROOT
from tests.kit.processes import owner
from tests.kit.studies import a_study, facts_of
from tests.unit.control.paper import child_environment, put_right
from tests.unit.control.paper_kernel import content
from tests.unit.control.trees import write

pytestmark = pytest.mark.guarantee

FACTS = facts_of(4, memory_bytes=8 << 30)
CPUFREQ, QUEUE, VM = "sys/devices/system/cpu/cpufreq", "sys/block/sda/queue", "proc/sys/vm"
NO_TURBO = "sys/devices/system/cpu/intel_pstate/no_turbo"
GOVERNORS = [f"{CPUFREQ}/policy{n}/scaling_governor" for n in range(4)]
PREFERENCES = [f"{CPUFREQ}/policy{n}/energy_performance_preference" for n in range(4)]


def machine_control(name: str) -> MachineControl:
    control = find_control(name)
    assert isinstance(control, MachineControl)
    return control


# A control, its level, how the machine is beforehand (None: without this file), how it is meanwhile, the value before.
@pytest.mark.parametrize(("name", "level", "others", "meanwhile", "before"), [
    # Domains of CPUs get back the governor that each had.
    ("governor", "performance", {GOVERNORS[2]: "powersave"}, dict.fromkeys(GOVERNORS, "performance"),
     "schedutil schedutil powersave schedutil"),
    # The kernel keeps the files of a domain all of whose CPUs are offline, and refuses to read and to write them.
    ("governor", "performance", {f"{CPUFREQ}/policy3/affected_cpus": "", GOVERNORS[3]: None, PREFERENCES[3]: None},
     {GOVERNORS[3]: None}, "schedutil"),
    # A driver without a preference of its own is restored too.
    ("governor", "powersave", dict.fromkeys(PREFERENCES), dict.fromkeys(GOVERNORS, "powersave"), "schedutil"),
    # The switch of Intel forbids what others grant.
    ("turbo", "off", {NO_TURBO: "0"}, {NO_TURBO: "1"}, "on"),
    # Two units of one limit are restored from either side.
    ("sysctl:vm.dirty_ratio", 30,
     {f"{VM}/dirty_bytes": "7000000", f"{VM}/dirty_ratio": "0"}, {f"{VM}/dirty_bytes": "0"}, "0"),
    # Parameters of a scheduler that somebody set come back.
    ("io-scheduler:sda", "none",
     {f"{QUEUE}/iosched/read_expire": "111", f"{QUEUE}/nr_requests": "99", f"{QUEUE}/iosched/async_depth": "7"},
     {f"{QUEUE}/nr_requests": "64"}, "mq-deadline"),
])  # fmt: skip
def test_what_hangs_on_a_setting_is_restored_as_it_was(
    kernel: Path, name: str, level: Level, others: dict[str, str | None], meanwhile: dict[str, str], before: str
) -> None:
    for path, text in others.items():
        if text is None:
            (kernel / path).unlink()
        else:
            write(kernel / path, f"{text}\n")
    unchanged = content(kernel)
    with machine_control(name).apply_settings(level, FACTS) as held:
        changed = content(kernel)
        assert {path: changed.get(path) for path in meanwhile} == meanwhile
    assert held and (held.before, held.asked) == (before, str(level))
    assert content(kernel) == unchanged


def test_what_could_not_be_restored_or_is_not_ours_is_not_changed(kernel: Path) -> None:
    write(kernel / VM / "dirty_ratio", "0\n")
    fewer = FACTS.model_copy(update={"cpus": FACTS.cpus[:2]})
    for name, level, facts, refusal in (
        ("sysctl:vm.dirty_bytes", 9, FACTS, r"vm\.dirty_ratio is 0 too"),  # one unit of a limit must be in force
        ("online", 1, fewer, "CPUs that we may not use"),
    ):
        with pytest.raises(HostError, match=refusal), machine_control(name).apply_settings(level, facts):
            pass


@pytest.mark.parametrize(("name", "level", "refusal"), [
    ("sysctl:vm.swappiness", 300, "vm.swappiness: asked for 300, the kernel has 200, expected"),
    ("sysctl:vm.no_such", 1, r"vm.no_such: cannot be read \(ENOENT: No such file or directory\); correct its name"),
    ("io-scheduler:sdz", "none", r"io-scheduler:sdz: cannot be read \(ENOENT"),
    ("io-scheduler:sda", "bfq", r"io-scheduler:sda: cannot be set to bfq \(EINVAL: Invalid argument\); use"),
])  # fmt: skip
def test_an_attempt_leaves_nothing(kernel: Path, kernel_store: Store, name: str, level: Level, refusal: str) -> None:
    before = content(kernel)
    with pytest.raises(HostError, match=refusal):
        machine_control(name).attempt(level, FACTS)
    assert content(kernel) == before
    assert kernel_store.folder is not None and not (kernel_store.folder / CHANGES).exists()


def test_a_refusal_names_what_may_not_be_written(kernel: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(file: Path, value: str) -> None:
        raise OSError(30, "Read-only file system")

    assert MACHINE_SETTINGS not in read_host_facts(kernel, jvms=()).refused
    monkeypatch.setattr(kernel_files, "_write", refuse)
    with pytest.raises(HostError, match=r"EROFS: Read-only file system\); run outside the container"):
        machine_control("thp").attempt("never", FACTS)


@pytest.mark.parametrize("when", ["before", "middle"])
def test_what_a_killed_start_left_is_restored_by_the_next(kernel_store: Store, when: str) -> None:
    kernel = kernel_store.kernel
    before, environment = content(kernel), child_environment()
    environment["PYTHONPATH"] += f"{os.pathsep}{ROOT}"
    argv = [sys.executable, "-B", "-m", "tests.unit.control.paper_kernel", str(kernel_store.folder), str(kernel), when]
    with owner(argv, env=environment) as (_, said):
        assert said == "held"
    assert content(kernel) != before
    assert put_right(kernel_store)[-1] == "vm.swappiness: 60"
    assert content(kernel) == before
    assert put_right(kernel_store) == []


def test_a_setting_that_is_gone_needs_no_restoring(kernel_store: Store) -> None:
    folder = kernel_store.kernel / "sys/block/sda"
    with pytest.raises(HostError, match="ENOENT"), lock_machine(store=kernel_store), ExitStack() as held:
        held.enter_context(machine_control("io-scheduler:sda").apply_settings("none", FACTS))
        folder.rename(folder.with_name("sdb"))
    assert put_right(kernel_store) == []


def test_the_record_of_changes_has_names_and_values_only(kernel: Path, kernel_store: Store) -> None:
    assert kernel_store.folder is not None
    with machine_control("sysctl:vm.dirty_bytes").apply_settings(5_000_000, FACTS):
        changes = json.loads((kernel_store.folder / CHANGES).read_text())["changes"]
    parts = [(change["setting"], change["name"], change["old"]) for change in changes]
    assert parts == [("sysctl", "vm.dirty_bytes", "0"), ("sysctl", "vm.dirty_ratio", "20")]


def refusals(control: str, level: Level, consent: Consent, **tables: object) -> list[str]:
    try:
        refuse_unnamed(parse(a_study({"s": {"control": control, "levels": [level]}}, **tables)), FACTS, consent)
    except StudyError as error:
        return [str(problem) for problem in error.problems]
    return []


def test_nothing_of_the_machine_is_changed_unless_the_start_says_so() -> None:
    (refusal,) = refusals("sysctl:vm.swappiness", 10, Consent())
    assert refusal.startswith("factors.s: vm.swappiness is a setting of the whole machine")
    assert "add --machine-wide" in refusal
    assert refusals("sysctl:vm.swappiness", 10, Consent(True)) == []
    assert refusals("sysctl:vm.swappiness", False, Consent()) == []
    (refusal,) = refusals("nice", 1, Consent(), reset={"drop_caches": 3})
    assert refusal.startswith("reset.drop_caches: it drops the caches of all programs")
    (refusal,) = refusals("sysctl:vm.swappiness", 10, Consent(True, ("vm.overcommit_memory",)))
    assert refusal.startswith('--dangerous: "vm.overcommit_memory"'), "a name that no factor changes"
    assert Consent(True, ("a", "b")).words() == ["--machine-wide", "--dangerous", "a", "--dangerous", "b"]


# A level that may harm others, and one that does not: that of some settings does whatever it is.
@pytest.mark.parametrize(("control", "level", "harmless"), [
    ("sysctl:vm.overcommit_memory", 2, 1), ("online", 1, 4),
    # An eighth of the memory, and just below it.
    *((f"sysctl:vm.{name}_kbytes", 1 << 20, (1 << 20) - 1) for name in ("min_free", "user_reserve", "admin_reserve")),
    ("sysctl:vm.min_free_kbytes", 1 << 20, 1000),
    ("sysctl:kernel.pid_max", 100, None), ("sysctl:fs.protected_symlinks", 0, None),
    ("sysctl:vm.nr_hugepages", 100, None), ("sysctl:vm.nr_overcommit_hugepages", 100, None),
    ("sysctl:vm.watermark_scale_factor", 3000, None), ("sysctl:net.core.bpf_jit_enable", 0, None),
    ("sysctl:net.core.bpf_jit_harden", 0, None),
])  # fmt: skip
def test_levels_that_may_harm_others_need_their_name(control: str, level: int, harmless: int | None) -> None:
    name = control.removeprefix("sysctl:")
    (refusal,) = refusals(control, level, Consent(True))
    assert refusal.endswith(f"leave it out, or add --dangerous {name}")
    assert refusals(control, level, Consent(True, (name,))) == []
    assert bool(refusals(control, 4 if harmless is None else harmless, Consent(True))) == (harmless is None)
