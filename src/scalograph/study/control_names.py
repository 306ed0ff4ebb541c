"""The controls that a factor may have, and what a study must know about each without a machine.

The rows are here rather than beside the controls because a study names its controls and is checked by them on a lower
floor. No control is imported before it is used. A further control is a file and a row; `scalograph.control.control`
says what the file defines.
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
    "policy": ControlRow("scalograph.control.scheduler:PolicyControl"),
    "nice": ControlRow("scalograph.control.scheduler:NiceControl"),
    "jvm": ControlRow("scalograph.control.jvm:JvmControl", fills="java"),
    "jvm-options": ControlRow("scalograph.control.jvm:JvmOptionsControl", fills="jvm_options"),
}
