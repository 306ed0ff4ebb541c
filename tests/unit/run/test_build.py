"""Builds: once for each source, compiler and release; whole or not at all."""

import os
import shutil
import subprocess
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from scalograph.errors import HostError, StudyError
from scalograph.protocol.facts import Jvm
from scalograph.run.build import build
from scalograph.study.workload import Build, Workload
from scalograph.system.private_dir import cache_folder
from tests.kit.processes import write_program
from tests.kit.refusals import refuses

# Stands for cc: counts its calls, and makes a program from the source or refuses it as compilers do.
FAKE_CC = """#!/bin/sh
if [ "$1" = --version ]; then echo "fake cc ${FAKE:-1.0}"; exit 0; fi
echo "$@" >> "$(dirname "$0")/calls"
while [ $# -gt 0 ]; do
  case "$1" in -o) out=$2; shift;; *.c) source=$1;; esac
  shift
done
if grep -q ERROR "$source"; then echo "$source:1: error: no such thing" >&2; exit 1; fi
cp "$source" "$out"
"""

FAKE_JAVAC = """#!/bin/sh
if [ "$1" = -version ]; then echo "javac 21"; exit; fi
while [ "$1" != -d ]; do shift; done
echo "$@" > "$2/args"
"""

FAKE_CARGO = """#!/bin/sh
if [ "$1" = --version ]; then echo "cargo 1"; exit; fi
words="$* home=$CARGO_HOME flags=$RUSTFLAGS cwd=$(pwd)"
while [ $# -gt 0 ]; do case "$1" in --root) root=$2;; --target-dir) scratch=$2;; esac; shift; done
mkdir -p "$root/bin" "$scratch"
echo "$words" | tee "$scratch/left" > "$root/bin/main"
"""

Words = tuple[str, ...]


def workload(sources: Words = ("*.c",), flags: Words = (), tool: str = "cc", release: int | None = None) -> Workload:
    plan = Build.model_validate({"tool": tool, "sources": list(sources), "flags": list(flags), "release": release})
    return Workload(name="w", title="", argv=["{build}/main"], build=[plan])


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with bin/cc, source/main.c and room for builds."""
    write_program(tmp_path / "bin/cc", FAKE_CC)
    (tmp_path / "source").mkdir()
    (tmp_path / "source/main.c").write_text("one")
    monkeypatch.setenv("PATH", f"{tmp_path / 'bin'}:/usr/bin:/bin")
    return tmp_path


def calls(place: Path) -> int:
    file = place / "bin/calls"
    return len(file.read_text().splitlines()) if file.exists() else 0


def made(place: Path, of: Workload | None = None) -> Path:
    folder = build(place / "source", of or workload(), (), place / "builds")
    assert folder is not None
    return folder


def test_builds_once_leaves_nothing_else_and_anew_with_another_part_of_the_key(place: Path) -> None:
    first = made(place)
    assert (first / "main").read_text() == "one" and made(place) == first and calls(place) == 1
    assert list((place / "builds").iterdir()) == [first]
    with ThreadPoolExecutor(8) as pool:
        folders = list(pool.map(lambda _: made(place), range(8)))
    assert len(set(folders)) == 1 and list((place / "builds").iterdir()) == [folders[0]]
    folders = {made(place), made(place, workload(flags=("-O1",))), made(place, workload(release=11))}
    (place / "source/main.c").write_text("two")
    folders.add(made(place))
    (place / "source/main.c").rename(place / "source/renamed.c")
    folders.add(made(place))
    write_program(place / "bin/cc", FAKE_CC.replace("1.0", "1.1"))
    folders.add(made(place))
    assert len(folders) == 6


def test_libraries_come_last_and_options_from_nowhere_else(place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    made(place, workload(flags=("-lm", "-O2")))
    words = (place / "bin/calls").read_text().split()
    assert words[0] == "-O2" and words[-1] == "-lm"
    monkeypatch.setenv("FAKE", "changed")
    with_it = made(place)
    monkeypatch.delenv("FAKE")
    assert made(place) == with_it


def test_a_refusal_is_told_and_leaves_nothing(place: Path) -> None:
    (place / "file").write_text("")
    with pytest.raises(HostError, match=r"cannot be written: .*XDG_CACHE_HOME"):
        build(place / "source", workload(), (), place / "file" / "builds")
    (place / "source/main.c").write_text("ERROR")
    with pytest.raises(HostError) as caught:
        made(place)
    assert "workload source: cc exit code 1" in str(caught.value)
    assert "main.c:1: error: no such thing" in str(caught.value) and str(place) not in str(caught.value)
    assert list((place / "builds").iterdir()) == []
    write_program(place / "bin/cc", "#!/bin/sh\nexit 3\n")
    refuses(HostError, "exit code 3 when asked for its version", made, place)


def test_a_missing_compiler_is_named_with_its_remedy(place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(place / "empty"))
    refuses(HostError, r"cc: nothing on PATH, expected a compiler .*; apt install gcc", made, place)
    runtime = Jvm(name="17", java="/j/bin/java", release=17, build="17")
    with pytest.raises(HostError, match="javac: only Java runtimes without a compiler"):
        build(place / "source", workload(tool="javac"), (runtime,), place / "builds")


def test_javac_of_a_found_jvm_compiles_for_all_and_two_languages_share_a_folder(place: Path) -> None:
    javac = write_program(place / "jdk/bin/javac", FAKE_JAVAC)
    jvms = (
        Jvm(name="17", java="/j/bin/java", release=17, build="17"),
        Jvm(name="21", java=str(place / "jdk/bin/java"), release=21, build="21", javac=str(javac)),
    )
    folder = build(place / "source", workload(tool="javac", release=11), jvms, place / "builds")
    assert folder is not None and (folder / "args").read_text().split()[-1].endswith("source/main.c")
    write_program(place / "bin/javac", FAKE_JAVAC)
    (place / "source/A.java").write_text("a")
    both = [*workload().build, *workload(("*.java",), tool="javac", release=11).build]
    made = build(place / "source", workload().model_copy(update={"build": both}), (), place / "cache")
    assert made is not None and {file.name for file in made.iterdir()} == {"main", "args"}
    (place / "source/A.java").write_text("b")
    assert made != build(place / "source", workload().model_copy(update={"build": both}), (), place / "cache")


@pytest.mark.parametrize("pattern", ["missing.c", "../elsewhere.c", "/etc/passwd", "link.c"])
def test_sources_stay_in_the_folder(place: Path, pattern: str) -> None:
    (place / "elsewhere.c").write_text("x")
    (place / "source/link.c").symlink_to(place / "elsewhere.c")
    with pytest.raises(StudyError, match=f'source/workload.toml: build.sources: no file for "{pattern}"'):
        made(place, workload(sources=(pattern,)))
    assert calls(place) == 0


def test_a_cache_follows_the_environment_where_there_is_something_to_build(tmp_path: Path) -> None:
    assert build(tmp_path, Workload(name="w", title="", argv=["true"])) is None
    assert cache_folder({"XDG_CACHE_HOME": "/c"}) == Path("/c/scalograph")
    assert cache_folder({"XDG_CACHE_HOME": "relative"}).parent.name == ".cache"
    assert cache_folder({}) == Path.home() / ".cache/scalograph"


def test_a_real_compiler(tmp_path: Path) -> None:
    if not any(os.access(f"{folder}/cc", os.X_OK) for folder in os.environ["PATH"].split(":")):
        pytest.skip("no C compiler on PATH")
    text = "#include <math.h>\nint main(int n, char **v) { (void)v; return (int)sqrt(n * 49.0); }\n"
    (tmp_path / "main.c").write_text(text)
    folder = build(tmp_path, workload(flags=("-Wall", "-Werror", "-lm")), (), tmp_path / "builds")
    assert folder is not None and subprocess.run([folder / "main"], check=False).returncode == 7


@pytest.mark.guarantee
def test_what_a_killed_build_left_half_filled_is_removed(place: Path) -> None:
    left = place / "builds/.w-0123-abcdefg_"
    left.mkdir(parents=True)
    other = [place / "builds/.w-0123-more-words", place / "builds/w-0123-abcdefgh"]
    for folder in other:
        folder.mkdir()
    made(place)
    assert not left.exists() and all(folder.exists() for folder in other)


def test_cargo_installs_the_crate_and_leaves_its_folder_alone(place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write_program(place / "bin/cargo", FAKE_CARGO)
    monkeypatch.setenv("CARGO_HOME", "/crates")
    monkeypatch.setenv("RUSTFLAGS", "-C opt-level=0")
    folder = made(place, workload(tool="cargo"))
    assert [str(file.relative_to(folder)) for file in folder.rglob("*") if file.is_file()] == ["bin/main"]
    words = (folder / "bin/main").read_text().split()
    assert {"install", "--locked", "home=/crates", "flags=", "cwd=/", f"{place}/source"} <= set(words)


@pytest.mark.skipif(shutil.which("cargo") is None, reason="no cargo: apt-get install rustup")
def test_a_real_crate_is_built(tmp_path: Path) -> None:
    (tmp_path / "src").mkdir()
    (tmp_path / "Cargo.toml").write_text('[package]\nname = "small"\nversion = "0.1.0"\nedition = "2021"\n')
    (tmp_path / "Cargo.lock").write_text('version = 4\n[[package]]\nname = "small"\nversion = "0.1.0"\n')
    (tmp_path / "src/main.rs").write_text('fn main() { println!("built"); }\n')
    before, said = sorted(tmp_path.rglob("*")), list[str]()
    crate = workload(("src/*.rs", "Cargo.*"), tool="cargo")
    folder = build(tmp_path, crate, (), tmp_path.parent / "builds", tell=said.append)
    assert folder is not None and folder == build(tmp_path, crate, (), tmp_path.parent / "builds", tell=said.append)
    assert said == [f"{crate.name}: compiled by cargo, once; kept in {folder}"]
    assert subprocess.run([folder / "bin/small"], capture_output=True, text=True, check=True).stdout == "built\n"
    assert sorted(tmp_path.rglob("*")) == before and [entry.name for entry in folder.iterdir()] == ["bin"]
