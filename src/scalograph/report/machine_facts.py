"""Format the facts of the machine as names and values."""

import math
from typing import Any

from scalograph.text.format import number
from scalograph.text.scale import scale_for

# In the order readers ask for them; other facts follow as recorded.
ORDER = (
    "cpu_model", "architecture", "clock_mhz", "caches", "hypervisor", "n_cpus", "smt", "topology", "memory_bytes",
    "disk_rotational", "distribution", "kernel", "kernel_command_line", "compiler",
    "microcode", "governor", "clocksource", "autogroup", "cpu_accounting", "jvms_used", "jvms", "probe",
)  # fmt: skip
NAMES = {
    "jvms_used": "JVM used", "jvms": "JVMs found", "cpu_model": "CPU", "n_cpus": "CPUs", "smt": "SMT",
    "cpu_accounting": "user and system time", "clock_mhz": "clock when it was read (MHz)", "caches": "caches of a CPU",
    "disk_rotational": "disk of / rotates (as the kernel has it)",
}  # fmt: skip


def facts(values: dict[str, Any]) -> list[tuple[str, str]]:
    """Return name and value of each fact of the machine as texts.

    >>> facts({"memory_bytes": 8589934592, "smt": {"active": False}, "microcode": None})
    [('SMT', 'active: no'), ('memory', '8 GiB'), ('microcode', 'not known')]
    """
    ordered = [*(name for name in ORDER if name in values), *(name for name in values if name not in ORDER)]
    return [(NAMES.get(name) or _name(name), _value_text(name, values[name])) for name in ordered]


def _name(name: str) -> str:
    for ending in ("_bytes", "_ns", "_s"):
        name = name.removesuffix(ending)
    return name.removeprefix("n_").replace("_", " ")


def _value_text(name: str, value: Any) -> str:
    if value is None:
        return "not known"
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, int | float):
        return _number_text(name, value)
    if isinstance(value, dict):
        return "; ".join(f"{_name(str(k))}: {_value_text(str(k), v)}" for k, v in value.items()) or "none"
    if isinstance(value, list):
        if not all(isinstance(v, dict) for v in value):
            return ", ".join(_value_text(name, v) for v in value) or "none"
        fields = dict.fromkeys(field for v in value for field in v)
        return _value_text(name, {field: _distinct([v.get(field) for v in value]) for field in fields})
    return str(value)


def _distinct(values: list[Any]) -> Any:
    distinct = list({str(v): v for v in values}.values())
    if len(distinct) == 1:
        return distinct[0]
    whole = sorted(v for v in distinct if isinstance(v, int) and not isinstance(v, bool))
    if len(whole) == len(distinct) > 2 and whole[-1] - whole[0] == len(whole) - 1:
        return f"{whole[0]} to {whole[-1]}"
    return distinct


def _number_text(name: str, value: float) -> str:
    unit = next((u for u in ("bytes", "ns", "s") if name.endswith(f"_{u}")), "")
    if not unit or not math.isfinite(value):
        return number(value)
    scale = scale_for(unit, [value])
    return f"{number(float(f'{value * scale.factor:.3g}'))} {scale.unit}"
