"""What is learned of the machine before the first run, as events for the journal. It never stops a study."""

from collections.abc import Mapping, Sequence
from typing import Any

from scalograph.cli.console import say
from scalograph.errors import HostError
from scalograph.machine.floor.kept import read_noise
from scalograph.run.session import Plan


def examined(planned: Plan, probe: Sequence[str], ceiling: bool, noise: bool) -> Mapping[str, Mapping[str, Any]]:
    """`noise` where a floor of this machine is kept (ten runs, about 3 s); `ceiling` where that was asked for.

    Args:
        planned: the study.
        probe: program and arguments of the probe.
        noise: whether to hold the machine's noise against its floor.
        ceiling: whether to hold the study against what the machine itself scales to.
    """
    found: dict[str, Mapping[str, Any]] = {}
    if noise and (look := _noise(planned, probe)) is not None:
        found["noise"] = look
    if ceiling and (measured := _ceiling(planned, probe)) is not None:
        found["ceiling"] = {"ceiling": measured}
    return found


def _noise(planned: Plan, probe: Sequence[str]) -> Mapping[str, Any] | None:
    from scalograph.machine.floor.floor import STUDY

    kept = read_noise()
    if kept is None or kept.floor is None or not kept.is_of(planned.facts) or planned.declared.study.name == STUDY:
        return None
    from scalograph.machine.floor.measure import recheck

    try:
        found = recheck(planned.facts, probe, kept)
    except HostError as error:
        say(f"the noise floor was not looked at again: {error}", "yellow")
        return None
    return None if found is None else found.model_dump(mode="json")


def _ceiling(planned: Plan, probe: Sequence[str]) -> Mapping[str, Any] | None:
    from scalograph.machine.ceiling.kept import machine_ceiling

    say("what this machine itself scales to: about 20 s where it is not known yet")
    try:
        return machine_ceiling(planned.facts, probe).model_dump(mode="json")
    except HostError as error:
        say(f"no ceiling: {error}", "yellow")
        return None
