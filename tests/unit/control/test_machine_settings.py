"""Settings of the whole machine: written ahead, read back, restored and proved; on a kernel of paper."""

import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest

import scalograph
from scalograph.control import kernel_files
from scalograph.control.consent import Consent, refuse_unnamed
from scalograph.control.control import HeldSetting, Launch, Level, LevelError, find_control
from scalograph.control.host_facts import read_host_facts
from scalograph.control.machine_control import MACHINE_SETTINGS, MachineControl
from scalograph.control.store import CHANGES, Store, lock_machine
from scalograph.errors import HostError, StudyError
from scalograph.protocol.record import MachineSetting, make_failed_record
from scalograph.study.load import parse
from tests.kit import ROOT
from tests.kit.studies import facts_of
from tests.unit.control.paper_kernel import content, kernel_writes, planted, store

pytestmark = pytest.mark.guarantee

FACTS = facts_of(4, memory_bytes=8 << 30)
STUDY = """\
version = 1
name = "settings"
title = "Settings"
work = "total"
seed = 1
[workload]
command = ["true"]
"""


@pytest.fixture
def kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Store:
    """The machine's store, with a kernel of paper."""
    monkeypatch.setattr(kernel_files, "_write", kernel_writes)
    made = store(tmp_path / "state", planted(tmp_path / "kernel"))
    monkeypatch.setattr(Store, "locate", lambda: made)
    return made


@pytest.fixture
def machine(kept: Store) -> Iterator[Path]:
    """Its kernel, while the machine is locked."""
    with lock_machine(store=kept):
        yield kept.kernel


def made(name: str) -> MachineControl:
    found = find_control(name)
    assert isinstance(found, MachineControl)
    return found


def told(held: HeldSetting | None) -> tuple[str, ...]:
    assert held is not None
    return (held.before, held.asked, held.in_force, held.at_end, held.after)


@pytest.mark.parametrize(
    ("name", "level", "values"),
    [
        ("sysctl:vm.swappiness", 10, ("60", "10", "10", "10", "60")),
        ("sysctl:vm.page-cluster", "0", ("3", "0", "0", "0", "3")),
        ("sysctl:vm.lowmem_reserve_ratio", "32 32 32 0 0", ("256 256 32 0 0", *["32 32 32 0 0"] * 3, "256 256 32 0 0")),
        ("sysctl:net.ipv4.tcp_congestion_control", "reno", ("cubic", *["reno"] * 3, "cubic")),
        ("sysctl:vm.dirty_bytes", 5_000_000, ("0", *["5000000"] * 3, "0")),
        ("sysctl:vm.dirty_ratio", "20", ("20",) * 5),
        ("sysctl:vm.dirty_background_ratio", 30, ("10", "30", "30", "30", "10")),
        ("io-scheduler:sda", "none", ("mq-deadline", *["none"] * 3, "mq-deadline")),
        ("thp", "always", ("madvise", *["always"] * 3, "madvise")),
        ("governor", "performance", ("schedutil", *["performance"] * 3, "schedutil")),
        ("turbo", "off", ("on", *["off"] * 3, "on")),
    ],
)
def test_a_setting_is_changed_told_and_restored_with_what_hangs_on_it(
    machine: Path, name: str, level: Level, values: tuple[str, ...]
) -> None:
    before = content(machine)
    with made(name).apply_settings(level, FACTS) as held:
        assert values[0] == values[1] or content(machine) != before
    assert told(held) == values
    assert content(machine) == before


def test_domains_of_cpus_get_back_the_governor_that_each_had(machine: Path) -> None:
    (machine / "sys/devices/system/cpu/cpufreq/policy2/scaling_governor").write_text("powersave\n")
    before = content(machine)
    with made("governor").apply_settings("performance", FACTS) as held:
        assert len({text for file, text in content(machine).items() if file.endswith("governor")}) == 1
    assert told(held)[0] == "schedutil schedutil powersave schedutil"
    assert content(machine) == before


def test_a_domain_all_of_whose_cpus_are_offline_is_left_alone(machine: Path) -> None:
    """The kernel keeps its files, and refuses to read and to write them."""
    offline = machine / "sys/devices/system/cpu/cpufreq/policy3"
    (offline / "affected_cpus").write_text("\n")
    (offline / "scaling_governor").unlink()
    (offline / "energy_performance_preference").unlink()
    with made("governor").apply_settings("performance", FACTS) as held:
        assert not (offline / "scaling_governor").exists()
    assert told(held)[:2] == ("schedutil", "performance")


def test_a_driver_without_a_preference_of_its_own_is_restored_too(machine: Path) -> None:
    for file in machine.rglob("energy_performance_preference"):
        file.unlink()
    before = content(machine)
    with made("governor").apply_settings("powersave", FACTS):
        assert content(machine) != before
    assert content(machine) == before


def test_the_switch_of_intel_forbids_what_others_grant(machine: Path) -> None:
    switch = machine / "sys/devices/system/cpu/intel_pstate/no_turbo"
    switch.parent.mkdir()
    switch.write_text("0\n")
    with made("turbo").apply_settings("off", FACTS) as held:
        assert switch.read_text() == "1\n"
    assert (told(held)[0], switch.read_text()) == ("on", "0\n")


def test_two_units_of_one_limit_are_restored_from_either_side(machine: Path) -> None:
    kernel_writes(machine / "proc/sys/vm/dirty_bytes", "7000000")
    before = content(machine)
    with made("sysctl:vm.dirty_ratio").apply_settings(30, FACTS):
        assert (machine / "proc/sys/vm/dirty_bytes").read_text() == "0\n"
    assert content(machine) == before
    (machine / "proc/sys/vm/dirty_bytes").write_text("0\n")
    with (
        pytest.raises(HostError, match=r"vm\.dirty_ratio is 0 too"),
        made("sysctl:vm.dirty_bytes").apply_settings(9, FACTS),
    ):
        pass


def test_parameters_of_a_scheduler_that_somebody_set_come_back(machine: Path) -> None:
    (machine / "sys/block/sda/queue/iosched/read_expire").write_text("111\n")
    (machine / "sys/block/sda/queue/nr_requests").write_text("99\n")
    (machine / "sys/block/sda/queue/iosched/async_depth").write_text("7\n")
    before = content(machine)
    with made("io-scheduler:sda").apply_settings("none", FACTS):
        assert (machine / "sys/block/sda/queue/nr_requests").read_text() == "64\n"
    assert content(machine) == before


def test_cpus_go_offline_from_the_end_of_their_order_and_come_back(
    machine: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(os, "sched_getaffinity", lambda pid: {0, 1, 2, 3})
    found, before = made("online"), content(machine)
    assert found.resolve([1, "all"], FACTS) == [1, 4]
    with found.apply_settings(2, FACTS) as held:
        assert [(machine / f"sys/devices/system/cpu/cpu{n}/online").read_text() for n in (1, 2, 3)] == [
            "1\n",
            "0\n",
            "0\n",
        ]
    assert told(held) == ("0-3", "0-1", "0-1", "0-1", "0-3")
    assert content(machine) == before
    assert found.apply(Launch(), 2, FACTS).online == (0, 1)
    other = FACTS.model_copy(update={"cpus": FACTS.cpus[:2]})
    with pytest.raises(HostError, match="CPUs that we may not use"), found.apply_settings(1, other):
        pass


def test_false_leaves_a_setting_as_it_is(machine: Path) -> None:
    found = made("sysctl:vm.swappiness")
    with found.apply_settings(False, FACTS) as held:
        assert held is None
    assert found.read_back(False, FACTS, make_failed_record("")) == []


@pytest.mark.parametrize(
    ("name", "level", "said"),
    [
        (
            "sysctl:vm.swappiness",
            300,
            "vm.swappiness: asked for 300, the kernel has 200, expected",
        ),
        ("sysctl:vm.no_such", 1, r"vm.no_such: cannot be read \(ENOENT: No such file or directory\); correct its name"),
        ("io-scheduler:sdz", "none", r"io-scheduler:sdz: cannot be read \(ENOENT"),
        (
            "io-scheduler:sda",
            "bfq",
            r"io-scheduler:sda: cannot be set to bfq \(EINVAL: Invalid argument\); use",
        ),
    ],
)
def test_an_attempt_tells_why_a_level_is_refused_and_leaves_nothing(
    machine: Path, kept: Store, name: str, level: Level, said: str
) -> None:
    before = content(machine)
    with pytest.raises(HostError, match=said):
        made(name).attempt(level, FACTS)
    assert content(machine) == before
    assert kept.folder is not None and not (kept.folder / CHANGES).exists()


def test_a_refusal_names_what_may_not_be_written(machine: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(file: Path, value: str) -> None:
        raise OSError(30, "Read-only file system")

    monkeypatch.setattr(kernel_files, "_write", refuse)
    with pytest.raises(HostError, match=r"EROFS: Read-only file system\); run outside the container"):
        made("thp").attempt("never", FACTS)


@pytest.mark.parametrize(
    ("name", "level"),
    [
        ("sysctl:vm.swappiness", True),
        ("sysctl:vm.swappiness", ""),
        ("sysctl:vm.swappiness", "1\x1b[2J"),
        ("sysctl:vm.swappiness", "1" * 1001),
        ("sysctl:vm.drop_caches", 3),
        ("thp", "sometimes"),
        ("governor", "a b"),
        ("turbo", "1"),
        ("io-scheduler:sda", "../none"),
        ("online", 5),
        ("online", 0),
        ("online", "two"),
    ],
)
def test_what_is_no_value_is_refused_before_anything_is_touched(name: str, level: Level) -> None:
    with pytest.raises(LevelError):
        made(name).resolve([level], FACTS)


def test_a_host_that_may_not_write_refuses_all_but_false(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    facts = FACTS.model_copy(update={"refused": {MACHINE_SETTINGS: "EROFS: /proc/sys may not be written"}})
    with pytest.raises(LevelError, match=r"vm\.swappiness 10 is refused here \(EROFS: /proc/sys may not be written\)"):
        made("sysctl:vm.swappiness").resolve([False, 10], facts)
    assert made("sysctl:vm.swappiness").resolve([False], facts) == [False]
    assert MACHINE_SETTINGS not in read_host_facts(planted(tmp_path), jvms=()).refused


@pytest.mark.parametrize(
    ("at_end", "in_force", "said"),
    [
        ("10", "10", []),
        ("60", "10", ["vm.swappiness: asked for 10, at the end it was 60"]),
        ("60", "11", ["vm.swappiness: asked for 10, in force was 11"]),
    ],
)
def test_a_run_says_what_was_in_force_instead(at_end: str, in_force: str, said: list[str]) -> None:
    setting = MachineSetting("vm.swappiness", "60", "10", in_force, at_end, "60")
    record = make_failed_record("").replace_settings([setting, MachineSetting("thp", "a", "b", "c", "d", "e")])
    assert made("sysctl:vm.swappiness").read_back(10, FACTS, record) == said


@pytest.mark.parametrize("when", ["before", "middle"])
def test_what_a_killed_start_left_is_restored_by_the_next(tmp_path: Path, kept: Store, when: str) -> None:
    before = content(kept.kernel)
    home = str(Path(scalograph.__file__).parents[1])
    environment = {"PYTHONPATH": os.pathsep.join([home, str(ROOT), *filter(None, sys.path)])}
    argv = [sys.executable, "-B", "-m", "tests.unit.control.paper_kernel", str(kept.folder), str(kept.kernel), when]
    with subprocess.Popen(argv, env=environment, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None and process.stdout.readline() == "held\n"
        process.send_signal(signal.SIGKILL)
    assert content(kept.kernel) != before
    with lock_machine(store=kept) as restored:
        assert restored[-1] == "vm.swappiness: 60"
        assert content(kept.kernel) == before
    with lock_machine(store=kept) as restored:
        assert restored == []


def test_a_setting_that_is_gone_needs_no_restoring(kept: Store) -> None:
    folder = kept.kernel / "sys/block/sda"
    with pytest.raises(HostError, match="ENOENT"), lock_machine(store=kept), ExitStack() as held:
        held.enter_context(made("io-scheduler:sda").apply_settings("none", FACTS))
        folder.rename(folder.with_name("sdb"))
    with lock_machine(store=kept) as restored:
        assert restored == []


def test_the_record_of_changes_has_names_and_values_only(kept: Store) -> None:
    assert kept.folder is not None
    with lock_machine(store=kept), made("sysctl:vm.dirty_bytes").apply_settings(5_000_000, FACTS):
        changes = json.loads((kept.folder / CHANGES).read_text())["changes"]
    assert [(one["setting"], one["name"], one["old"]) for one in changes] == [
        ("sysctl", "vm.dirty_bytes", "0"),
        ("sysctl", "vm.dirty_ratio", "20"),
    ]


def refusal(factors: str, consent: Consent) -> list[str]:
    try:
        refuse_unnamed(parse(STUDY + factors), FACTS, consent)
    except StudyError as error:
        return [str(problem) for problem in error.problems]
    return []


SWAPPINESS = '[factors.s]\ncontrol = "sysctl:vm.swappiness"\nlevels = [10]\n'
# Other levels of these are anybody's to use; of all others that are refused here, no level is.
HARMFUL_BY_AMOUNT = {"vm.overcommit_memory": "[1]", "vm.min_free_kbytes": "[1000]", "online": "[4]"}


def test_nothing_of_the_machine_is_changed_unless_the_start_says_so() -> None:
    (said,) = refusal(SWAPPINESS, Consent())
    assert (
        said.startswith("factors.s: vm.swappiness is a setting of the whole machine") and "add --machine-wide" in said
    )
    assert refusal(SWAPPINESS, Consent(True)) == []
    assert refusal(SWAPPINESS.replace("10", "false"), Consent()) == []
    (said,) = refusal('[factors.n]\nlevels = [1]\ncontrol = "nice"\n[reset]\ndrop_caches = 3\n', Consent())
    assert said.startswith("reset.drop_caches: it drops the caches of all programs")


@pytest.mark.parametrize(
    ("control", "level", "name"),
    [
        ("sysctl:vm.overcommit_memory", 2, "vm.overcommit_memory"),
        ("sysctl:vm.min_free_kbytes", 1 << 20, "vm.min_free_kbytes"),
        ("sysctl:kernel.pid_max", 100, "kernel.pid_max"),
        ("sysctl:fs.protected_symlinks", 0, "fs.protected_symlinks"),
        ("sysctl:vm.nr_hugepages", 100, "vm.nr_hugepages"),
        ("sysctl:vm.nr_overcommit_hugepages", 100, "vm.nr_overcommit_hugepages"),
        ("sysctl:vm.watermark_scale_factor", 3000, "vm.watermark_scale_factor"),
        ("sysctl:net.core.bpf_jit_enable", 0, "net.core.bpf_jit_enable"),
        ("sysctl:net.core.bpf_jit_harden", 0, "net.core.bpf_jit_harden"),
        ("online", 1, "online"),
    ],
)
def test_levels_that_may_harm_others_need_their_name(control: str, level: int, name: str) -> None:
    factor = f'[factors.s]\ncontrol = "{control}"\nlevels = [{level}]\n'
    (said,) = refusal(factor, Consent(True))
    assert said.endswith(f"leave it out, or add --dangerous {name}")
    assert refusal(factor, Consent(True, (name,))) == []
    harmless = factor.replace(f"[{level}]", HARMFUL_BY_AMOUNT.get(name, "[4]"))
    assert bool(refusal(harmless, Consent(True))) == (name not in HARMFUL_BY_AMOUNT)


def test_a_name_that_no_factor_changes_is_a_mistake() -> None:
    (said,) = refusal(SWAPPINESS, Consent(True, ("vm.overcommit_memory",)))
    assert said.startswith('--dangerous: "vm.overcommit_memory"')
    assert Consent(True, ("a", "b")).words() == ["--machine-wide", "--dangerous", "a", "--dangerous", "b"]
