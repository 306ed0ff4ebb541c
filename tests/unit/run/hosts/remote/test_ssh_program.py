"""What of a program has to lie on another machine, and by which paths it is started there."""

from pathlib import Path

import pytest

from scalograph.run.hosts.remote.ssh_copy import NeededPath, move_program, needed_paths
from scalograph.study.processes import Template
from scalograph.study.program import Process, Program, Used
from scalograph.study.workload import ClassPath, Workload


def made(folder: Path, *argv: str, **more: object) -> Program:
    values = {
        "here": str(folder / "home"), "build": str(folder / "build"), "python": "/opt/python",
        "fetched.jar": "/nowhere",
        "classpath": ClassPath((({}, str(folder / "build")), ({"server": ["a"]}, str(folder / "a.jar")))), **more,
    }  # fmt: skip
    for name in ("home/data", "build"):
        (folder / name).mkdir(parents=True, exist_ok=True)
    for name in ("home/prog", "home/data/x", "home/two words", "a.jar"):
        (folder / name).touch()
    return Program((Process(argv),), folder / "home", False, values)


def test_only_what_its_words_lead_to_is_needed_and_a_workload_whole(tmp_path: Path) -> None:
    build, jar = (NeededPath(path, (path,), True) for path in (tmp_path / "build", tmp_path / "a.jar"))
    assert needed_paths(made(tmp_path, "true", "{n}", "/etc/passwd"), None) == []
    assert needed_paths(made(tmp_path, "{build}/main"), None) == [build]
    assert needed_paths(made(tmp_path, "java", "-cp", "{classpath}"), None) == [build, jar]
    assert needed_paths(made(tmp_path, "{fetched.jar}"), None) == []
    home, program = tmp_path / "home", made(tmp_path, "{here}/prog")
    used = (Used(Workload(name="own", title="Own", argv=["x"]), home),)
    assert needed_paths(Program(program.processes, home, False, program.values, used), None) == [
        NeededPath(home, (home,))
    ]


@pytest.mark.parametrize(("argv", "reads", "named"), [
    (["sh", "-c", "cat {here}/data/x | wc; {here}/prog >{here}/out"], None, ["data/x", "prog"]),
    (["{here}/data", "{here}/data/x"], None, ["data"]),
    (["{here}/two words", "--in={here}/prog,"], None, ["two words", "prog"]),
    (["sh", "-c", "{here}/data/$1 {here}/data/{n}.txt {here}/da*/x"], None, [""]),
    (["sh", "-c", "cat {here}/data/{n}.txt {here}/../prog"], None, ["data"]),
    (["sh", "-c", "cd {here} && ./prog"], None, [""]),
    (["{option}"], None, ["data/x"]),
    (["HOME/prog", "{here}/out"], None, ["prog"]),
    (["HOME/prog-{n}"], None, [""]),
    (["cat"], "data/x", ["data/x"]),
    (["tee", "{here}/out"], None, []),
])  # fmt: skip
def test_of_the_studys_folder_only_what_is_named(
    argv: list[str], reads: str | None, named: list[str], tmp_path: Path
) -> None:
    home = tmp_path / "home"
    words = [word.replace("HOME", str(home)) for word in argv]
    program = made(tmp_path, *words, option=Template("-f{here}/data/x"))
    if argv != ["{option}"]:
        program = Program(program.processes, home, False, {**program.values, "option": "none"})
    (found,) = needed_paths(program, reads)
    assert found == NeededPath(home, tuple(home / name for name in named))


def test_it_has_the_paths_of_its_copies_and_no_other_is_changed(tmp_path: Path) -> None:
    home, build = tmp_path / "home", tmp_path / "build"
    program = made(tmp_path, f"{home}/prog", f"{home}/prog", option=Template("-f{here}"), beside=f"{build}s/x")
    there = move_program(program, {home: "/far/home", build: "/far/build", tmp_path / "a.jar": "/far/a.jar"})
    assert there.argv == ("/far/home/prog", f"{home}/prog")  # a word is the study's own, but for the program
    assert (there.here, there.values["here"], there.values["build"]) == (Path("/far/home"), "/far/home", "/far/build")
    assert there.values["classpath"].text_for({"server": "a"}) == "/far/build:/far/a.jar"
    assert (there.values["python"], there.values["option"]) == ("python3", "-f{here}")
    assert there.values["beside"] == f"{build}s/x" and isinstance(there.values["option"], Template)
