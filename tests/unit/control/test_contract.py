"""What every control of the registry promises: declared, resolved, refused, applied, restored, read back, documented.

A control is one row or more of each table here. What only one of them does has a test file of its own.
"""

from copy import deepcopy
from dataclasses import astuple, replace
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace as replace_part

from scalograph.control.control import Launch, Level, LevelError, find_control
from scalograph.control.ext_scheduler import SCHEDULER
from scalograph.control.machine_control import MACHINE_SETTINGS, MachineControl
from scalograph.control.scheduler import EXT, NEGATIVE_NICE, REAL_TIME
from scalograph.errors import StudyError
from scalograph.protocol.facts import ClusterFacts, HostFacts, Jvm, KernelPackage
from scalograph.protocol.record import PlacementChange, Record, make_failed_record
from scalograph.protocol.record_processes import Guest, MachineSetting
from scalograph.study.control_names import CONTROLS, control_row
from scalograph.study.load import parse
from tests.kit import ROOT
from tests.kit.records import placed, record
from tests.kit.studies import a_study, facts_of
from tests.unit.control.paper_kernel import content

JVMS = tuple(
    Jvm(name=str(n), java=f"/j{n}/bin/java", release=n, build=build)
    for n, build in ((17, "17.0.1+2"), (25, "25.0.1+3"))
)
FREE = facts_of(4, jvms=JVMS, schedulers={"scx_simple": "/bin/true"})
KEYS = (MACHINE_SETTINGS, "isolation", "quota", "memory", "tasks", REAL_TIME, NEGATIVE_NICE, EXT)
BOUND = facts_of(4, refused={key: f"no {key}" for key in KEYS}, granted_priority=0, granted_nice=0)
PARTLY = BOUND.model_copy(update={"granted_priority": 20, "granted_nice": -5})
NICED = BOUND.model_copy(update={"granted_nice": 5})
UNDER_A_QUOTA = facts_of(2, cpu_quota=0.5)
SMALL = facts_of(2, memory_bytes=64 << 20)
SMT = HostFacts(cpus=tuple(cpu.model_copy(update={"core": 0}) for cpu in facts_of(2).cpus))
OLD = facts_of(refused={SCHEDULER: "this kernel has no sched_ext"})
CLOUD = KernelPackage(level="cloud", release="6.1.0-9-cloud-amd64", package="p", version="6.1.1", sha256="0")
GUEST = facts_of(accelerator="tcg", kernels=(CLOUD,))
OFFERED = GUEST.model_copy(update={"offered_kernels": ("6.1-cloud", "6.12-cloud")})
REBOOTED = facts_of(reached="ssh", offered_kernels=("6.1.0-9-amd64", "6.12.1"))
BARE = facts_of(reached="ssh")
CLUSTER = facts_of(4, reached="slurm", cluster=ClusterFacts(
    engine="slurm", partition="batch", n_nodes=8, partitions=("batch", "debug"),
))  # fmt: skip

# Control, host, levels, and what they are resolved to if that is not what was written.
RESOLVED: list[tuple[str, HostFacts, list[Level], list[Level] | None]] = [
    ("cpus", FREE, [1, 2, 4], None), ("cpus", FREE, ["all"], [4]), ("cpus", FREE, [1, 4, "all"], [1, 4]),
    ("placement", FREE, ["compact", "scatter", "one-per-core"], None), ("placement", SMT, ["siblings"], None),
    ("isolation", FREE, ["shared", "exclusive"], None), ("isolation", BOUND, ["shared"], None),
    ("online", FREE, [1, "all"], [1, 4]),
    ("quota", FREE, [0.5, 1, 2, "none"], None), ("quota", BOUND, ["none"], None),
    ("quota", UNDER_A_QUOTA, [0.25, 0.5, "none"], None),
    ("memory", FREE, [0.5, 256, "none"], None), ("memory", BOUND, ["none"], None), ("memory", SMALL, [64], None),
    ("tasks", FREE, [10, 100, "none"], None), ("tasks", BOUND, ["none"], None),
    ("policy", BOUND, ["other", "batch", "idle"], None), ("policy", PARTLY, ["rr:20"], None),
    ("policy", FREE, ["ext", "fifo:99"], None),
    ("nice", BOUND, [0, 19], None), ("nice", PARTLY, [-5], None), ("nice", NICED, [5], None),
    ("jvm", FREE, ["all"], ["17", "25"]), ("jvm", FREE, ["default"], ["17"]),
    ("jvm", FREE, ["default", "25"], ["17", "25"]), ("jvm", FREE, [25, 17], None),
    ("jvm", FREE, ["/other/bin/java", "17"], None),
    ("jvm-options", FREE, ["", "-Xmx64m", '-Da="b c" -Xint', "@file"], None),
    ("arguments", FREE, ["", "-O2 main"], None),
    ("env:SWITCH", FREE, [False, "", "four", 4, 0.5], None),
    ("kernel", GUEST, ["cloud", "6.12-rt", "generic"], None), ("kernel", OFFERED, ["all"], ["6.1-cloud", "6.12-cloud"]),
    ("kernel", OFFERED, ["rt@sid", "6.12-cloud", "all"], ["rt@sid", "6.12-cloud", "6.1-cloud"]),
    ("kernel", OFFERED, ["cloud", "6.1-cloud"], None), ("kernel", OFFERED, ["rt@sid"], None),
    ("kernel", REBOOTED, ["6.12.1", "all"], ["6.12.1", "6.1.0-9-amd64"]),
    ("boot-options", GUEST, ["", "nosmp mem=64M"], None),
    ("sysctl:vm.swappiness", FREE, [10, "0", False], None), ("sysctl:vm.swappiness", BOUND, [False], None),
    ("io-scheduler:sda", FREE, ["none", "mq-deadline"], None),
    ("thp", FREE, ["always", "madvise", "never"], None),
    ("governor", FREE, ["performance"], None),
    ("turbo", FREE, ["on", "off", False], None),
    ("scheduler", FREE, ["default", "scx_simple", False], None), ("scheduler", OLD, ["default"], None),
    ("cluster:nodes", CLUSTER, [1, 2, 8], None), ("cluster:tasks-per-node", CLUSTER, [1, 4], None),
    ("cluster:launcher", CLUSTER, ["srun", "srun:pmix", "mpirun", "none"], None),
    ("cluster:partition", CLUSTER, ["debug"], None), ("cluster:constraint", CLUSTER, ["gpu&[rack1|rack2]"], None),
]  # fmt: skip

NO_COUNT = "level {!r}, expected a count of CPUs from 1; correct it"
NO_QUOTA = 'quota {!r}, expected CPUs\' worth of time from 0.01 to 4, or "none"; correct it'
NO_MEMORY = 'memory {!r}, expected MiB from 0.5, which starting a program takes, or "none"; correct it'
NO_TASKS = 'tasks {!r}, expected an integer from 10 to 4194304, or "none"; correct it'
NO_POLICY = "policy {!r}, expected one of other, batch, idle, ext, fifo[:1-99], rr[:1-99]; correct it"
NO_JVM = 'no JVM is named "{}", expected one of 17 (17.0.1+2), 25 (25.0.1+3); or give the path of a launcher'
NO_KERNEL = "kernel '{}', expected generic, cloud, rt, one of a family (6.1-cloud) or of another release"
NOT_OFFERED = "kernel {} is not offered here, expected one of 6.1-cloud, 6.12-cloud"
RUNS_ALREADY = "on a machine that runs already, expected a host that boots a kernel for each run; add --host guest"
OURS = "boot option {}, expected another one; a guest is reached and ended by it"
NO_VALUE = "vm.swappiness = {}, expected a value of at most 1000 characters, or false to leave it as it is; correct it"

# Control, host, levels each of which is refused (a list: together), and how that begins.
REFUSED: list[tuple[str, HostFacts, list[Any], str]] = [
    ("cpus", FREE, [[1, 5]], "needs 5 CPUs; this host has 4; use at most 4, or all"),
    ("cpus", FREE, [0, -1, True, 1.0, "two"], NO_COUNT),
    ("placement", FREE, ["siblings"], "placement siblings on a host without SMT, expected two CPUs on one core"),
    ("placement", FREE, ["3"], "placement {!r}, expected one of compact, scatter, one-per-core, siblings"),
    ("placement", FREE, [3], "placement '3', expected one of"),
    ("isolation", BOUND, ["exclusive"], "isolation exclusive is refused here (no isolation), expected"),
    ("isolation", FREE, ["own"], "isolation 'own', expected one of shared, exclusive"),
    ("online", FREE, [5, 0, "two"], "online {}, expected a count from 1 to 4; correct it"),
    ("quota", BOUND, [0.5], "quota 0.5 is refused here (no quota), expected none"),
    ("quota", FREE, [0, -1, 0.001, 5, True, "all", float("inf")], NO_QUOTA),
    ("quota", UNDER_A_QUOTA, [[0.5, 1]], "1 CPUs, but a quota of 0.5 holds for this process already, expected at most "
     "0.5; lower the level, or start"),
    ("memory", BOUND, [256], "memory 256 is refused here (no memory), expected none; run as root"),
    ("memory", FREE, [0, -1, 0.1, True, "256M", float("inf")], NO_MEMORY),
    ("memory", SMALL, [65], "memory 65 MiB; this host has 64, expected at most 64; lower the level"),
    ("tasks", BOUND, [100], "tasks 100 is refused here (no tasks), expected none"),
    ("tasks", FREE, [0, -1, 9, 1.5, True, "all", 1 << 40], NO_TASKS),
    ("policy", FREE, ["fifo:0", "fifo:100", "rr:-1", "rr:x", "", 1, True, "fifo:1:2", "FIFO"], NO_POLICY),
    ("policy", FREE, ["other:1"], f"{NO_POLICY[:-10]}did you mean \"other\"?"),
    ("policy", BOUND, ["fifo"], "policy fifo is refused here (no real-time policy), expected other, batch or idle; run "
     "with"),
    ("policy", PARTLY, ["rr:21"], "policy rr:21 is refused here (no real-time policy), expected fifo"),
    ("policy", BOUND, [["other", "ext"]], "policy ext is refused here (no policy ext), expected other, batch or idle"),
    ("nice", BOUND, [-1], "nice -1 is refused here (no negative nice), expected 0 to 19; run with"),
    ("nice", PARTLY, [-6], "nice -6 is refused here (no negative nice), expected -5 to 19"),
    ("nice", NICED, [[5, 0]], "nice 0 is refused here (no negative nice), expected 5 to 19"),
    ("nice", FREE, [20, -21, "0", False], "nice {!r}, expected an integer from -20 to 19; correct it"),
    ("jvm", FREE, ["11", True, "", "relative/java"], NO_JVM),
    ("jvm", FREE, [["17", 17]], 'the JVM "17" twice, expected each JVM once'),
    ("jvm", FREE, [["all", "25"]], 'the JVM "25" twice'),
    ("jvm", FREE, [["default", "/j17/bin/java"]], 'the JVM "/j17/bin/java" twice'),
    ("jvm", BOUND, ["all", "default"], '"{}" on a host without a JVM, expected at least one JVM; apt install'),
    ("jvm", BOUND, ["17"], 'no JVM is named "17", expected one of none, no JVM was found here'),
    ("jvm-options", FREE, ['-Da="b'], "'-Da=\"b' (No closing quotation), expected words as a shell reads them; close"),
    ("jvm-options", FREE, [64], "64, expected options as text"),
    ("jvm-options", FREE, ["Main"], '"Main", expected options that begin with -'),
    ("jvm-options", FREE, ["-cp x"], '"x", expected options that begin with -'),
    ("arguments", FREE, ['"x'], "'\"x' (No closing quotation), expected words as a shell reads them; close the quotes"),
    ("arguments", FREE, [3], "3, expected words as text"),
    ("env:SWITCH", FREE, [True], "SWITCH = true, expected text, a number, or false for unset"),
    ("kernel", FREE, ["cloud", "all"], f"a kernel {RUNS_ALREADY}"),
    ("kernel", BARE, ["6.12.1"], f"a kernel {RUNS_ALREADY}"),
    ("kernel", GUEST, ["6.1", "cloud@", "cloud@../x", "6-cloud", "../cloud", "cloud ", True, 6.1, "6.1-cloudy",
                       "\N{ARABIC-INDIC DIGIT SIX}.1-rt"], NO_KERNEL),
    ("kernel", OFFERED, ["rt", "5.10-cloud"], NOT_OFFERED),
    ("kernel", GUEST, [["cloud", "all"]], "no kernel that this machine's sources of packages offer, expected some for "
     '"all"; run apt-get update, or name the kernels'),
    ("kernel", REBOOTED, ["cloud"], "kernel 'cloud', which is not installed there, expected one of 6.1.0-9-amd64, "
     "6.12.1"),
    ("boot-options", FREE, ["nosmp"], f"boot options {RUNS_ALREADY}"),
    ("boot-options", REBOOTED, ["nosmp"], f"boot options {RUNS_ALREADY}"),
    ("boot-options", GUEST, [1, 'a="b"', "a\nb", " nosmp", "x" * 257], "boot options '"),
    ("boot-options", GUEST, ["rdinit=/bin/sh"], OURS.format("rdinit")),
    ("boot-options", GUEST, ["nosmp console=tty0"], OURS.format("console")),
    ("boot-options", GUEST, ["panic=9"], OURS.format("panic")),
    ("sysctl:vm.swappiness", BOUND, [[False, 10]], "vm.swappiness 10 is refused here (no machine), expected false"),
    ("sysctl:vm.swappiness", FREE, [True], NO_VALUE.format("'True'")),
    ("sysctl:vm.swappiness", FREE, ["", "1\x1b[2J"], NO_VALUE.replace("{}", "{!r}")),
    ("sysctl:vm.swappiness", FREE, ["1" * 1001], NO_VALUE.format(repr("1" * 60))),
    ("sysctl:vm.drop_caches", FREE, [3], "vm.drop_caches, expected a setting that keeps its value"),
    ("io-scheduler:sda", FREE, ["../none"], "io-scheduler:sda '../none', expected a scheduler such as none"),
    ("thp", FREE, ["sometimes"], "thp 'sometimes', expected one of always, madvise, never"),
    ("governor", FREE, ["a b"], "governor 'a b', expected a governor such as performance"),
    ("turbo", FREE, ["1"], "turbo '1', expected the text \"on\" or \"off\""),
    ("scheduler", OLD, ["scx_simple"], "scheduler scx_simple is refused here (this kernel has no sched_ext)"),
    ("scheduler", FREE, ["scx_rusty"], "no program scx_rusty on PATH, expected one of default, scx_simple"),
    ("scheduler", FREE, ["/bin/sh", "simple"], "scheduler {!r}, expected default, or a program such as scx_simple"),
    ("cluster:nodes", FREE, [1], "nodes on one machine, expected a cluster; add --host slurm"),
    ("cluster:nodes", CLUSTER, [0, 9, True, "2"], "nodes {}, expected 1 to 8, as the partition has; use fewer"),
    ("cluster:cpus-per-task", CLUSTER, [5], "cpus-per-task 5, expected 1 to 4"),
    ("cluster:launcher", CLUSTER, ["sh", "srun:a b", 1], "launcher '{}', expected srun, srun:PLUGIN, mpirun, or none"),
    ("cluster:partition", CLUSTER, ["debag"], 'no partition "debag", expected one of batch, debug; did you mean'),
    ("cluster:constraint", CLUSTER, ["a b", "--x y"], "constraint '{}', expected features of nodes"),
]  # fmt: skip

PLAIN = Launch()
VALUES = {"java": "/default", "threads": 2, "jvm_options": ["-Xint"], "arguments": ["-O2"]}
FULL = Launch(values=VALUES, env={"SWITCH": "C", "HOME": "/"}, exclusive=True, boot_options="nosmp")
# Control, launch, level, and what changes of the launch; controls that are in no row leave it as it is.
APPLIED: list[tuple[str, Launch, Level, dict[str, Any]]] = [
    ("cpus", PLAIN, 2, {"n_cpus": 2}),
    ("placement", PLAIN, "scatter", {"placement": "scatter"}),
    ("isolation", PLAIN, "exclusive", {"exclusive": True}), ("isolation", FULL, "shared", {"exclusive": False}),
    ("online", PLAIN, 2, {"online": (0, 1)}), ("online", PLAIN, False, {}),
    ("quota", PLAIN, 0.5, {"quota_cpus": 0.5}), ("quota", PLAIN, "none", {}),
    ("memory", PLAIN, 1.5, {"max_memory": 1536 * 1024}), ("memory", PLAIN, "none", {}),
    ("tasks", PLAIN, 100, {"max_tasks": 100}), ("tasks", PLAIN, "none", {}),
    *(("policy", PLAIN, policy, {"policy": policy}) for policy in ("other", "batch", "idle", "ext")),
    ("policy", PLAIN, "fifo", {"policy": "fifo", "priority": 1}),
    ("policy", PLAIN, "fifo:99", {"policy": "fifo", "priority": 99}),
    ("policy", PLAIN, "rr:10", {"policy": "rr", "priority": 10}),
    ("nice", PLAIN, 0, {"nice": 0}), ("nice", PLAIN, -5, {"nice": -5}),
    *(("jvm", FULL, level, {"values": {**VALUES, "java": java}})
      for level, java in (("17", "/j17/bin/java"), (25, "/j25/bin/java"), ("/x/bin/java", "/x/bin/java"))),
    *(("jvm-options", PLAIN, level, {"values": {"jvm_options": words}})
      for level, words in (("", []), ('-Da="b c" -Xint', ["-Da=b c", "-Xint"]), ("@file", ["@file"]))),
    ("jvm-options", FULL, "-Xmx64m", {"values": {**VALUES, "jvm_options": ["-Xint", "-Xmx64m"]}}),
    ("arguments", PLAIN, '"a b" c', {"values": {"arguments": ["a b", "c"]}}),
    ("arguments", FULL, "c", {"values": {**VALUES, "arguments": ["-O2", "c"]}}),
    ("env:SWITCH", PLAIN, 0.5, {"env": {"SWITCH": "0.5"}}),
    ("env:SWITCH", FULL, "", {"env": {"SWITCH": "", "HOME": "/"}}),
    ("env:SWITCH", FULL, False, {"env": {"HOME": "/"}}),
    ("kernel", PLAIN, "6.12-rt", {"kernel": "6.12-rt"}),
    ("boot-options", PLAIN, "nosmp", {"boot_options": "nosmp"}), ("boot-options", PLAIN, "", {}),
    ("boot-options", FULL, "mem=64M", {"boot_options": "nosmp mem=64M"}),
    ("cluster:nodes", PLAIN, 2, {"request": {"nodes": 2}}),
    ("cluster:launcher", Launch(request={"nodes": 2}), "mpirun", {"request": {"nodes": 2, "launcher": "mpirun"}}),
]  # fmt: skip

# Control, level, and its setting before, asked for, in force, at the end and after. No other file is another one then.
HELD: list[tuple[str, Level, tuple[str, ...]]] = [
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
    ("online", 2, ("0-3", "0-1", "0-1", "0-1", "0-3")),
]  # fmt: skip


def booted(kernel: str = CLOUD.release) -> Record:
    guest = Guest(kernel=kernel, command_line="console=ttyS0 nosmp mem=64M", cpus="0", accelerator="tcg", boot_ns=1)
    return replace_part(record(), guest=guest)


def set_to(in_force: str, at_end: str) -> Record:
    setting = MachineSetting("vm.swappiness", "60", "10", in_force, at_end, "60")
    return make_failed_record("").replace_settings([setting, MachineSetting("thp", "a", "b", "c", "d", "e")])


def changed(**at_end: Any) -> Record:
    """The record of a copy that was batch with nice value 3 when it began."""
    run = placed({"policy": "batch", "nice": 3})
    return replace_part(run, copies=[replace_part(run.copies[0], changed=PlacementChange(**at_end))])


# Control, level, record of the run, and what of the level was not in force by it.
READ_BACK: list[tuple[str, Level, Record, list[str]]] = [
    ("policy", "fifo", placed({"policy": "fifo", "priority": 1}, None), []),
    ("policy", "rr:10", placed({"policy": "rr", "priority": 10}), []),
    ("policy", "rr:10", placed({"policy": "rr", "priority": 9}), ["policy: asked for rr:10, in force was rr:9"]),
    ("policy", "idle", placed({"priority": 7}, None), ["policy: asked for idle, in force was other:7"]),
    ("policy", "batch", changed(), []),
    ("policy", "batch", changed(policy="other"), ["policy: asked for batch, in force was other:0"]),
    ("nice", 0, placed({"nice": 0}, None), []),
    ("nice", 0, placed({"nice": 5}, None), ["nice: asked for 0, in force was 5"]),
    ("nice", 3, changed(), []),
    ("nice", 3, changed(nice=5), ["nice: asked for 3, in force was 5"]),
    ("kernel", "cloud", booted(), []),
    ("kernel", "cloud", record(), []),  # its guest did not come up: it has failed anyway
    ("kernel", "cloud", booted("6.2"), ["kernel: asked for 6.1.0-9-cloud-amd64, in force was 6.2"]),
    ("boot-options", "nosmp", booted(), []), ("boot-options", "", booted(), []),
    ("boot-options", "maxcpus=1 nosmp", booted(), ["boot options: asked for maxcpus=1 nosmp, missing was maxcpus=1"]),
    ("sysctl:vm.swappiness", 10, set_to("10", "10"), []),
    ("sysctl:vm.swappiness", 10, set_to("10", "60"), ["vm.swappiness: asked for 10, at the end it was 60"]),
    ("sysctl:vm.swappiness", 10, set_to("11", "60"), ["vm.swappiness: asked for 10, in force was 11"]),
    ("sysctl:vm.swappiness", False, set_to("11", "60"), []),
    ("scheduler", "scx_simple", make_failed_record("").replace_settings([
        MachineSetting("scheduler", "default", "scx_simple", "scx_simple", "default", "default")
    ]), ["scheduler: asked for scx_simple, at the end it was default"]),
]  # fmt: skip


def rows_of(table: list[Any]) -> set[str]:
    """Return the rows of the registry that a table is about."""
    return {next(name for name, row in CONTROLS.items() if row is control_row(control)) for control, *_ in table}


def test_every_control_is_in_these_tables_and_in_the_protocol() -> None:
    assert rows_of(RESOLVED) == rows_of(REFUSED) == CONTROLS.keys()
    placing = {name for name, row in CONTROLS.items() if row.kind == "placement"}
    machine_wide = {name for name, row in CONTROLS.items() if row.machine_wide}
    assert placing == {"cpus", "placement", "isolation", "online", "cluster:NAME"}
    assert rows_of(HELD) == machine_wide - {"scheduler"}, "which is a program, and has tests of its own"
    assert rows_of(APPLIED) == CONTROLS.keys() - machine_wide | {"online"}
    page = (ROOT / "protocol/study.md").read_text()
    line = next(line for line in page.splitlines() if line.startswith("| `factors.NAME.control`"))
    assert [name for name in CONTROLS if f"`{name}`" not in line] == []


@pytest.mark.parametrize("control", dict.fromkeys(control for control, *_ in RESOLVED))
def test_it_is_declared_by_its_name(control: str) -> None:
    row = control_row(control)
    assert row is not None
    levels = next(levels for name, _, levels, _ in RESOLVED if name == control)
    command = f"true {{{row.fills}}}" if row.fills else "true"
    factor = parse(a_study({"f": {"control": control, "levels": levels}}, command=command)).factors["f"]
    assert (factor.control, factor.kind) == (control, row.kind)
    assert isinstance(find_control(control), MachineControl) == row.machine_wide


def test_an_unknown_name_lists_those_there_are() -> None:
    with pytest.raises(StudyError, match='no control "cpu", expected one of cpus, placement, isolation, online, quota'):
        find_control("cpu")


@pytest.mark.parametrize(("control", "host", "levels", "resolved"), RESOLVED)
def test_levels_are_resolved(control: str, host: HostFacts, levels: list[Level], resolved: list[Level] | None) -> None:
    assert find_control(control).resolve(levels, host) == (levels if resolved is None else resolved)


@pytest.mark.parametrize(
    ("control", "host", "level", "message"),
    [(control, host, level, message) for control, host, levels, message in REFUSED for level in levels],
)
def test_what_is_no_level_here_is_refused(control: str, host: HostFacts, level: Any, message: str) -> None:
    with pytest.raises(LevelError) as refused:
        find_control(control).resolve(level if isinstance(level, list) else [level], host)
    assert str(refused.value).startswith(message.format(level))


@pytest.mark.parametrize(("control", "before", "level", "changes"), APPLIED)
def test_a_level_is_applied_to_the_launch(control: str, before: Launch, level: Level, changes: dict[str, Any]) -> None:
    unchanged = deepcopy(before)
    assert find_control(control).apply(before, level, FREE) == replace(before, **changes)
    assert before == unchanged


@pytest.mark.guarantee
@pytest.mark.parametrize(("control", "level", "values"), HELD)
def test_a_setting_is_held_and_restored_with_what_hangs_on_it(
    kernel: Path, monkeypatch: pytest.MonkeyPatch, control: str, level: Level, values: tuple[str, ...]
) -> None:
    monkeypatch.setattr("os.sched_getaffinity", lambda pid: {0, 1, 2, 3})
    before = content(kernel)
    with find_control(control).apply_settings(level, FREE) as held:
        assert values[0] == values[1] or content(kernel) != before
    assert held and astuple(held)[1:] == values
    assert content(kernel) == before
    with find_control(control).apply_settings(False, FREE) as held:
        assert held is None and content(kernel) == before, "false leaves it as it is"


@pytest.mark.parametrize(("control", "level", "run", "wrong"), READ_BACK)
def test_what_was_not_in_force_is_read_back(control: str, level: Level, run: Record, wrong: list[str]) -> None:
    assert find_control(control).read_back(level, GUEST, run) == wrong


@pytest.mark.parametrize("control", sorted(CONTROLS.keys() - rows_of(READ_BACK) - rows_of(HELD)))
def test_what_is_a_launch_s_alone_holds_nothing_and_has_nothing_to_read_back(control: str) -> None:
    name, _, (level, *_), _ = next(row for row in RESOLVED if rows_of([row]) == {control})
    own = find_control(name)
    assert own.read_back(level, FREE, make_failed_record("")) == []
    with own.apply_settings(level, FREE) as held:
        assert held is None
