"""The machine settings that Scalograph may change: a closed list, each with its way back.

A record of a change names one of them and nothing else that could be written to: no path, no command.
"""

from collections.abc import Mapping
from enum import StrEnum
from typing import Literal, Protocol, Self

from pydantic import BaseModel, ConfigDict, model_validator

from scalograph.control.cgroups import LEAF


class Setting(StrEnum):
    """What may be changed."""

    CPUSET_DELEGATION = "cpuset-delegation"
    EXCLUSIVE_LEAF = "exclusive-leaf"


class Tree(Protocol):
    """The part of the machine that is changed; tests have one without a kernel."""

    def delegated(self) -> bool:
        """Whether leaves have the files of cpuset."""

    def delegate(self, on: bool) -> None:
        """Give or take them."""

    def has_leaf(self, name: str) -> bool:
        """Whether the leaf is there."""

    def remove_leaf(self, name: str) -> None:
        """With everything in it."""


class Change(BaseModel):
    """One setting and its value before the change: "off" for the delegation, "absent" for the named leaf."""

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True)

    setting: Setting
    old: Literal["off", "absent"]
    leaf: str = ""

    @model_validator(mode="after")
    def _known(self) -> Self:
        if self.setting == Setting.EXCLUSIVE_LEAF:
            if self.old != "absent" or not LEAF.fullmatch(self.leaf):
                raise ValueError("a leaf is named scalograph-HEX and was absent")
        elif self.old != "off" or self.leaf:
            raise ValueError("the delegation was off, and has no leaf")
        return self

    def __str__(self) -> str:
        return _WORDS[self.setting].format(leaf=self.leaf)


_WORDS: Mapping[str, str] = {
    Setting.CPUSET_DELEGATION: "cpuset in cgroup.subtree_control of the cgroup v2 root: off",
    Setting.EXCLUSIVE_LEAF: "cgroup {leaf} with its exclusive CPUs: removed",
}


def delegation() -> Change:
    """Leaves are about to get the files of cpuset."""
    return Change(setting=Setting.CPUSET_DELEGATION, old="off")


def exclusive_leaf(name: str) -> Change:
    """A leaf is about to be made."""
    return Change(setting=Setting.EXCLUSIVE_LEAF, old="absent", leaf=name)


def in_force(change: Change, tree: Tree) -> bool:
    """Whether the setting still differs from its old value."""
    return tree.delegated() if change.setting == Setting.CPUSET_DELEGATION else tree.has_leaf(change.leaf)


def undo(change: Change, tree: Tree) -> None:
    """Back to the old value, where it is not there yet. Raises OSError."""
    if not in_force(change, tree):
        return
    if change.setting == Setting.CPUSET_DELEGATION:
        tree.delegate(False)
    else:
        tree.remove_leaf(change.leaf)
