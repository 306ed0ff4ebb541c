"""Processes of one run: services first, each copy by itself, then the driver; and what a probe is asked for them."""

import socket
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from scalograph.control.process_cpus import apply_limits
from scalograph.errors import HostError, StudyError
from scalograph.run.hosts.base import Specification
from scalograph.run.launches import fill_launches, free_ports, launches, refuse_sharing, share_cpus
from scalograph.run.plan import Plan
from scalograph.run.runner import Runner
from scalograph.study.levels import Run
from tests.kit.refusals import mistakes, refuses
from tests.kit.studies import facts_of, plan_of

FACTS = facts_of(4)
STUDY = """\
version = 1
name = "two"
title = "Two services and a driver"
work = "total"
seed = 1
[[workload.process]]
name = "driver"
role = "driver"
argv = ["{python}", "-c", "", "{clients}", "{app_targets}", "{database_port}", "{state}"]
[[workload.process]]
name = "app"
role = "service"
argv = ["{python}", "-m", "http.server", "{port}", "{database_port}", "{copy}"]
copies = "{n}"
after = ["database"]
ports = 1
ready = { http = "http://127.0.0.1:{port}/a?b=1" }
[[workload.process]]
name = "database"
role = "service"
argv = ["{python}", "{{", "{ports}", "{state}"]
ports = 2
ready = { line = "listens on {port}" }
ready_timeout = "10s"
stop = { signal = "INT", grace = "1s" }
[factors.clients]
levels = [3]
[factors.n]
levels = [2]
[factors.cpus]
levels = [1, 4]
control = "cpus"
[factors.nice]
levels = [5]
control = "nice"
"""
FRONT = """\
[[workload.process]]
name = "front"
role = "service"
when = { front = ["proxy"] }
argv = ["{python}", "{app_targets}", "{port}", "{front}"]
after = ["app"]
ports = 1
[factors.front]
levels = ["direct", "proxy"]
"""
CONFIGURATION = {"clients": 3, "n": 2, "cpus": 1, "nice": 5}
OWN = STUDY.replace('copies = "{n}"', 'copies = "{n}"\ncpus = "{n}"').replace(
    'role = "driver"', 'role = "driver"\ncpus = 1'
)


def planned(tmp_path: Path, text: str = STUDY) -> Plan:
    return plan_of(tmp_path, text, FACTS)


def line(tmp_path: Path, configuration: dict[str, Any]) -> dict[str, Any]:
    class Asking:
        def apply_settings(self, planned: Plan, configuration: Any) -> Any:
            raise NotImplementedError

    spec = Runner(planned(tmp_path), Asking()).specification(Run("r1", 0, configuration, 0))  # type: ignore[arg-type]
    state = tmp_path / f"state-{configuration['cpus']}"
    state.mkdir()
    placed = Specification(**{**vars(spec), "launches": fill_launches(spec.launches, state)})
    return placed.line(tmp_path)


def test_services_start_in_order_and_a_driver_has_the_cpus_that_are_left_or_all(tmp_path: Path) -> None:
    found = launches(planned(tmp_path), CONFIGURATION)
    assert [(one.name, one.copy, one.copies) for one in found] == [
        ("database", 0, 1), ("app", 0, 1), ("app", 1, 1), ("driver", 0, 1),
    ]  # fmt: skip
    assert [one.cpus for one in found] == [(0,), (0,), (0,), (1, 2, 3)]
    assert [one.nice for one in found] == [5, 5, 5, -10]
    *services, driver = launches(planned(tmp_path), {**CONFIGURATION, "cpus": 4})
    assert {one.cpus for one in services} == {(0, 1, 2, 3)} and driver.cpus is None
    with pytest.raises(StudyError, match="70 processes in a run, expected at most 64"):
        launches(planned(tmp_path), {**CONFIGURATION, "n": 68})
    found = launches(planned(tmp_path), CONFIGURATION)
    refuses(HostError, "state folder", fill_launches, found, tmp_path / "missing")


def test_the_probe_is_asked_for_ports_that_are_free_and_words_that_hold_them(tmp_path: Path) -> None:
    database, *apps, driver = line(tmp_path, CONFIGURATION)["commands"]
    ports = [port for command in (database, *apps) for port in command["ports"]]
    assert len(set(ports)) == 4 and min(ports) > 0
    first, second, *of_apps = ports
    assert database["argv"] == [sys.executable, "{", f"{first},{second}", str(tmp_path / "state-1" / "database-0")]
    assert (database["ready"], database["ready_timeout_ns"]) == ({"line": f"listens on {first}"}, 10_000_000_000)
    assert (database["role"], database["stop_signal"], database["stop_grace_ns"]) == ("service", "INT", 1_000_000_000)
    for copy, (app, port) in enumerate(zip(apps, of_apps, strict=True)):
        assert app["argv"][3:] == [str(port), str(first), str(copy)]
        assert (app["name"], app["ready"]) == ("app", {"http": {"port": port, "path": "/a?b=1"}})
    targets = ",".join(f"127.0.0.1:{port}" for port in of_apps)
    assert driver["argv"][3:] == ["3", targets, str(first), str(tmp_path / "state-1" / "driver")]
    assert (driver["name"], driver["role"]) == ("driver", "driver") and "ready" not in driver
    for port in ports:  # none is held any more
        with socket.socket() as listening:
            listening.bind(("127.0.0.1", port))


def test_a_driver_alone_is_asked_for_as_any_command(tmp_path: Path) -> None:
    text = STUDY[: STUDY.index('[[workload.process]]\nname = "app"')] + STUDY[STUDY.index("[factors.clients]") :]
    text = text.replace(', "{app_targets}", "{database_port}"', ', "{n}"')
    made = planned(tmp_path, text)
    (driver,) = launches(made, CONFIGURATION)
    assert (driver.cpus, driver.nice) == ((0,), 5)
    (driver,) = fill_launches([driver], tmp_path)
    assert driver.argv[3:] == ("3", "2", str(tmp_path / "driver"))


@pytest.mark.parametrize("ready", ['port = "{ports}"', 'http = "http://127.0.0.1:{ports}/"', 'port = "{clients}"'])
def test_a_port_that_is_none_when_it_is_filled_is_refused(tmp_path: Path, ready: str) -> None:
    found = planned(tmp_path, STUDY.replace('line = "listens on {port}"', ready))
    (tmp_path / "state").mkdir()
    with pytest.raises(StudyError, match="expected a number from 1 to 65535; use"):
        fill_launches(launches(found, {**CONFIGURATION, "clients": 99999}), tmp_path / "state")


def cpus_of(tmp_path: Path, text: str, **levels: Any) -> dict[str, tuple[int, ...] | None]:
    return {one.name: one.cpus for one in launches(planned(tmp_path, text), {**CONFIGURATION, **levels})}


def test_cpus_of_a_process_are_its_own_and_more_than_there_are_is_not_planned(tmp_path: Path) -> None:
    assert cpus_of(tmp_path, OWN) == {"database": (0,), "app": (1, 2), "driver": (3,)}
    # A driver without a count has what is left.
    shared = OWN.replace('role = "driver"\ncpus = 1', 'role = "driver"').replace("levels = [1, 4]", "levels = [1]")
    assert cpus_of(tmp_path, shared) == {"database": (0,), "app": (1, 2), "driver": (3,)}
    # Without the control, so has a service without a count.
    free = shared.replace('[factors.cpus]\nlevels = [1]\ncontrol = "cpus"\n', "")
    assert cpus_of(tmp_path, free) == {"database": (2, 3), "app": (0, 1), "driver": (2, 3)}
    assert share_cpus(launches(planned(tmp_path, free), CONFIGURATION))
    assert not share_cpus(launches(planned(tmp_path, shared), CONFIGURATION))
    refuse_sharing(planned(tmp_path, shared))
    expected = "--quota: the load generator would share the CPUs of the server: this machine has 4 CPUs"
    refuses(HostError, expected, refuse_sharing, planned(tmp_path, free))
    said = "1 configuration not planned: 7 CPUs placed compact (database 4; app 2; driver 1), expected at most 4"
    design = planned(tmp_path, OWN).design
    assert [t["cpus"] for t in design.configurations] == [1] and design.dropped[0].startswith(said)
    refuses(StudyError, "no configuration is left", planned, tmp_path, OWN.replace("levels = [1, 4]", "levels = [4]"))


def test_a_quota_is_of_its_process_and_a_level_that_no_host_grants_is_not_planned(tmp_path: Path) -> None:
    text = STUDY.replace("ports = 2", 'ports = 2\nquota = "{q}"') + '[factors.q]\nlevels = [0.5, "none", 99]\n'
    found = planned(tmp_path, text)
    assert [t["q"] for t in found.design.configurations if t["cpus"] == 1] == [0.5, "none"]
    assert "database: quota 99, expected CPUs' worth of time from 0.01 to 4" in found.design.dropped[0]
    limited = launches(found, {**CONFIGURATION, "q": 0.5})
    assert [(one.name, one.own_quota_cpus) for one in limited][:2] == [("database", 0.5), ("app", None)]
    assert all(one.own_quota_cpus is None for one in launches(found, {**CONFIGURATION, "q": "none"}))

    @contextmanager
    def made(cpus: float) -> Iterator[Path]:
        yield tmp_path / f"{cpus:g}"

    with apply_limits(limited, made) as placed:
        assert [one.cgroups for one in placed] == [(str(tmp_path / "0.5"),), (), (), ()]


def test_a_service_is_there_at_its_levels_only_and_else_its_names_are_empty(tmp_path: Path) -> None:
    with_front = STUDY.replace("[factors.clients]", FRONT + "[factors.clients]").replace(
        '"{state}"]\n[[', '"through={front_targets}"]\n[[', 1
    )
    made = planned(tmp_path, with_front)
    *_, front, driver = launches(made, {**CONFIGURATION, "front": "proxy"})
    assert (front.name, driver.cpus) == ("front", (1, 2, 3))
    found = fill_launches(launches(made, {**CONFIGURATION, "front": "direct"}), tmp_path)
    assert [one.name for one in found] == ["database", "app", "app", "driver"] and found[-1].argv[-1] == "through="


@pytest.mark.parametrize(("old", "new", "said"), [
    ('front = ["proxy"]', 'front = ["proxi"]', "level 'proxi' is not among the levels of front"),
    ('front = ["proxy"]', 'fromt = ["proxy"]', 'factor "fromt" is not declared'),
    ('front = ["proxy"]', "front = []", "when"),
    ('role = "driver"', 'role = "driver"\nwhen = { front = ["proxy"] }', "`when` of a driver"),
])  # fmt: skip
def test_levels_of_a_service_are_checked(tmp_path: Path, old: str, new: str, said: str) -> None:
    text = STUDY.replace("[factors.clients]", FRONT + "[factors.clients]")
    assert old in text and said in "\n".join(mistakes(planned, tmp_path, text.replace(old, new, 1)))


@pytest.mark.parametrize(("old", "new", "said"), [
    ('stop = { signal = "INT", grace = "1s" }', "quota = 0.5", 'a quota beside keep = "block"'),
    ("[factors.n]", '[factors.swap]\nlevels = [1]\ncontrol = "sysctl:vm.swappiness"\n[factors.n]', "a setting of"),
    ('keep = "block"', 'keep = "study"', "workload.keep: found 'study', expected 'run' or 'block'"),
])  # fmt: skip
def test_what_is_set_for_each_run_excludes_services_that_stay(tmp_path: Path, old: str, new: str, said: str) -> None:
    text = STUDY.replace("seed = 1\n", 'seed = 1\n[workload]\nkeep = "block"\n')
    assert planned(tmp_path, text).design.study.workload.keep == "block"
    assert said in "\n".join(mistakes(planned, tmp_path, text.replace(old, new, 1)))


def test_services_stay_up_where_some_are_started(tmp_path: Path) -> None:
    head = STUDY[: STUDY.index("[[workload.process]]")]
    alone = head + '[workload]\nkeep = "block"\ncommand = ["true"]\n'
    with pytest.raises(StudyError, match='keep = "block" of no service that is started'):
        planned(tmp_path, alone + "[factors.n]\nlevels = [1]\n")


def test_what_starts_alike_is_filled_alike_and_runs_stand_side_by_side_where_it_stays(tmp_path: Path) -> None:
    found = launches(planned(tmp_path), CONFIGURATION)
    (tmp_path / "state").mkdir()
    ports = free_ports(found)
    first = fill_launches(found, tmp_path / "state", ports)
    other = fill_launches(launches(planned(tmp_path), {**CONFIGURATION, "clients": 4}), tmp_path / "state", ports)
    assert [one.argv for one in first[:-1]] == [one.argv for one in other[:-1]] and first[-1].argv != other[-1].argv
    text = STUDY.replace("levels = [3]", "levels = [1, 2, 3, 4]").replace("levels = [2]", "levels = [1, 2]")
    kept = planned(tmp_path, text.replace("seed = 1\n", 'seed = 1\n[workload]\nkeep = "block"\n'))
    started = {
        n: [(run.configuration["n"], run.configuration["cpus"]) for run in kept.runs.planned_runs() if run.block == n]
        for n in range(5)
    }
    n_starts = [1 + sum(one != other for one, other in pairwise(found)) for found in started.values()]
    assert n_starts == [4] * 5 and len({*map(tuple, started.values())}) > 1
    clients = [run.configuration["clients"] for run in kept.runs.planned_runs()]
    assert len({tuple(clients[i : i + 4]) for i in range(0, 80, 4)}) > 4
    assert planned(tmp_path, text).design.together == ()
