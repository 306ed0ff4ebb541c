"""What of a program has to lie on another machine, what is sent of it, and by which paths it is started there."""

import io
import os
import tarfile
from pathlib import Path

import pytest

from scalograph.errors import HostError
from scalograph.run.hosts.remote import ssh_copy
from scalograph.run.hosts.remote.ssh_copy import (
    FileList,
    NeededPath,
    list_files,
    move_program,
    needed_paths,
    resolve_files,
    write_archive,
)
from scalograph.study.processes import Template
from scalograph.study.program import Process, Program, Used
from scalograph.study.workload import ClassPath, Workload
from tests.kit.refusals import refuses


def tree(folder: Path) -> Path:
    home = folder / "home"
    for name in (".ssh/id", ".netrc", "data/.hidden", "data/x", "data/deep/y", "scalograph-results/journal"):
        (home / name).parent.mkdir(parents=True, exist_ok=True)
        (home / name).write_text(name)
    (home / "data" / "link").symlink_to("/etc")
    (home / "big").symlink_to("data/x")
    os.mkfifo(home / "data" / "fifo")
    return home


def sent(found: FileList) -> dict[str, tarfile.TarInfo]:
    stream = io.BytesIO()
    write_archive(found.files, stream)
    stream.seek(0)
    with tarfile.open(fileobj=stream) as archive:
        return {one.name: one for one in archive.getmembers()}


def test_names_with_a_dot_stay_here_unless_they_were_made_or_named(tmp_path: Path) -> None:
    home = tree(tmp_path)
    whole = {"n", "n/data", "n/data/x", "n/data/deep", "n/data/deep/y", "n/data/link", "n/big"}
    assert sent(list_files([NeededPath(home, (home,))], {home: "n"})).keys() == whole
    own = sent(list_files([NeededPath(home, (home,), True)], {home: "n"})).keys() - whole
    assert own >= {"n/.ssh/id", "n/data/.hidden", "n/scalograph-results"} and "n/data/fifo" not in own
    assert {*list_files([NeededPath(home, (home / ".netrc",))], {home: "n"}).files} == {"n", "n/.netrc"}
    assert {*list_files([NeededPath(home, ())], {home: "n"}).files} == {"n"}


def test_what_is_sent_links_that_are_named_and_how_large_it_is(tmp_path: Path) -> None:
    home = tree(tmp_path)
    found = sent(list_files([NeededPath(home, (home / "big", home / "data"))], {home: "n"}))
    assert found["n/big"].isfile() and found["n/big"].size == len("data/x")
    assert found["n/data/link"].issym() and "n/data/link/passwd" not in found
    assert {one.uid for one in found.values()} == {0} and not {one.uname for one in found.values()} - {""}
    needed = [NeededPath(home, (home / "data", home / "big"))]
    assert list_files(needed, {home: "n"}).describe(needed) == "data, big (4 files, 23 bytes)"
    with (home / "data" / "sparse").open("wb") as file:
        file.truncate(3 << 19)
    assert list_files(needed, {home: "n"}).describe(needed) == "data, big (5 files, 1.5 MiB)"


def test_what_is_too_large_or_cannot_be_read_is_one_message(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    home = tree(tmp_path)
    with (home / "data" / "sparse").open("wb") as file:
        file.truncate(ssh_copy.MOST_BYTES)
    needed, names = [NeededPath(home, (home / "data",))], {home: "n"}
    with pytest.raises(
        HostError, match=r"data: more than 256 MiB to copy, expected at most 256 MiB and .*; name in th"
    ):
        list_files(needed, names)
    (home / "data" / "sparse").unlink()
    monkeypatch.setattr(ssh_copy, "MOST_FILES", 3)
    refuses(HostError, "data: more than 3 files to copy", list_files, needed, names)
    monkeypatch.undo()
    found = list_files(needed, names)
    (home / "data" / "x").unlink()
    refuses(HostError, "data/x: cannot be copied: No such file", write_archive, found.files, io.BytesIO())


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
    assert needed_paths(made(tmp_path, "true", "{n}", "/etc/passwd"), None, {}) == []
    assert needed_paths(made(tmp_path, "{build}/main"), None, {}) == [build]
    assert needed_paths(made(tmp_path, "java", "-cp", "{classpath}"), None, {}) == [build, jar]
    assert needed_paths(made(tmp_path, "{fetched.jar}"), None, {}) == []
    home, program = tmp_path / "home", made(tmp_path, "{here}/prog")
    used = (Used(Workload(name="own", title="Own", argv=["x"]), home),)
    assert needed_paths(Program(program.processes, home, False, program.values, used), None, {}) == [
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
def test_only_what_is_named_of_the_study(argv: list[str], reads: str | None, named: list[str], tmp_path: Path) -> None:
    home = tmp_path / "home"
    words = [word.replace("HOME", str(home)) for word in argv]
    program = made(tmp_path, *words, option=Template("-f{here}/data/x"))
    if argv != ["{option}"]:
        program = Program(program.processes, home, False, {**program.values, "option": "none"})
    (found,) = needed_paths(program, reads, {})
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


def test_a_file_that_a_parameter_names_is_sent_and_found_there(tmp_path: Path) -> None:
    """It may lie outside of all else that is sent, or in a folder that is sent in part."""
    home, outside = tree(tmp_path), tmp_path / "outside.toml"
    outside.touch()
    file = {"type": "file", "default": ""}
    workload = Workload.model_validate({
        "name": "w", "title": "t", "argv": ["{here}/data/x", "a={a}", "b={b}", "c={c}"],
        "parameters": {"a": file, "b": file, "c": file},
    })  # fmt: skip
    named = {"a": Template("{here}/../outside.toml"), "b": Template(str(home / "data" / "deep" / "y")), "c": "",
             "here": str(home)}  # fmt: skip
    process = Process(tuple(workload.argv), name="w", values=named)
    program = resolve_files(Program((process,), tmp_path, False, {}, (Used(workload, home, "w"),)))
    needed = {path.root: path.named for path in needed_paths(program, None, {})}
    assert needed.keys() == {home, outside, home / "data" / "deep" / "y"}
    moved = move_program(program, {root: f"/there/{root.name}" for root in needed}).processes[0].values
    assert (moved["a"], moved["b"], moved["c"]) == ("/there/outside.toml", "/there/y", "")
