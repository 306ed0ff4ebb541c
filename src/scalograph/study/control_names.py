"""The controls that a factor may have, and what a study must know about each without a machine.

The rows are here rather than beside the controls because a study names its controls and is checked by them on a lower
floor. No control is imported before it is used. A further control is a file and a row; `scalograph.control.control`
says what the file defines. A name that ends in `:NAME` is of many controls alike, one for each NAME.
"""

from typing import Literal, NamedTuple


class ControlRow(NamedTuple):
    """A control.

    Attributes:
        defined: "module:class".
        kind: of the factors that it controls, unless they say otherwise.
        fills: the name that a command must hold if the level reaches the program only through it.
    """

    defined: str
    kind: Literal["placement", "tunable"] = "tunable"
    fills: str | None = None


CONTROLS: dict[str, ControlRow] = {
    "cpus": ControlRow("scalograph.control.cpus:CpusControl", "placement"),
    "placement": ControlRow("scalograph.control.placement:PlacementControl", "placement"),
    "isolation": ControlRow("scalograph.control.isolation:IsolationControl", "placement"),
    "quota": ControlRow("scalograph.control.capacity:QuotaControl"),
    "tasks": ControlRow("scalograph.control.tasks:TasksControl"),
    "policy": ControlRow("scalograph.control.scheduler:PolicyControl"),
    "nice": ControlRow("scalograph.control.scheduler:NiceControl"),
    "jvm": ControlRow("scalograph.control.jvm:JvmControl", fills="java"),
    "jvm-options": ControlRow("scalograph.control.jvm:JvmOptionsControl", fills="jvm_options"),
    "env:NAME": ControlRow("scalograph.control.environment:EnvironmentControl"),
    "kernel": ControlRow("scalograph.control.kernel:KernelControl"),
    "boot-options": ControlRow("scalograph.control.kernel:BootOptionsControl"),
}


def row_of(control: str) -> ControlRow | None:
    """Return the row of a control as a study writes it; None if there is none.

    >>> row_of("env:LD_PRELOAD") is CONTROLS["env:NAME"], row_of("env"), row_of("env:")
    (True, None, None)
    """
    base, colon, name = control.partition(":")
    return CONTROLS.get(f"{base}:NAME" if colon and name else base if not colon else "")


def variable(control: object) -> str | None:
    """Return the environment variable that a control sets; None of every other control.

    >>> variable("env:LD_PRELOAD"), variable("cpus")
    ('LD_PRELOAD', None)
    """
    base, _, name = control.partition(":") if isinstance(control, str) else ("", "", "")
    return name if base == "env" and name else None
