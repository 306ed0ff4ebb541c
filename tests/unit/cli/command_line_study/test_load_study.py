"""What the options of `load` make: a study that is accepted as it is, and mistakes told of the options."""

import tomllib
from typing import Any

import pytest

from scalograph.cli.command_line_study.load_study import load_study, load_study_text, map_load_error
from scalograph.cli.sweep_options import LoadOptions
from scalograph.errors import Problem, StudyError
from scalograph.study.load import parse

PAGE = "http://127.0.0.1:{port}/a{b}"


def made(**options: Any) -> dict[str, Any]:
    """The document of a study that `check` accepts."""
    text = load_study_text(load_study(LoadOptions(**options)))
    parse(text)
    return tomllib.loads(text)


def test_a_server_of_ones_own_gets_a_port_and_the_driver_its_address() -> None:
    study = made(serve="./app 'a b' {port}", get=PAGE, clients="1:4", cpus="1:all", copies="2", env=["A=b"])
    server, driver = study["workload"]["process"]
    assert server["argv"] == ["./app", "a b", "{port}"] and server["copies"] == "{copies}"
    assert (server["ports"], server["ready"]) == (1, {"port": "{port}"})
    assert (driver["use"], driver["parameters"]["targets"]) == ("load", "{server_targets}")
    assert (driver["parameters"]["path"], driver["parameters"]["steady_s"]) == ("/a{{b}}", 5.0)
    assert study["factors"]["cpus"] == {"levels": "1:all", "control": "cpus", "title": "CPUs"}
    assert (study["baseline"], study["workload"]["env"]) == ({"clients": 1}, {"A": "b"})
    assert study["responses"]["server_cpu"]["from"] == "process.server.cpu_percent"


@pytest.mark.parametrize(("ready", "expected"), [
    ("http://127.0.0.1:{port}/up", {"http": "http://127.0.0.1:{port}/up"}),
    ("line:listens on {port}: yes", {"line": "listens on {port}: yes"}),
    ("8081", {"port": 8081}),
])  # fmt: skip
def test_a_server_is_ready_by_an_answer_a_line_or_a_port(ready: str, expected: dict[str, Any]) -> None:
    assert made(serve="./app", get=PAGE, ready=ready)["workload"]["process"][0]["ready"] == expected


def test_a_server_with_a_port_of_its_own_keeps_it_and_one_that_runs_is_asked_at_a_rate() -> None:
    server = made(serve="./app", get="http://localhost:8080")["workload"]["process"][0]
    assert (server["ports"], server["ready"]) == ([8080], {"port": 8080})
    assert made(serve="./app", get=PAGE, keep=True)["workload"]["keep"] == "block"
    assert "keep" not in made(serve="./app", get=PAGE)["workload"]
    study = made(get="http://127.0.0.1:8080/x", rate="100,1000", connections=4)
    (driver,) = study["workload"]["process"]
    wanted = {"targets": "127.0.0.1:8080", "path": "/x", "loop": "open", "connections": 4}
    assert {name: driver["parameters"][name] for name in wanted} == wanted
    assert [*study["factors"]] == ["rate"]


@pytest.mark.parametrize("name", ["wrk", "oha", "k6"])
def test_another_program_drives_with_what_it_can_do(name: str) -> None:
    study = made(serve="./app {port}", get="http://127.0.0.1:{port}/x", clients="1:4", driver=name)
    driver = study["workload"]["process"][1]
    assert driver["use"] == "http-drivers"
    assert driver["parameters"] == {
        "tool": name, "targets": "{server_targets}", "path": "/x", "ramp_s": 1.0, "steady_s": 5.0, "warmup": 100,
    }  # fmt: skip


@pytest.mark.parametrize(("where", "option"), [
    ("workload.process[0].argv", "--serve"), ("workload.process[0].ready.http", "--ready"),
    ("workload.process[0].copies", "--copies"), ("workload.process[1].parameters.steady_s", "--steady"),
    ("factors.cpus.levels", "--cpus"), ("protocol.max_reruns", "--max-reruns"), ("factors", "levels"),
    ("real-time policy", "real-time policy"),
])  # fmt: skip
def test_what_is_wrong_with_the_study_is_told_of_the_options(where: str, option: str) -> None:
    at = f"study.toml:9: {where}" if "." in where else where
    error = map_load_error(StudyError([Problem(at, "found", "expected", "")]))
    assert [problem.where for problem in error.problems] == [option]
