"""What a run asks of its driver: the parameters of workload.toml, as `name=value`, checked against it."""

import re
import sys
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NoReturn

USAGE, UNAVAILABLE, FAILED = 64, 69, 70
TYPES = {"int": int, "float": float, "text": str}
_TARGET = re.compile(r"([A-Za-z0-9.-]+|\[[0-9A-Fa-f:.]+\]):([0-9]{1,5})")
_LOOPBACK = re.compile(r"127(?:\.[0-9]{1,3}){3}|localhost|\[::1\]")
_PATH = re.compile(r"/[!-~]*")


@dataclass(frozen=True)
class Asked:
    """One load: clients of a closed loop, or `rate` requests per second over `connections` of an open one."""

    tool: str
    target: str
    path: str
    is_open: bool
    clients: int
    rate: float
    connections: int
    warmup: int
    ramp_s: float
    steady_s: float
    timeout_s: float
    threads: int

    @property
    def url(self) -> str:
        """What is asked for."""
        return f"http://{self.target}{self.path}"

    @property
    def is_here(self) -> bool:
        """Whether the server is on this machine."""
        return _LOOPBACK.fullmatch(self.target.rpartition(":")[0]) is not None

    @property
    def at_once(self) -> int:
        """Requests that may be in flight together."""
        return self.connections if self.is_open else self.clients


def leave(code: int, text: str) -> NoReturn:
    """Say one sentence and end the program (protocol/workload.md)."""
    print(text, file=sys.stderr)
    sys.exit(code)


def parse(arguments: Sequence[str]) -> Asked:
    """Return what is asked for; a wrong value, or what the tool cannot do, ends the program."""
    declared = tomllib.loads((Path(__file__).parent / "workload.toml").read_text(encoding="utf-8"))
    parameters = declared["parameters"]
    given: dict[str, Any] = {name: parameter["default"] for name, parameter in parameters.items()}
    for name, _, text in (argument.partition("=") for argument in arguments):
        if name not in parameters:
            leave(USAGE, f"arguments: found {name[:40]}, expected one of {', '.join(parameters)}")
        given[name] = _value(name, parameters[name], text)
    for requirement in declared["requires"]:
        if all(given[name] in levels for name, levels in requirement["when"].items()):
            leave(UNAVAILABLE, requirement["refuse"])
    return _asked(given)


def _value(name: str, parameter: Mapping[str, Any], text: str) -> str | int | float:
    choices, low, high = (parameter.get(key) for key in ("choices", "min", "max"))
    expected = " or ".join(choices or []) or f"{parameter['type']} from {low} to {high}"
    try:
        value = TYPES[parameter["type"]](text)
    except ValueError:
        leave(USAGE, f"{name}: found {text[:40]}, expected {expected}")
    is_right = value in choices if choices else low is None or low <= value <= high
    return value if is_right else leave(USAGE, f"{name}: found {text[:40]}, expected {expected}")


def _asked(given: Mapping[str, Any]) -> Asked:
    target, path = given["targets"], given["path"]
    if "," in target:
        leave(UNAVAILABLE, f"targets: found several, expected one: {given['tool']} sends to one server")
    found = _TARGET.fullmatch(target)
    if found is None or not 1 <= int(found[2]) <= 65_535:
        leave(USAGE, f"targets: found {target[:40]}, expected HOST:PORT")
    if given["remote"] == "no" and not _LOOPBACK.fullmatch(found[1]):
        leave(USAGE, f"targets: found {found[1][:40]}, expected this machine, 127.0.0.1; remote=yes allows another one")
    if not _PATH.fullmatch(path):
        leave(USAGE, f"path: found {path[:40]}, expected / and characters that a URL may have")
    kept = ("tool", "path", "clients", "rate", "connections", "warmup", "ramp_s", "steady_s", "threads")
    return Asked(
        **{name: given[name] for name in kept}, target=target, is_open=given["loop"] == "open",
        timeout_s=given["timeout_ms"] / 1000,
    )  # fmt: skip
