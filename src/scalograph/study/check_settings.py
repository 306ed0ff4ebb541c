"""Mistakes in what a study wants of the machine: names of settings, one factor for each, known conditions."""

from collections.abc import Iterator
from typing import Any

from scalograph.study.control_names import misnamed, row_of, variable
from scalograph.study.cross_checks import Found, table
from scalograph.study.known_names import meant
from scalograph.study.reset import CONDITIONS, refuse_condition


def unsettable(raw: dict[str, Any]) -> Iterator[Found]:
    """Find settings that are named wrongly, set by two factors, or set by a factor and declared as a condition."""
    setters: dict[str, str] = {}
    for name, factor in table(raw, "factors").items():
        written = factor.get("control") if isinstance(factor, dict) else None
        control = written if isinstance(written, str) else ""
        where = ("factors", name, "control")
        if expected := misnamed(control):
            yield where, f"found {control.partition(':')[2]!r}", expected, "correct it"
        elif not variable(control) and (row := row_of(control)) and row.machine_wide:
            if (other := setters.setdefault(_limit(control), name)) != name:
                found = f"the factor {other} sets the same setting, in this or another unit"
                yield where, found, "one factor for each setting", "remove one of them"
            if control in table(raw, "conditions"):
                yield where, f"{control} is a condition already", "one of the two", "remove the condition"
    for name, value in table(raw, "conditions").items():
        if wrong := refuse_condition(name, value):
            found, expected = wrong
            yield ("conditions", name), f"found {found}", expected, meant(name, CONDITIONS) or "correct it"


def _limit(control: str) -> str:
    """Name the limit that a setting is of: some have two, in bytes and as a share, and each sets the other to 0."""
    for unit in ("_bytes", "_kbytes", "_ratio"):
        if control.startswith(("sysctl:vm.dirty_", "sysctl:vm.overcommit_")) and control.endswith(unit):
            return control.removesuffix(unit)
    return control
