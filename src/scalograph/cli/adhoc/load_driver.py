"""What sends the requests of `scalograph load`: our own driver, or another program, with what each can do."""

from collections.abc import Container

from scalograph.cli.sweep_options import LoadOptions
from scalograph.errors import StudyError
from scalograph.study.known_names import no_such
from scalograph.study.shipped import shipped
from scalograph.study.workload import load
from scalograph.text.units import parse_duration

# The workloads of our own driver, and of the others.
OWN, OTHERS = "load", "http-drivers"
# What our own driver alone can do.
_OWN_OPTIONS = ("cycle", "down", "status", "contains", "pool")
_FIX = "leave it out, or use --driver load"

Parameters = dict[str, str | int | float]


def driver_use(options: LoadOptions, factors: Container[str]) -> tuple[str, Parameters]:
    """Return the workload that drives, and its parameters but where it sends to.

    Args:
        options: as they were given.
        factors: names of those that vary.

    Raises:
        StudyError: there is no such driver, or it cannot do what an option asks.
    """
    found: Parameters = {f"{key}_s": _duration(f"--{key}", getattr(options, key)) for key in ("ramp", "steady")}
    found |= {"warmup": options.warmup}
    found |= {"loop": "open", "connections": options.connections} if "rate" in factors else {}
    found |= {"remote": "yes"} if options.remote else {}
    if options.driver != OWN:
        _refuse(options, factors)
        return OTHERS, {"tool": options.driver, **found}
    found |= {"down_s": _duration("--down", options.down), "cycle": options.cycle, "status": options.status}
    texts = {key: getattr(options, key) for key in ("contains", "pool")}
    return OWN, found | {key: literal(text) for key, text in texts.items() if text}


def literal(text: str) -> str:
    """Return a text as a template in which nothing is filled."""
    return text.replace("{", "{{").replace("}", "}}")


def _refuse(options: LoadOptions, factors: Container[str]) -> None:
    name = options.driver
    known = [OWN, *map(str, load(shipped(OTHERS)).parameters["tool"].choices or [])]
    if name not in known:
        raise no_such("--driver", f"{name[:40]!r}", name, known)
    for option in _OWN_OPTIONS:
        if getattr(options, option) != getattr(LoadOptions, option):
            raise StudyError.one(f"--{option}", "an option of our own driver", f"one that {name} has", _FIX)
    if "copies" in factors:
        raise StudyError.one("--copies", "several servers", f"one: {name} sends to no more", _FIX)


def _duration(option: str, text: str) -> float:
    try:
        return parse_duration(text)
    except ValueError as error:
        raise StudyError.one(option, str(error)) from error
