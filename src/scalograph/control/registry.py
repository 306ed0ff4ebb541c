"""Controls by name."""

from scalograph.control.base import Control
from scalograph.control.capacity import QuotaControl
from scalograph.control.cpus import CpusControl
from scalograph.control.isolation import IsolationControl
from scalograph.control.jvm import JvmControl, JvmOptionsControl
from scalograph.control.placement import PlacementControl
from scalograph.control.scheduler import NiceControl, PolicyControl
from scalograph.errors import StudyError

_ALL: tuple[Control, ...] = (
    CpusControl(),
    PlacementControl(),
    IsolationControl(),
    QuotaControl(),
    PolicyControl(),
    NiceControl(),
    JvmControl(),
    JvmOptionsControl(),
)
CONTROLS = {control.name: control for control in _ALL}


def control(name: str) -> Control:
    """The control of a name.

    Raises:
        StudyError: there is none; lists those there are.
    """
    if name not in CONTROLS:
        raise StudyError.one("control", f'no control "{name}"', "one of " + ", ".join(CONTROLS))
    return CONTROLS[name]
