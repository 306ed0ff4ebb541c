"""What another machine tells of itself, read from its answer: no machine is asked."""

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from scalograph.errors import HostError
from scalograph.protocol.record import Capabilities, Capability
from scalograph.run.hosts.remote.ssh_facts import parse_answer, parse_capabilities, read_facts
from tests.kit.refusals import refuses

ANSWER = """\
system Linux aarch64
env PATH=/usr/bin:/bin
env HOME=/home/me
/proc/cpuinfo:processor\t: 0
/proc/cpuinfo:model name\t: Far CPU
/proc/meminfo:MemTotal:        8000000 kB
/proc/self/status:Cpus_allowed_list:\t0-2
/proc/self/cgroup:0::/user.slice
/proc/self/mountinfo:30 1 0:26 / /sys/fs/cgroup rw shared:4 - cgroup2 cgroup2 rw
/sys/fs/cgroup/user.slice/cpu.max:150000 100000
/sys/devices/system/cpu/online:0-3
/proc/sys/kernel/random/boot_id:2b1c7a52-0000-4000-8000-0123456789ab
/../../escaped:x
/etc/../../escaped:x
java yes /usr/lib/jvm/a/bin/java
|     java.version = 21.0.4
|     java.runtime.version = 21.0.4+7
|     java.vendor = Debian
java no /opt/b/bin/java
|     java.version = 17.0.2
java no /opt/broken/bin/java
| Error: no JVM
"""
NAMES = ("real-time policies", "negative nice")
ERROR = '{"event":"error","where":"a","found":"b","expected":"c","fix":"d"}'
# What is told beside ANSWER, or instead of a line of it, and what of that is refused; or told as what is not known.
BROKEN = {
    "/proc/meminfo/x:1": "told /proc/meminfo/x: File exists",
    "/proc/self:1": "told /proc/self: Is a directory",
    f"/proc/{'x' * 300}:1": "told /proc/xxx",
    "/etc/a\0b:1": "zero bytes",
    "/proc/self/status:Cpus_allowed_list:\t0-x": "no CPU that may be used",
    "/proc/self/status:Cpus_allowed_list:\t7": "no CPU that may be used",
    "/sys/devices/system/cpu/online:0-99999999": "no CPU that may be used",
    "/sys/devices/system/cpu/online:" + "9" * 5000: "no CPU that may be used",
    "/sys/devices/system/cpu/online:": "no CPU that may be used",
    "/proc/cpuinfo:cpu MHz\t: " + "9" * 400: "clock_mhz",
}
UNKNOWN = {
    "/proc/meminfo:MemTotal: " + "9" * 5000 + " kB": "memory_bytes",
    "/sys/fs/cgroup/user.slice/cpu.max:" + "9" * 5000 + " 1": "cpu_quota",
    "/sys/fs/cgroup/user.slice/cpu.max:1 0": "cpu_quota",
    "/proc/self/cgroup:0": "cpu_quota",
    "/proc/self/cgroup:0::/../../../../user.slice": "cpu_quota",
    r"/proc/self/mountinfo:30 1 0:26 / /sys/fs/\000cgroup rw - cgroup2 c rw": "cpu_quota",
    r"/proc/self/mountinfo:30 1 0:26 / /sys/fs/\056\056/fs/cgroup rw - cgroup2 c rw": "cpu_quota",
    "/proc/sys/kernel/osrelease:" + "x" * 40_000: "kernel",
}
FILES = sorted(
    {line.partition(":")[0] for line in ANSWER.splitlines() if line.startswith("/")} | {"/proc", "/proc/self/x"}
)
TEXTS = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\n"), max_size=20)
LINES = st.tuples(st.sampled_from(FILES), TEXTS | st.from_regex(r"[0-9,: /-]{0,20}", fullmatch=True)).map(":".join)


def granted(*names: str) -> Capabilities:
    every = [Capability(name=name, granted=name in names, why=None if name in names else "EPERM") for name in NAMES]
    return Capabilities(protocol=1, probe="1", capabilities=every)


def test_an_answer_is_read_as_this_machine_is() -> None:
    facts = read_facts("there", parse_answer("there", ANSWER), granted("negative nice"))
    assert [one.cpu for one in facts.cpus] == [0, 1, 2]
    assert (facts.cpu_model, facts.memory_bytes, facts.cpu_quota) == ("Far CPU", 8_192_000_000, 1.5)
    assert (facts.architecture, facts.boot_id) == ("aarch64", "2b1c7a52-0000-4000-8000-0123456789ab")
    assert facts.environment == {"PATH": "/usr/bin:/bin", "HOME": "/home/me"}
    assert (facts.granted_priority, facts.granted_nice) == (0, -20)
    assert facts.refused["real-time policy"] == "EPERM" and "negative nice" not in facts.refused
    assert {"machine", "quota", "isolation", "tasks"} <= facts.refused.keys()
    assert [(one.name, one.java, one.javac) for one in facts.jvms] == [
        ("21", "/usr/lib/jvm/a/bin/java", "/usr/lib/jvm/a/bin/javac"), ("17", "/opt/b/bin/java", None),
    ]  # fmt: skip
    told = facts.machine()
    assert told["reached"] == "ssh" and "environment" not in told and "program" not in told


@pytest.mark.parametrize("answer", ["", "Welcome\n", "env PATH=/bin\n"])
def test_what_a_login_prints_is_no_machine(answer: str) -> None:
    refuses(HostError, "expected nothing but what was asked", parse_answer, "there", answer)


@pytest.mark.parametrize("answer", ["", "\n", "{}", "[" * 9000, '{"event":"run"}', ERROR, '{"event":"capabilities"}'])
def test_a_probe_that_says_nothing_of_itself(answer: str) -> None:
    with pytest.raises(HostError, match=r"^machine there: told .*, expected the facts of a machine; .*$") as told:
        parse_capabilities("there", answer)
    assert "\n" not in str(told.value)


def told_with(line: str) -> str:
    """The answer with a line, in place of those of the same file."""
    file = line.partition(":")[0]
    return "".join(f"{one}\n" for one in ANSWER.splitlines() if one.partition(":")[0] != file) + f"{line}\n"


@pytest.mark.parametrize(("line", "expected"), BROKEN.items(), ids=[f"{line:.40}" for line in BROKEN])
def test_a_broken_fact_is_one_message(line: str, expected: str) -> None:
    with pytest.raises(HostError) as told:
        read_facts("there", parse_answer("there", told_with(line)), granted())
    assert str(told.value).startswith("machine there: told ") and expected in str(told.value)
    assert "\n" not in str(told.value) and len(str(told.value)) < 1000


@pytest.mark.parametrize(("line", "name"), UNKNOWN.items(), ids=[f"{line:.40}" for line in UNKNOWN])
def test_a_fact_that_cannot_be_read_is_not_known(line: str, name: str) -> None:
    assert getattr(read_facts("there", parse_answer("there", told_with(line)), granted()), name) is None


def test_a_probe_of_another_kind_and_a_jvm_of_any_release() -> None:
    with pytest.raises(HostError, match="told a probe that does not tell of real-time policies"):
        read_facts("there", parse_answer("there", ANSWER), Capabilities(protocol=1, probe="1", capabilities=[]))
    told = parse_answer("there", ANSWER.replace("21.0.4\n", "9" * 5000 + "\n"))
    assert read_facts("there", told, granted()).jvms[0].release == 999_999_999
    with pytest.raises(HostError, match="told 0 files, 65 JVMs"):
        parse_answer("there", "system Linux x\n" + "".join(f"java no /{n}\n" for n in range(65)))


@settings(max_examples=15, deadline=None)
@given(st.lists(LINES | TEXTS, max_size=6))
def test_whatever_is_told_is_facts_that_can_be_kept_or_one_message(lines: list[str]) -> None:
    try:
        facts = read_facts("there", parse_answer("there", ANSWER + "".join(f"{line}\n" for line in lines)), granted())
    except HostError as error:
        assert str(error).startswith("machine there: ") and "\n" not in str(error)
    else:
        assert facts.n_cpus and msgspec.json.encode(facts.machine())
