"""What of a program has to lie on another machine, and by which paths it is started there."""

from pathlib import Path

from scalograph.run.hosts.ssh_program import moved, needed_there
from scalograph.study.build_plan import ClassPath
from scalograph.study.program import Process, Program
from scalograph.study.template import Template


def made(folder: Path, *argv: str, **more: object) -> Program:
    values = {
        "here": str(folder / "home"), "build": str(folder / "build"), "python": "/opt/python",
        "fetched.jar": "/nowhere",
        "classpath": ClassPath((({}, str(folder / "build")), ({"server": ["a"]}, str(folder / "a.jar")))), **more,
    }  # fmt: skip
    for name in ("home", "build"):
        (folder / name).mkdir(exist_ok=True)
    (folder / "a.jar").touch()
    return Program((Process(argv),), folder / "home", False, values)


def test_only_what_its_words_lead_to_is_needed(tmp_path: Path) -> None:
    home, build, jar = (tmp_path / name for name in ("home", "build", "a.jar"))
    assert needed_there(made(tmp_path, "true", "{n}", "/etc/passwd"), None) == []
    assert needed_there(made(tmp_path, "{build}/main"), None) == [build]
    assert needed_there(made(tmp_path, "java", "-cp", "{classpath}"), None) == [build, jar]
    assert needed_there(made(tmp_path, f"{home}/prog"), None) == [home]
    assert needed_there(made(tmp_path, "cat"), f"{home}/data") == [home]
    assert needed_there(made(tmp_path, "{option}", option=Template("-f{here}/x")), None) == [home]
    assert needed_there(made(tmp_path, "{fetched.jar}"), None) == []


def test_it_has_the_paths_of_its_copies_and_no_other_is_changed(tmp_path: Path) -> None:
    home, build = tmp_path / "home", tmp_path / "build"
    program = made(tmp_path, f"{home}/prog", f"{home}/prog", option=Template("-f{here}"), beside=f"{build}s/x")
    there = moved(program, {home: "/far/home", build: "/far/build", tmp_path / "a.jar": "/far/a.jar"})
    assert there.argv == ("/far/home/prog", f"{home}/prog")  # a word is the study's own, but for the program
    assert (there.here, there.values["here"], there.values["build"]) == (Path("/far/home"), "/far/home", "/far/build")
    assert there.values["classpath"].under({"server": "a"}) == "/far/build:/far/a.jar"
    assert (there.values["python"], there.values["option"]) == ("python3", "-f{here}")
    assert there.values["beside"] == f"{build}s/x" and isinstance(there.values["option"], Template)
