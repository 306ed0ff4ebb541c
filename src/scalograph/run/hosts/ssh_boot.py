"""Boots of another machine as ssh tells and begins them: what runs there, and which kernel ran at first.

The first kernel is kept there, in a home, before another one is booted: a start that is killed leaves it to the next.
"""

import re
from typing import NamedTuple

from scalograph.errors import HostError
from scalograph.run.hosts.ssh_client import UnreachableError, call, last_line, script

PROGRAM = "scalograph-boot"
HOWTO = "see docs/howto/another-machine.md"
_ASK_S = 60.0
_RELEASE = re.compile(r"[0-9][\w.+~-]{0,63}", re.ASCII)
_NOW = re.compile(r"([0-9][\w.+~-]{0,63})\n([0-9a-f-]{36})\n", re.ASCII)
NOW = "uname -r && cat /proc/sys/kernel/random/boot_id"
_PLACE = "umask 077; place=${XDG_STATE_HOME:-$HOME/.local/state}/scalograph; kept=$place/first-kernel\n"
# Two releases: of the kernel that was found at first, and of the one that was booted instead.
KEPT = f'{_PLACE}[ ! -f "$kept" ] || head -c 256 -- "$kept"'
FORGET = f'{_PLACE}rm -f -- "$kept"'
# $1 release, $2 that of the first kernel. What is kept is on the disk before the other one is booted.
BOOT = f"""\
{_PLACE}\
if [ "$1" = "$2" ]; then {PROGRAM} "$1" && rm -f -- "$kept"; exit; fi
mkdir -p -- "$place" && echo "$2 $1" >"$kept.new" && sync "$kept.new" && mv -f -- "$kept.new" "$kept" &&
  sync "$place" && exec {PROGRAM} "$1"
"""


class Boot(NamedTuple):
    """A boot of the machine: the release of its kernel, and what the kernel calls that boot."""

    release: str
    boot_id: str


def called_reboot(name: str) -> str:
    """Return a machine that is booted as a message names it."""
    return f"--host reboot:{name}"


def installed_kernels(name: str) -> tuple[str, ...]:
    """Return the releases of the kernels that a machine has in /boot. Raises HostError."""
    files = call(name, ("ls", "/boot")).splitlines()
    named = (file.removeprefix("vmlinuz-") for file in files if file.startswith("vmlinuz-"))
    return tuple(sorted(release for release in named if _RELEASE.fullmatch(release)))


def running(name: str) -> Boot:
    """Return the boot that a machine is in. Raises UnreachableError, HostError."""
    answer = call(name, script(NOW), limit_s=_ASK_S)
    if (found := _NOW.fullmatch(answer)) is None:
        raise HostError(called_reboot(name), f"told {last_line(answer)}", "its kernel and its boot", HOWTO)
    return Boot(found[1], found[2])


def first_of_killed(name: str, release: str) -> str | None:
    """Return the release that a machine ran before a start booted the one that runs, and was killed; else None.

    Args:
        name: of the machine, as ssh knows it.
        release: of the kernel that runs.

    Raises:
        HostError: no connection.
    """
    first, _, booted = call(name, script(KEPT)).strip().partition(" ")
    return first if booted == release != first and _RELEASE.fullmatch(first) else None


def begin_boot(name: str, release: str, first: str) -> None:
    """Have a kernel booted, once it is kept there which one ran at first.

    Args:
        name: of the machine, as ssh knows it.
        release: of the kernel.
        first: release of the kernel that was found at first; if it is that one, nothing is kept any more.

    Raises:
        HostError: the program there says why not, or its home cannot be written to.
    """
    try:
        call(name, script(BOOT, release, first), limit_s=_ASK_S)
    except UnreachableError:
        pass  # it may take the connection along
    except HostError as error:
        found = f"{PROGRAM} {release}: {error.problems[0].found}"
        raise HostError(called_reboot(name), found, "a reboot into that kernel", HOWTO) from None


def forget_first(name: str) -> None:
    """Remove what is kept there of the first kernel, which runs. Raises HostError."""
    call(name, script(FORGET))
