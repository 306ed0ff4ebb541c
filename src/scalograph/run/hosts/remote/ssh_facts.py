"""Read what another machine reports of itself in one answer: its /proc and /sys as a tree, its environment, its JVMs.

The tree is then read as that of this machine is.
"""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

import msgspec

from scalograph.control import capacity, isolation, memory, tasks
from scalograph.control.host_facts import read_host_facts
from scalograph.control.machine_control import MACHINE_SETTINGS
from scalograph.control.scheduler import EXT, NEGATIVE_NICE, REAL_TIME, why_no_ext
from scalograph.errors import HostError, ProtocolError
from scalograph.protocol.events import parse_event
from scalograph.protocol.facts import HostFacts, machine_facts
from scalograph.protocol.record import Capabilities
from scalograph.run.hosts.remote.ssh_client import last_line, machine_label
from scalograph.system.platform_facts import parse_jvms
from scalograph.system.private_dir import scratch

# Needs nothing but what POSIX has, grep -H and readlink -f. Lines: of a file `/its/path:text`; `env NAME=value`;
# `system Linux x86_64`; `java` its path, whether a compiler is beside it, and `| ` before each line that it says.
FACTS = """\
printf 'system %s\\n' "$(uname -sm)"
for name in PATH HOME LANG TMPDIR; do
  eval "value=\\${$name-}"
  [ -z "$value" ] || printf 'env %s=%s\\n' "$name" "$value"
done
sed '/^$/q' /proc/cpuinfo | sed 's|^|/proc/cpuinfo:|'
group=$(sed -n 's/^0:://p' /proc/self/cgroup)
set --
while [ -n "$group" ] && [ "$group" != / ]; do
  set -- "$@" "/sys/fs/cgroup$group/cpu.max"
  group=${group%/*}
done
cpu=/sys/devices/system/cpu
clock=/sys/devices/system/clocksource/clocksource0
grep -sH '' /proc/meminfo /proc/cmdline /proc/self/status /proc/self/cgroup /proc/self/mountinfo /etc/os-release \\
  /proc/sys/kernel/osrelease /proc/sys/kernel/arch /proc/sys/kernel/random/boot_id \\
  /proc/sys/kernel/sched_autogroup_enabled $cpu/online $cpu/smt/active $cpu/cpu0/cpufreq/scaling_governor \\
  $cpu/cpu[0-9]*/topology/*_list $cpu/cpu[0-9]*/topology/physical_package_id $cpu/cpu[0-9]*/topology/core_id \\
  $cpu/cpu[0-9]*/cache/index*/level $cpu/cpu[0-9]*/cache/index*/shared_cpu_list \\
  $cpu/cpu0/cache/index*/type $cpu/cpu0/cache/index*/size $cpu/cpu[0-9]*/cpufreq/cpuinfo_max_freq \\
  $cpu/cpu[0-9]*/node[0-9]*/cpulist $clock/current_clocksource $clock/available_clocksource \\
  /sys/hypervisor/type /sys/class/dmi/id/sys_vendor /sys/kernel/sched_ext/state "$@"
seen=
for java in "${JAVA_HOME:-/nonexistent}/bin/java" "$(command -v java)" /usr/lib/jvm/*/bin/java; do
  java=$(readlink -f -- "$java") && [ -f "$java" ] && [ -x "$java" ] || continue
  case "$seen" in *"|$java|"*) continue ;; esac
  seen="$seen|$java|"
  compiler=no
  [ ! -x "${java%/*}/javac" ] || compiler=yes
  printf 'java %s %s\\n' "$compiler" "$java"
  "$java" -XshowSettings:properties -version </dev/null 2>&1 | sed 's/^/| /'
done
:
"""
_FILE = re.compile(r"(/(?:proc|sys|etc)/[\w./@+-]+):(.*)", re.ASCII | re.DOTALL)
# A longer line is none of these files, and is left out.
_MOST_FILES, _MOST_JVMS, _MOST_CHARACTERS = 200_000, 64, 32 << 10
_BROKEN = (ArithmeticError, LookupError, OSError, ValueError)
_CAPABILITIES = ("real-time policies", "negative nice")
_THERE = "it is set on the machine itself, not over ssh"


@dataclass
class RemoteFacts:
    """The answer to FACTS by its parts: texts of files by path, and the rest."""

    files: dict[str, list[str]] = field(default_factory=dict)
    environment: dict[str, str] = field(default_factory=dict)
    system: str = ""
    architecture: str = ""
    jvms: dict[tuple[str, bool], list[str]] = field(default_factory=dict)


def parse_answer(name: str, answer: str) -> RemoteFacts:
    """Parse an answer to FACTS; lines of no known form are skipped.

    Raises HostError: something else was printed before it, or it is none of a machine.
    """
    if not answer.startswith("system "):  # it would stand before what a probe says, too
        first, fix = ascii(answer.partition("\n")[0][:80]), "let its shell print nothing at a login"
        raise HostError(machine_label(name), f"told {first} first", "nothing but what was asked", fix)
    if "\0" in answer:
        raise _facts_error(name, "zero bytes in what it tells of itself")
    facts, output = RemoteFacts(), list[str]()
    for line in (text for text in answer.split("\n") if len(text) <= _MOST_CHARACTERS):
        kind, _, rest = line.partition(" ")
        if match := _FILE.fullmatch(line):
            facts.files.setdefault(match[1], []).append(match[2])
        elif kind == "system":
            facts.system, _, facts.architecture = rest.partition(" ")
        elif kind == "env":
            variable, _, value = rest.partition("=")
            facts.environment[variable] = value
        elif kind == "java":
            output = facts.jvms.setdefault((rest.partition(" ")[2], rest.startswith("yes ")), [])
        elif kind == "|":
            output.append(rest)
    if len(facts.files) > _MOST_FILES or len(facts.jvms) > _MOST_JVMS:
        raise _facts_error(name, f"{len(facts.files)} files, {len(facts.jvms)} JVMs")
    return facts


def read_facts(name: str, remote: RemoteFacts, capabilities: Capabilities) -> HostFacts:
    """Return what a machine is and grants over ssh: nothing that only whoever changed it can restore.

    `capabilities` are what the probe was granted there. Raises HostError: its answer is none of a machine.
    """
    facts, no_ext = _discover(name, remote)
    granted = {item.name: item for item in capabilities.capabilities}
    for capability in _CAPABILITIES:
        if capability not in granted:
            raise _facts_error(name, f"a probe that does not tell of {capability}")
    real_time, nice = (granted[capability] for capability in _CAPABILITIES)
    refused = dict.fromkeys((isolation.ISOLATION, capacity.QUOTA, tasks.TASKS, memory.MEMORY, MACHINE_SETTINGS), _THERE)
    refused |= {
        name: item.why or "" for name, item in ((REAL_TIME, real_time), (NEGATIVE_NICE, nice)) if not item.granted
    }
    own = {
        "architecture": facts.architecture or remote.architecture, "reached": "ssh", "environment": remote.environment,
        "refused": refused | ({EXT: no_ext} if no_ext else {}), "granted_priority": 99 if real_time.granted else 0,
        "granted_nice": -20 if nice.granted else 0,
    }  # fmt: skip
    return facts.model_copy(update=own)


def parse_capabilities(name: str, answer: str) -> Capabilities:
    """Return the probe's capabilities on a machine. Raises HostError if it is no such answer."""
    try:
        part = parse_event((answer.splitlines() or [""])[-1], "probe --capabilities")[1]
    except ProtocolError as error:
        raise _facts_error(name, str(error.problems[0])) from None
    if not isinstance(part, Capabilities):
        raise _facts_error(name, "another answer of its probe than its capabilities")
    return part


def _discover(name: str, remote: RemoteFacts) -> tuple[HostFacts, str | None]:
    """Return the facts, which a journal can hold, and why there is no sched_ext. Raises HostError."""
    try:
        jvms = parse_jvms(
            (path, has_compiler, "\n".join(output)) for (path, has_compiler), output in remote.jvms.items()
        )
        with scratch("facts") as tree:
            _write(name, tree, remote.files)
            facts, no_ext = read_host_facts(tree, jvms), why_no_ext(tree)
        if not facts.cpus:
            raise _facts_error(name, "no CPU that may be used: /sys/devices/system/cpu/online, /proc/self/status")
        machine_facts(msgspec.json.decode(msgspec.json.encode(facts.machine())))
    except _BROKEN as error:
        raise _facts_error(name, " ".join(str(error).split())) from None
    return facts, no_ext


def _write(name: str, tree: Path, files: Mapping[str, Iterable[str]]) -> None:
    below_root = {path.lstrip("/"): lines for path, lines in files.items() if ".." not in Path(path).parts}
    for path, lines in below_root.items():
        file = tree / path
        try:
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
        except OSError as error:  # one is a folder of another, say
            raise _facts_error(name, f"/{path}: {error.strerror}") from None


def _facts_error(name: str, problem: str) -> HostError:
    """Return the error on what a machine reports, which may be anything."""
    fix = "look at its /proc and /sys"
    return HostError(machine_label(name), f"told {last_line(problem)}", "the facts of a machine", fix)
