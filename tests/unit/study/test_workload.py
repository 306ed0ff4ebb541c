"""workload.toml: accepted, refused with a reason, and the template filled without surprises."""

from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scalograph.errors import StudyError
from scalograph.protocol.facts import HostFacts, Jvm
from scalograph.study.model import WorkloadUse
from scalograph.study.processes import fill, placeholders
from scalograph.study.program import Service, program
from scalograph.study.shipped import shipped_studies, shipped_study, shipped_workload, shipped_workloads
from scalograph.study.workload import Parameter, load_workload, refusals
from tests.kit import ROOT
from tests.kit.refusals import mistakes, refuses, values
from tests.kit.studies import facts_of

REFUSALS = Path(__file__).parent / "refusals.toml"

GOOD = """
name = "w"
title = "A workload"
argv = ["prog", "{n}", "{more}"]

[parameters.n]
type = "int"
default = 1
min = 1
max = 8

[parameters.more]
type = "list"
default = []

[parameters.kind]
type = "text"
default = "a"
choices = ["a", "b"]

[[requires]]
when = { kind = ["b"] }
java_release = 21
"""

FETCH = f"""[[build.fetch]]
artifact = "g:n:1"
sha256 = "{"ab" * 32}"
bytes = 1
[parameters.n]"""


def written(folder: Path, text: str) -> Path:
    (folder / "workload.toml").write_text(text)
    return folder


def refused(folder: Path, text: str) -> str:
    return "\n".join(mistakes(load_workload, written(folder, text)))


def facts(*releases: int) -> HostFacts:
    jvms = tuple(Jvm(name=str(r), java=f"/j/{r}/bin/java", release=r, build=f"{r}.0.1") for r in releases)
    return facts_of(1, jvms=jvms)


def test_loads_what_it_declares_and_refuses_old_jvms_and_wrong_values(tmp_path: Path) -> None:
    workload = load_workload(written(tmp_path, GOOD))
    assert workload.name == "w" and workload.events is False and workload.parameters["n"].default == 1
    assert workload.requires[0].java_release == 21
    refusal = refusals(workload, {"kind": "a"}, facts(17, 25))
    assert refusal({"kind": "a"}) is None
    assert refusal({"kind": "b"}) == "kind = b needs Java 21 or later, the JVM 17 is 17"
    assert refusal({"kind": "b", "java": 25}) is None and refusal({"kind": "b", "java": "/j/25/bin/java"}) is None
    assert refusal({"kind": "b", "java": "17"}) is not None
    assert refusal({"kind": "b", "java": "/j/17/bin/java"}) is not None
    assert refusals(workload, {"kind": "b"}, facts(17))({"n": 2}) is not None
    refuses(StudyError, r"workload.parameters.n: 0, expected at least 1", refusals, workload, {"n": 0}, facts(17))
    refuses(StudyError, r"factors.kind: 'c', expected one of a, b", refusals(workload, {}, facts(17)), {"kind": "c"})


@pytest.mark.parametrize(("old", "new", "said"), [
    *values(REFUSALS, "workload"),
    ("default = 1", "default = " + "9" * 5000, "a word above 256 characters"),
    ("[parameters.n]", FETCH.replace("g:n:1", "g:n"), "build.fetch.0.artifact"),
    ("[parameters.n]", FETCH.replace("ab" * 32, "ab"), "build.fetch.0.sha256"),
    ("[parameters.n]", FETCH.replace("bytes", "unpack = true\nbytes"), "found unpack of jar"),
    ("[parameters.n]", FETCH.replace("g:n:1", "h:n:1").removesuffix("[parameters.n]") + FETCH,
     "one artifact of each name"),
    ("[parameters.n]", "[build]\nwhen = { x = [1] }\n" + FETCH, "build.when: found x"),
])  # fmt: skip
def test_refuses(tmp_path: Path, old: str, new: str, said: str) -> None:
    assert old in GOOD
    message = refused(tmp_path, GOOD.replace(old, new, 1))
    assert said in message and message.startswith(f"{tmp_path.name}/workload.toml:")


def test_refuses_all_at_once_and_what_is_no_workload(tmp_path: Path) -> None:
    refuses(StudyError, "No such file", load_workload, tmp_path)
    text = GOOD.replace('title = "A workload"', "nonsense = 1").replace("default = []", "default = 5")
    message = refused(tmp_path, text)
    assert message.count("\n") == 2
    assert "nonsense" in message and "title" in message and "parameters.more" in message
    assert "larger than 1 MiB" in refused(tmp_path, GOOD + "#" * (1 << 20))
    (tmp_path / "workload.toml").write_bytes(b"\xff\xfe")
    refuses(StudyError, "byte 0 is not UTF-8", load_workload, tmp_path)


def test_a_template_is_filled() -> None:
    expected = [("a", "{a}{b}"), ("b", "{a}{b}"), (None, "}"), ("", "{}")]
    assert list(placeholders(["{a}{b}", "{{c}}", "}", "{}"])) == expected
    values = {"n": 8, "x": 0.5, "on": True, "more": ["-a", "b c"], "none": []}
    assert fill(["p", "-t={n}", "{x}{on}", "{more}", "{none}"], values) == ["p", "-t=8", "0.5true", "-a", "b c"]
    assert fill(["{a}", "{b}", "{c}"], {"a": 0, "b": False, "c": ""}) == ["0", "false", ""]
    assert fill(["{{n}}", "{{{n}}}", "awk {{print}}"], {"n": 3}) == ["{n}", "{3}", "awk {print}"]
    with pytest.raises(StudyError, match=r"unknown name \{thread\} .* expected one of n, threads"):
        fill(["{thread}"], {"threads": 1, "n": 2})
    refuses(StudyError, "the list more inside", fill, ["-x{more}"], {"more": ["a"]})


@pytest.mark.parametrize("item", ["{n.__class__}", "{n[0]}", "{n!r}", "{n:>9}", "{0}", "{}"])
def test_fill_evaluates_nothing(item: str) -> None:
    refuses(StudyError, "unknown name", fill, [item], {"n": 3})


@given(st.text())
def test_fill_looks_at_a_value_once(value: str) -> None:
    assert fill(["{a}", "<{a}>"], {"a": value, "b": "never"}) == [value, f"<{value}>"]


@given(st.text(max_size=20))
def test_fill_of_escaped_text_is_the_text(text: str) -> None:
    assert fill([text.replace("{", "{{").replace("}", "}}")], {}) == [text]


@pytest.mark.parametrize(("parameter", "value", "wrong"), [
    (Parameter(type="int", default=1, min=1), 1, None),
    (Parameter(type="int", default=1, min=0), 0, None),
    (Parameter(type="int", default=1), 1.5, "an integer"),
    (Parameter(type="float", default=1.0), 2, None),
    (Parameter(type="float", default=1.0), "2", "a number"),
    (Parameter(type="text", default=""), 1, "text"),
    (Parameter(type="list", default=[]), "a", "a list"),
])  # fmt: skip
def test_parameter_refuses(parameter: Parameter, value: Any, wrong: str | None) -> None:
    assert parameter.refuse(value) == wrong


def test_what_ships_loads_with_one_version_of_each_artifact() -> None:
    workloads = {"affinity", "ceiling", "descriptors", "fixed-work", "fork-join", "java-priorities", "java-threads"}
    assert workloads <= set(shipped_workloads())
    studies = {"ceiling", "descriptor-cliff", "noise-floor", "thread-affinity", "thread-priorities", "thread-scaling"}
    assert studies <= set(shipped_studies())
    for name in shipped_workloads():
        assert load_workload(shipped_workload(name)).name == name
        assert (shipped_workload(name) / "README.md").is_file()
    index = (ROOT / "studies" / "README.md").read_text()
    for name in shipped_studies():
        assert (shipped_study(name) / "README.md").is_file() and f"({name}/README.md)" in index
    builds = [plan for name in shipped_workloads() for plan in load_workload(shipped_workload(name)).build]
    fetched = [one for plan in builds for one in plan.fetch]
    versions: dict[str, set[tuple[str, str, int]]] = {}
    for one in fetched:
        versions.setdefault(":".join(one.artifact.split(":")[:2]), set()).add((one.artifact, one.sha256, one.bytes))
    assert fetched and {name: several for name, several in versions.items() if len(several) > 1} == {}


@pytest.mark.parametrize("name", ["", ".", "..", "../studies/thread-scaling", "/etc", "nonsense", "java-threads/.."])
def test_shipped_refuses(name: str) -> None:
    refuses(StudyError, r"one of affinity, ceiling, .*, java-priorities, java-threads", shipped_workload, name)


SEVERAL = """
name = "w"
title = "A service and its driver"
events = true

[[process]]
name = "server"
role = "service"
argv = ["{java}", "-jar", "{build}/server.jar", "{port}", "{size}"]
copies = "{copies}"
ports = 1
ready = { port = "{port}" }

[[process]]
name = "driver"
role = "driver"
argv = ["{here}/driver", "{server_targets}"]

[parameters.copies]
type = "int"
default = 1
min = 1
max = 8

[parameters.size]
type = "int"
default = 7
"""


def test_a_workload_of_several_processes_starts_services_first(tmp_path: Path) -> None:
    (tmp_path / "w").mkdir()
    written(tmp_path / "w", SEVERAL)
    server, driver = program(WorkloadUse(use="w", parameters={"copies": 2}), tmp_path).processes
    assert (server.name, server.copies, driver.role) == ("server", "{copies}", "driver")
    assert server.service == Service(ready=("port", "{port}"), ports=1)


@pytest.mark.parametrize(("old", "new", "said"), values(REFUSALS, "processes"))
def test_refuses_processes(tmp_path: Path, old: str, new: str, said: str) -> None:
    assert old in SEVERAL and said in refused(tmp_path, SEVERAL.replace(old, new, 1))


def test_what_a_program_cannot_do_or_would_not_read_is_refused(tmp_path: Path) -> None:
    text = GOOD.replace("java_release = 21", 'refuse = "no b here"')
    workload = load_workload(written(tmp_path, text))
    assert refusals(workload, {}, facts())({"kind": "b"}) == "no b here"
    assert refusals(workload, {}, facts())({"kind": "a"}) is None
    assert refusals(workload, {"kind": "b"}, facts())({"n": 1}) == "no b here"
    assert "exactly one" in refused(tmp_path, GOOD + 'refuse = "x"\n')
    row = '[[requires]]\nwhen = { kind = ["b"] }\ngiven = ["n"]\nrefuse = "b counts nothing"\n'
    refused_by = refusals(load_workload(written(tmp_path, GOOD + row)), {"n": 1, "kind": "b"}, facts())
    assert (refused_by({}), refused_by({"n": 2})) == (None, "b counts nothing")
    assert refused_by({"n": 2, "kind": "a"}) is None
    assert "requires.given: found m, expected one of n" in refused(tmp_path, GOOD + row.replace('"n"', '"m"'))
