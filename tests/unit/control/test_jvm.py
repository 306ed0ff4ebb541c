"""The JVM that is taken where no factor says which, and the environment variables that a control sets."""

from hashlib import sha256
from pathlib import Path

from scalograph.control.apply import apply
from scalograph.control.control import Launch
from scalograph.control.jvm import default_values
from scalograph.errors import HostError
from scalograph.protocol.facts import Jvm
from scalograph.protocol.plain import Level
from scalograph.run.hosts.local.local_host import LocalHost
from scalograph.run.hosts.local.probe import find_probe
from scalograph.run.launches import launches
from scalograph.run.plan import Plan
from scalograph.run.runner import Runner
from scalograph.study.control_names import control_row, environment_variable
from scalograph.study.levels import Run
from scalograph.study.load import parse
from tests.kit.refusals import refuses
from tests.kit.studies import a_study, facts_of, plan_of

WORKLOAD = {"command": ["sh", "-c", 'test "${{SWITCH-unset}}" = four'], "env": {"OTHER": "kept"}}


def planned(folder: Path, levels: list[Level]) -> Plan:
    return plan_of(folder, a_study({"switch": {"control": "env:SWITCH", "levels": levels}}, workload=WORKLOAD))


def test_defaults() -> None:
    jvms = tuple(Jvm(name=f"{n}", java=f"/j{n}/bin/java", release=n, build=f"{n}.0.1") for n in (17, 25))
    assert default_values(facts_of(0, jvms=jvms)) == {"java": "/j17/bin/java", "jvm_options": []}
    refuses(HostError, r"java: no JVM found, expected a Java of release 11.*; apt install", default_values, facts_of(0))


def test_each_level_is_in_the_environment_of_its_run(tmp_path: Path) -> None:
    plan = planned(tmp_path, [False, "", "four", 4, 0.5])
    environments = [launches(plan, configuration)[0].env for configuration in plan.design.configurations]
    assert [env.get("SWITCH") for env in environments] == [None, "", "four", "4", "0.5"]
    assert all(env["OTHER"] == "kept" for env in environments)
    assert plan.first_event("0")["study"]["factors"]["switch"]["control"] == "env:SWITCH"
    runner = Runner(plan, LocalHost(find_probe()))
    status = {level: runner.measure(Run("r1", 0, {"switch": level}, 0)).run.status for level in (False, "four")}
    assert status == {False: "failed", "four": "ok"}, "the program sees it"


def test_two_variables_are_two_controls_and_other_names_are_none() -> None:
    factors = {"switch": {"control": "env:SWITCH", "levels": [1]}, "more": {"control": "env:MORE", "levels": ["x"]}}
    launch = apply(parse(a_study(factors)), {"switch": 1, "more": "x"}, Launch(), facts_of())
    assert launch.env == {"SWITCH": "1", "MORE": "x"}
    for name in ("env", "env:", "cpus:2", "fan", ""):
        assert control_row(name) is None and environment_variable(name) is None


def test_files_that_a_variable_names_are_part_of_what_was_run(tmp_path: Path) -> None:
    library = tmp_path / "lib.so"
    library.write_text("one")

    def used(*levels: Level) -> object:
        return planned(tmp_path, [*levels]).first_event("0")["uses"].get("files")

    levels = (False, str(library), f"/no/such.so:{library}", "relative.so")
    first = used(*levels)
    assert first == {str(library): {"bytes": 3, "sha256": sha256(b"one").hexdigest()}}
    library.write_text("two")
    assert used(*levels) != first
    assert used("1") is None
