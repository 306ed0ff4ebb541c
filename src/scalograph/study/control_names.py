"""Name the controls that a factor may have, and what a study must know of each before a machine is looked at.

The rows stand here rather than beside the controls: a study names its controls, and is checked by them, on a lower
floor than they are. Nothing of a control is imported before it is asked for. A further control is a file and a row;
`scalograph.control.control` says what the file defines.
"""

from typing import Literal, NamedTuple


class ControlRow(NamedTuple):
    """A control.

    Attributes:
        defined: "module:class".
        kind: of the factors that it controls, unless they say otherwise.
        fills: the name that a command must hold, where the level reaches the program through it alone.
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
