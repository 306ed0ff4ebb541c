"""What another machine tells of itself, read from its answer: no machine is asked."""

import pytest

from scalograph.errors import HostError, ProtocolError
from scalograph.protocol.events import Capabilities
from scalograph.protocol.record import Capability
from scalograph.run.hosts.ssh_facts import capabilities_of, facts_of, parsed

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


def granted(*names: str) -> Capabilities:
    every = [Capability(name=name, granted=name in names, why=None if name in names else "EPERM") for name in NAMES]
    return Capabilities(protocol=1, probe="1", capabilities=every)


def test_an_answer_is_read_as_this_machine_is() -> None:
    facts = facts_of(parsed(ANSWER), granted("negative nice"))
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
    with pytest.raises(HostError, match="expected nothing but what was asked"):
        parsed(answer)


def test_a_probe_that_says_nothing_of_itself() -> None:
    with pytest.raises(ProtocolError):
        capabilities_of("")
    with pytest.raises(ProtocolError, match="a capabilities event"):
        capabilities_of('{"event":"error","where":"a","found":"b","expected":"c","fix":"d"}')
