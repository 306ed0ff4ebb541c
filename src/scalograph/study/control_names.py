"""The controls that a factor may name, and what a study knows of each without a machine.

Rows are here because a study is checked on a lower floor than the controls, which are imported on first use. A new
control is a file and a row; `scalograph.control.control` says what the file defines. A name `X:NAME` stands for many.
"""

import re
from collections.abc import Mapping
from typing import Annotated, Any, Literal, NamedTuple

from pydantic import Field

from scalograph.study.fields import Duration, Percent, StudyPart

# What `protocol.vary` may name, and the variables that are drawn for it; the kernel itself draws the layout.
DRAWN: Mapping[str, tuple[str, ...]] = {
    "env": ("SCALOGRAPH_PADDING",), "hash-seed": ("PYTHONHASHSEED", "PERL_HASH_SEED"), "layout": (),
}  # fmt: skip


class ControlRow(NamedTuple):
    """A control in the registry.

    Attributes:
        defined: "module:class".
        kind: of its factors, unless they say otherwise.
        fills: the name that a command must hold if the level reaches the program only through it.
        machine_wide: whether it changes a setting of the whole machine, which needs consent.
        named: pattern of NAME; `called` says what it is.
    """

    defined: str
    kind: Literal["placement", "tunable"] = "tunable"
    fills: str | None = None
    machine_wide: bool = False
    named: str = r".+"
    called: str = "a name"


CONTROLS: dict[str, ControlRow] = {
    "cpus": ControlRow("scalograph.control.placement:CpusControl", "placement"),
    "placement": ControlRow("scalograph.control.placement:PlacementControl", "placement"),
    "isolation": ControlRow("scalograph.control.isolation:IsolationControl", "placement"),
    "online": ControlRow("scalograph.control.online:OnlineControl", "placement", machine_wide=True),
    "quota": ControlRow("scalograph.control.capacity:QuotaControl"),
    "memory": ControlRow("scalograph.control.memory:MemoryControl"),
    "tasks": ControlRow("scalograph.control.tasks:TasksControl"),
    "policy": ControlRow("scalograph.control.scheduler:PolicyControl"),
    "nice": ControlRow("scalograph.control.scheduler:NiceControl"),
    "jvm": ControlRow("scalograph.control.jvm:JvmControl", fills="java"),
    "jvm-options": ControlRow("scalograph.control.jvm:JvmOptionsControl", fills="jvm_options"),
    "arguments": ControlRow("scalograph.control.jvm:ArgumentsControl", fills="arguments"),
    "env:NAME": ControlRow("scalograph.control.jvm:EnvironmentControl"),
    "kernel": ControlRow("scalograph.control.kernel:KernelControl"),
    "boot-options": ControlRow("scalograph.control.kernel:BootOptionsControl"),
    "cluster:NAME": ControlRow(
        "scalograph.control.cluster:ClusterControl",
        "placement",
        named="nodes|tasks-per-node|cpus-per-task|constraint|partition|launcher",
        called="one of nodes, tasks-per-node, cpus-per-task, constraint, partition, launcher",
    ),
    "sysctl:NAME": ControlRow(
        "scalograph.control.sysctl:SysctlControl",
        machine_wide=True,
        named=r"[a-z][a-z0-9_-]{0,63}(\.[A-Za-z0-9][A-Za-z0-9_-]{0,63}){1,7}",
        called="the name of a kernel setting, such as vm.swappiness",
    ),
    "io-scheduler:NAME": ControlRow(
        "scalograph.control.sysctl:IoSchedulerControl",
        machine_wide=True,
        named=r"[a-z][a-z0-9_-]{0,31}",
        called="the name of a block device, such as sda",
    ),
    "thp": ControlRow("scalograph.control.sysctl:HugePagesControl", machine_wide=True),
    "governor": ControlRow("scalograph.control.sysctl:GovernorControl", machine_wide=True),
    "turbo": ControlRow("scalograph.control.sysctl:TurboControl", machine_wide=True),
    "scheduler": ControlRow("scalograph.control.ext_scheduler:SchedulerControl", machine_wide=True),
}


def control_row(control: str) -> ControlRow | None:
    """Return the row of a control as written in a study; None if there is none.

    >>> control_row("env:LD_PRELOAD") is CONTROLS["env:NAME"], control_row("env"), control_row("env:")
    (True, None, None)
    """
    base, colon, name = control.partition(":")
    return CONTROLS.get(f"{base}:NAME" if colon and name else base if not colon else "")


def expected_control_name(control: str) -> str | None:
    """Return what NAME of a control must be where it is not; None otherwise.

    >>> expected_control_name("sysctl:vm.page-cluster"), expected_control_name("sysctl:../x")
    (None, 'the name of a kernel setting, such as vm.swappiness')
    """
    row = control_row(control)
    name = control.partition(":")[2]
    return row.called if row and name and not re.fullmatch(row.named, name, re.ASCII | re.DOTALL) else None


def environment_variable(control: object) -> str | None:
    """Return the environment variable that a control sets; None of every other control.

    >>> environment_variable("env:LD_PRELOAD"), environment_variable("cpus")
    ('LD_PRELOAD', None)
    """
    base, _, name = control.partition(":") if isinstance(control, str) else ("", "", "")
    return name if base == "env" and name else None


# What a condition may be of, and its values; of settings that a control changes, any value.
CONDITIONS: Mapping[str, tuple[str, ...]] = {
    "swap": ("on", "off"), "smt": ("on", "off"), "governor": (), "thp": ("always", "madvise", "never"),
    "sysctl:NAME": (), "io-scheduler:NAME": (),
}  # fmt: skip


class ClusterLimits(StudyPart):
    """Keys of `protocol` for a cluster: idle share of a job's node-hours; seconds that each node is timed alone.

    `max_node_hours`: no block begins that is not expected to end within them.
    """

    max_idle: Percent | None = Field(default=None, exclude_if=lambda share: share is None)
    max_node_hours: Annotated[float, Field(gt=0, le=1e9)] | None = Field(
        default=None, exclude_if=lambda hours: hours is None
    )
    node_reference_s: Annotated[Duration, Field(le=600)] | None = Field(
        default=None, alias="node_reference", exclude_if=lambda asked: asked is None
    )


class Reset(StudyPart):
    """Resets before each run: `sync` writes back dirty pages, `drop_caches` as the kernel's setting does."""

    sync: bool = False
    drop_caches: Literal[1, 2, 3] | None = None


# Where the output of a command may go, other than to a file.
STDOUT = ("null", "pipe", "tty")
NO_RESET = Reset()


def refuse_condition(name: Any, value: Any) -> tuple[str, str] | None:
    """Return what was found and expected of a wrong condition; None for a valid one."""
    base, colon, of = str(name).partition(":")
    row = f"{base}:NAME" if colon else base
    if row not in CONDITIONS:
        return f'"{name}"', "one of " + ", ".join(CONDITIONS)
    if colon and not re.fullmatch(CONTROLS[row].named, of, re.ASCII):
        return f'"{name}"', CONTROLS[row].called
    if CONDITIONS[row] and value not in CONDITIONS[row]:
        return repr(value)[:60], "one of " + ", ".join(CONDITIONS[row])
    return None
