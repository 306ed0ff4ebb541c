"""What a study wants of the machine before each run: done by us (`[reset]`), or there already (`[conditions]`)."""

import re
from collections.abc import Mapping
from typing import Any, Literal

from scalograph.study.control_names import CONTROLS
from scalograph.study.fields import StudyPart

# What a condition may be of, and its values; of settings that a control changes, any value.
CONDITIONS: Mapping[str, tuple[str, ...]] = {
    "swap": ("on", "off"),
    "smt": ("on", "off"),
    "governor": (),
    "thp": ("always", "madvise", "never"),
    "sysctl:NAME": (),
    "io-scheduler:NAME": (),
}


class Reset(StudyPart):
    """What is done before each run: `sync` writes back what is dirty, `drop_caches` as the kernel's setting does."""

    sync: bool = False
    drop_caches: Literal[1, 2, 3] | None = None


NO_RESET = Reset()


def refuse_condition(name: Any, value: Any) -> tuple[str, str] | None:
    """Return what was found and expected of a condition that cannot be checked; None of one that can."""
    base, colon, of = str(name).partition(":")
    row = f"{base}:NAME" if colon else base
    if row not in CONDITIONS:
        return f'"{name}"', "one of " + ", ".join(CONDITIONS)
    if colon and not re.fullmatch(CONTROLS[row].named, of, re.ASCII):
        return f'"{name}"', CONTROLS[row].called
    if CONDITIONS[row] and value not in CONDITIONS[row]:
        return repr(value)[:60], "one of " + ", ".join(CONDITIONS[row])
    return None
