"""Controls by name, and all controls of a configuration together."""

from dataclasses import replace

import pytest

from scalograph.control.apply import apply, configuration_refusals, find_wrong_masks, hold
from scalograph.control.control import Launch, LevelError
from scalograph.protocol.facts import HostFacts
from scalograph.protocol.record import Record
from scalograph.study.load import parse
from scalograph.study.model import Study
from scalograph.system.topology import read_topology
from tests.kit.records import placed
from tests.unit.control.trees import grown, two_sockets

HEAD = """
version = 1
name = "n"
title = "t"
work = "total"
seed = 0
[workload]
command = ["true"]
"""


def study(**controls: str) -> Study:
    """A study with a factor for each control; the levels do not matter here."""
    form = '[factors.f_{0}]\ncontrol = "{1}"\nlevels = {2}\n'
    factors = [form.format(name, name.replace("_", "-"), levels) for name, levels in controls.items()]
    return parse(HEAD + ("".join(factors) or "[factors.plain]\nlevels = [1]\n"))


@pytest.fixture(scope="module")
def host(tmp_path_factory: pytest.TempPathFactory) -> HostFacts:
    return HostFacts(cpus=read_topology(grown(tmp_path_factory.mktemp("host"), two_sockets())))


def record(*masks: tuple[int, ...]) -> Record:
    return placed(*({"cpus": list(mask)} for mask in masks))


def test_count_and_placement_make_the_mask_whatever_their_order(host: HostFacts) -> None:
    configuration = {"f_cpus": 2, "f_placement": "scatter"}
    for made in (study(cpus="[2]", placement='["scatter"]'), study(placement='["scatter"]', cpus="[2]")):
        assert apply(made, configuration, Launch(), host).cpus == (0, 8)
    assert apply(study(cpus="[2]"), {"f_cpus": 2}, Launch(), host).cpus == (0, 16)


@pytest.mark.parametrize(
    ("placement", "mask"), [("compact", None), ("scatter", tuple(range(32))), ("one-per-core", tuple(range(16)))]
)
def test_a_placement_alone_takes_as_many_as_it_has(
    host: HostFacts, placement: str, mask: tuple[int, ...] | None
) -> None:
    assert apply(study(placement='["compact"]'), {"f_placement": placement}, Launch(), host).cpus == mask


def test_without_controls_nothing_changes(host: HostFacts) -> None:
    launch = Launch(argv=("a",), env={"A": "1"}, copies=3, values={"threads": 1})
    assert apply(study(), {"plain": 1}, launch, host) == launch
    assert list(hold(study(), {"plain": 1}, host)) == []


def test_all_controls_together(host: HostFacts) -> None:
    made = study(cpus="[1]", policy='["rr:3"]', nice="[5]", jvm_options='["-Xint"]', isolation='["shared"]')
    configuration = {"f_cpus": 1, "f_policy": "rr:3", "f_nice": 5, "f_jvm_options": "-Xint", "f_isolation": "shared"}
    launch = apply(made, configuration, Launch(values={"x": 1}), host)
    assert (launch.cpus, launch.policy, launch.priority, launch.nice, launch.exclusive) == ((0,), "rr", 3, 5, False)
    assert launch.values == {"x": 1, "jvm_options": ["-Xint"]}


@pytest.mark.parametrize(
    ("configuration", "said"),
    [
        ({"f_cpus": 17, "f_placement": "one-per-core"}, "17 CPUs placed one-per-core, expected 1 to 16 on this host"),
        ({"f_cpus": 32, "f_isolation": "exclusive"}, "32 exclusive CPUs of 32, expected one left for the rest"),
        ({"f_isolation": "exclusive"}, "exclusive CPUs without a count, expected a count; add a factor with control"),
    ],
)
def test_levels_that_do_not_go_together_are_refused_before_a_run(
    host: HostFacts, configuration: dict[str, int | str], said: str
) -> None:
    levels = {"cpus": "[1]", "placement": '["compact"]', "isolation": '["shared"]'}
    made = study(**{name: level for name, level in levels.items() if f"f_{name}" in configuration})
    with pytest.raises(LevelError, match=said):
        apply(made, configuration, Launch(), host)
    told = configuration_refusals(made, host)(configuration)
    assert told is not None and told.startswith(said)


def test_what_can_be_set_is_not_refused(host: HostFacts) -> None:
    made = study(cpus="[1]", isolation='["shared"]')
    assert configuration_refusals(made, host)({"f_cpus": 31, "f_isolation": "exclusive"}) is None


def test_the_mask_is_read_back_cpu_by_cpu(host: HostFacts) -> None:
    made, configuration = study(cpus="[2]", placement='["scatter"]'), {"f_cpus": 2, "f_placement": "scatter"}
    launches = [apply(made, configuration, Launch(), host)]
    assert find_wrong_masks(launches, record((0, 8), (8, 0))) == []
    assert find_wrong_masks(launches, record((0, 8), (0, 1))) == ["cpus: asked for 0,8 (scatter), in force were 0-1"]
    named = [replace(launches[0], name="app")]
    assert find_wrong_masks(named, record((0,))) == ["cpus of app: asked for 0,8 (scatter), in force were 0"]


def test_exclusive_cpus_are_held_after_everything_else(host: HostFacts) -> None:
    made = study(isolation='["exclusive"]', cpus="[2]")
    assert len(list(hold(made, {"f_isolation": "exclusive", "f_cpus": 2}, host))) == 3
    assert len(list(hold(made, {"f_isolation": "shared", "f_cpus": 2}, host))) == 2
