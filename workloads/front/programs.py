"""The programs that may stand in front, one module each, and what the programs here were asked for (NAME=VALUE)."""

import os
import re
import shutil
import sys
from typing import NoReturn

import haproxy
import nginx

USAGE, UNAVAILABLE = 64, 69
FRONTS = {"haproxy": haproxy, "nginx": nginx}
# Where distributions keep servers, which is not on everybody's PATH.
APART = ("/usr/local/sbin", "/usr/sbin", "/sbin")
# Root's files belong to another user there: a server started by root has no more rights than one of anybody.
UNPRIVILEGED = ("unshare", "--user", "--map-user=1000", "--map-group=1000")


def end(code: int, text: str) -> NoReturn:
    """End the program with one sentence (protocol/workload.md)."""
    print(text, file=sys.stderr)
    sys.exit(code)


def parse(arguments: list[str], **defaults: str) -> dict[str, str]:
    """Return the values by name; a wrong name, or a front that nobody knows, ends the program."""
    given = dict(defaults)
    for name, _, text in (argument.partition("=") for argument in arguments):
        if name not in defaults:
            end(USAGE, f"arguments: found {name[:40]}, expected one of {', '.join(defaults)}")
        given[name] = text
    if given["front"] not in FRONTS:
        end(USAGE, f"front: found {given['front'][:40]}, expected one of {', '.join(FRONTS)}")
    return given


def port_of(text: str, name: str) -> int:
    """Return a port; what is none ends the program."""
    if not re.fullmatch(r"[0-9]{1,5}", text, re.ASCII) or not 1 <= int(text) <= 65_535:
        end(USAGE, f"{name}: found {text[:40]}, expected a port from 1 to 65535")
    return int(text)


def targets_of(text: str) -> list[str]:
    """Return HOST:PORT of each server; anything that a configuration could take for more ends the program."""
    found = text.split(",")
    for target in found:
        host, _, port = target.rpartition(":")
        if not re.fullmatch(r"[A-Za-z0-9.-]{1,255}", host):
            end(USAGE, f"targets: found {target[:80]!a}, expected HOST:PORT")
        port_of(port, "targets")
    return found


def find(name: str) -> str:
    """Return the path of a program; without it the program ends."""
    path = os.pathsep.join([os.environ.get("PATH", os.defpath), *APART])
    return shutil.which(name, path=path) or end(
        UNAVAILABLE, f"{name}: not found; install it with: apt-get install {name}"
    )


def unprivileged(argv: list[str]) -> list[str]:
    """Return a command that has no rights of root even if root gives it."""
    if os.geteuid() != 0:
        return argv
    if shutil.which(UNPRIVILEGED[0]) is None:
        end(UNAVAILABLE, "unshare: not found, without which root would start a server as root; use another user")
    return [*UNPRIVILEGED, *argv]
