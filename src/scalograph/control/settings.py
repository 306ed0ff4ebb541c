"""The machine settings that Scalograph may change: a closed list, each with its way back.

A record of a change names one of them and contains nothing else that could be written to: no path, no command.
"""

import errno
import re
from collections.abc import Mapping
from enum import StrEnum
from typing import Annotated, Protocol, Self

from pydantic import BaseModel, ConfigDict, StringConstraints, model_validator

from scalograph.control.kernel_files import KERNEL, MAX_VALUE, KernelPlace
from scalograph.system.cgroups import LEAF


class Setting(StrEnum):
    """A setting that may be changed."""

    CPUSET_DELEGATION = "cpuset-delegation"
    EXCLUSIVE_LEAF = "exclusive-leaf"
    CPU_DELEGATION = "cpu-delegation"
    QUOTA_LEAF = "quota-leaf"
    TASKS_DELEGATION = "tasks-delegation"
    TASKS_LEAF = "tasks-leaf"
    MEMORY_DELEGATION = "memory-delegation"
    MEMORY_LEAF = "memory-leaf"
    SYSCTL = "sysctl"
    IO_SCHEDULER = "io-scheduler"
    IO_QUEUE = "io-queue"
    THP = "thp"
    GOVERNOR = "governor"
    EPP = "epp"
    TURBO = "turbo"
    ONLINE = "online"


_LEAVES = (Setting.EXCLUSIVE_LEAF, Setting.QUOTA_LEAF, Setting.TASKS_LEAF, Setting.MEMORY_LEAF)
# These belong to the trees of their controllers, which may differ from that of the cpusets.
CPU_TIME_SETTINGS = (Setting.CPU_DELEGATION, Setting.QUOTA_LEAF)
TASK_SETTINGS = (Setting.TASKS_DELEGATION, Setting.TASKS_LEAF)
MEMORY_SETTINGS = (Setting.MEMORY_DELEGATION, Setting.MEMORY_LEAF)


class Tree(Protocol):
    """The part of the machine that is changed, with one controller; tests have one without a kernel."""

    def is_delegated(self) -> bool:
        """Return whether leaves have the controller's files."""

    def delegate(self, on: bool) -> None:
        """Give leaves the controller's files, or take them away."""

    def used_by_others(self) -> bool:
        """Return whether a cgroup other than our leaves uses them."""

    def has_leaf(self, name: str) -> bool:
        """Return whether the leaf exists."""

    def remove_leaf(self, name: str) -> None:
        """Remove a leaf with everything in it."""


class SettingChange(BaseModel):
    """One setting and its value before the change: "off" for a delegation, "absent" for a named leaf."""

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True)

    setting: Setting
    old: Annotated[str, StringConstraints(max_length=MAX_VALUE)]
    leaf: str = ""
    name: str = ""

    @model_validator(mode="after")
    def _check_names(self) -> Self:
        if self.setting in KERNEL:
            if self.leaf or not re.fullmatch(KERNEL[self.setting].names, self.name, re.ASCII):
                raise ValueError("a setting of the kernel has the name of one")
        elif self.setting in _LEAVES:
            if self.old != "absent" or not LEAF.fullmatch(self.leaf) or self.name:
                raise ValueError("a leaf is named scalograph-HEX and was absent")
        elif self.old != "off" or self.leaf or self.name:
            raise ValueError("a delegation was off, and has no leaf")
        return self

    def __str__(self) -> str:
        if self.setting in KERNEL:
            return f"{KERNEL[self.setting].words.format(name=self.name)}: {self.old}"
        return _WORDS[self.setting].format(leaf=self.leaf)


_WORDS: Mapping[str, str] = {
    Setting.CPUSET_DELEGATION: "cpuset in cgroup.subtree_control of the cgroup v2 root: off",
    Setting.EXCLUSIVE_LEAF: "cgroup {leaf} with its exclusive CPUs: removed",
    Setting.CPU_DELEGATION: "cpu in cgroup.subtree_control of the cgroup v2 root: off",
    Setting.QUOTA_LEAF: "cgroup {leaf} with its quota: removed",
    Setting.TASKS_DELEGATION: "pids in cgroup.subtree_control of the cgroup v2 root: off",
    Setting.TASKS_LEAF: "cgroup {leaf} with its limit of tasks: removed",
    Setting.MEMORY_DELEGATION: "memory in cgroup.subtree_control of the cgroup v2 root: off",
    Setting.MEMORY_LEAF: "cgroup {leaf} with its limit of memory: removed",
}


def delegation_change(setting: Setting = Setting.CPUSET_DELEGATION) -> SettingChange:
    """Return the change before leaves get the files of a controller."""
    return SettingChange(setting=setting, old="off")


def leaf_change(setting: Setting, name: str) -> SettingChange:
    """Return the change before a leaf is made."""
    return SettingChange(setting=setting, old="absent", leaf=name)


def is_changed(change: SettingChange, tree: Tree | KernelPlace) -> bool:
    """Return whether the setting still differs from its old value."""
    if isinstance(tree, KernelPlace):
        try:
            return tree.value() != change.old
        except FileNotFoundError:  # the device or the module is gone, and its setting with it
            return False
    return tree.has_leaf(change.leaf) if change.setting in _LEAVES else tree.is_delegated()


def undo(change: SettingChange, tree: Tree | KernelPlace) -> bool:
    """Restore the old value, if the setting still differs; return False if others rely on it. Raises OSError."""
    if not is_changed(change, tree):
        return True
    if isinstance(tree, KernelPlace):
        tree.set(change.old)
        return True
    if change.setting in _LEAVES:
        tree.remove_leaf(change.leaf)
        return True
    # The kernel refuses only while a child delegates the controller; it would silently drop a child's own limits.
    if tree.used_by_others():
        return False
    try:
        tree.delegate(False)
    except OSError as error:
        if error.errno != errno.EBUSY:
            raise
        return False
    return True
