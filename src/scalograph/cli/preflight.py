"""What is learned of the machine before the first run, as events for the journal. It never stops a study."""

from collections.abc import Mapping
from typing import Any

from scalograph.cli.console import say
from scalograph.errors import HostError
from scalograph.run.hosts.base import Host
from scalograph.run.plan import Plan


def examined(planned: Plan, host: Host, ceiling: bool, noise: bool) -> Mapping[str, Mapping[str, Any]]:
    """Look at the machine first: `noise` where it has a floor (ten runs, 3 s), `ceiling` where that was asked for.

    Args:
        planned: the study.
        host: that will run it.
        noise: whether to hold the machine's noise against its floor.
        ceiling: whether to hold the study against what the machine itself scales to.
    """
    found: dict[str, Mapping[str, Any]] = {}
    if noise and (look := _noise(planned, host)) is not None:
        found["noise"] = look
    if ceiling and (measured := _ceiling(host)) is not None:
        found["ceiling"] = {"ceiling": measured}
    return found


def _noise(planned: Plan, host: Host) -> Mapping[str, Any] | None:
    from scalograph.machine.floor.floor import STUDY
    from scalograph.machine.floor.kept_floor import read_noise

    kept = read_noise()
    if kept is None or kept.floor is None or not kept.is_of(planned.facts) or planned.declared.study.name == STUDY:
        return None
    from scalograph.machine.floor.recheck import recheck

    try:
        found = recheck(host, kept)
    except HostError as error:
        say(f"the noise floor was not looked at again: {error}", "yellow")
        return None
    return None if found is None else found.model_dump(mode="json")


def _ceiling(host: Host) -> Mapping[str, Any] | None:
    from scalograph.machine.ceiling.kept_ceiling import machine_ceiling

    say("what this machine itself scales to: about 20 s where it is not known yet")
    try:
        return machine_ceiling(host).model_dump(mode="json")
    except HostError as error:
        say(f"no ceiling: {error}", "yellow")
        return None
