"""Controls by name, and all controls of a configuration together."""

from dataclasses import replace
from typing import Any

import pytest

from scalograph.control.apply import apply, configuration_refusals, find_wrong_masks, hold
from scalograph.control.control import Launch, LevelError
from scalograph.protocol.facts import HostFacts
from scalograph.protocol.record import Record
from scalograph.study.load import parse
from scalograph.study.model import Study
from scalograph.system.topology import read_topology
from tests.kit.records import placed
from tests.kit.studies import a_study
from tests.unit.control.trees import grown, two_sockets


def study(**controls: Any) -> Study:
    """A study with a factor for each control; the levels do not matter here."""
    names = {name: name.replace("_", "-") for name in controls}
    factors = {f"f_{name}": {"control": names[name], "levels": [level]} for name, level in controls.items()}
    return parse(a_study(factors or {"plain": [1]}, command="true" if factors else None))


@pytest.fixture(scope="module")
def host(tmp_path_factory: pytest.TempPathFactory) -> HostFacts:
    return HostFacts(cpus=read_topology(grown(tmp_path_factory.mktemp("host"), two_sockets())))


def record(*masks: tuple[int, ...]) -> Record:
    return placed(*({"cpus": list(mask)} for mask in masks))


@pytest.mark.parametrize(("controls", "mask"), [
    ({"cpus": 2, "placement": "scatter"}, (0, 8)), ({"placement": "scatter", "cpus": 2}, (0, 8)),
    ({"cpus": 2}, (0, 16)),
    # A placement alone takes as many as it has.
    ({"placement": "compact"}, None), ({"placement": "scatter"}, tuple(range(32))),
    ({"placement": "one-per-core"}, tuple(range(16))),
])  # fmt: skip
def test_which_cpus(host: HostFacts, controls: dict[str, int | str], mask: tuple[int, ...] | None) -> None:
    configuration = {f"f_{name}": level for name, level in controls.items()}
    assert apply(study(**controls), configuration, Launch(), host).cpus == mask


def test_without_controls_nothing_changes_or_is_held_and_exclusive_cpus_after_all_else(host: HostFacts) -> None:
    launch = Launch(argv=("a",), env={"A": "1"}, copies=3, values={"threads": 1})
    assert apply(study(), {"plain": 1}, launch, host) == launch
    assert list(hold(study(), {"plain": 1}, host)) == []
    made = study(isolation="exclusive", cpus=2)
    for isolation, n_held in (("exclusive", 3), ("shared", 2)):
        assert len(list(hold(made, {"f_isolation": isolation, "f_cpus": 2}, host))) == n_held


def test_all_controls_together(host: HostFacts) -> None:
    levels = {"cpus": 1, "policy": "rr:3", "nice": 5, "jvm_options": "-Xint", "isolation": "shared"}
    configuration = {f"f_{name}": level for name, level in levels.items()}
    launch = apply(study(**levels), configuration, Launch(values={"x": 1}), host)
    assert (launch.cpus, launch.policy, launch.priority, launch.nice, launch.exclusive) == ((0,), "rr", 3, 5, False)
    assert launch.values == {"x": 1, "jvm_options": ["-Xint"]}


@pytest.mark.parametrize(("configuration", "said"), [
    ({"f_cpus": 17, "f_placement": "one-per-core"}, "17 CPUs placed one-per-core, expected 1 to 16 on this host"),
    ({"f_cpus": 32, "f_isolation": "exclusive"}, "32 exclusive CPUs of 32, expected one left for the rest"),
    ({"f_isolation": "exclusive"}, "exclusive CPUs without a count, expected a count; add a factor with control"),
])  # fmt: skip
def test_levels_that_do_not_go_together(host: HostFacts, configuration: dict[str, int | str], said: str) -> None:
    levels = {"cpus": 1, "placement": "compact", "isolation": "shared"}
    made = study(**{name: level for name, level in levels.items() if f"f_{name}" in configuration})
    with pytest.raises(LevelError, match=said):
        apply(made, configuration, Launch(), host)
    refused = configuration_refusals(made, host)
    assert str(refused(configuration)).startswith(said)
    if configuration.get("f_cpus") == 32:
        assert refused({**configuration, "f_cpus": 31}) is None


def test_the_mask_is_read_back_cpu_by_cpu(host: HostFacts) -> None:
    configuration = {"f_cpus": 2, "f_placement": "scatter"}
    launch = apply(study(cpus=2, placement="scatter"), configuration, Launch(), host)
    assert find_wrong_masks([launch], record((0, 8), (8, 0))) == []
    wrong = "cpus{}: asked for 0,8 (scatter), in force were {}"
    assert find_wrong_masks([launch], record((0, 8), (0, 1))) == [wrong.format("", "0-1")]
    assert find_wrong_masks([replace(launch, name="app")], record((0,))) == [wrong.format(" of app", "0")]
