"""The workload source-build on a tree of three files, and how it reads this machine's sources of packages."""

import hashlib
import shutil
import subprocess
import sys
import tarfile
from pathlib import Path
from types import ModuleType

import pytest

from scalograph.study.shipped import shipped_workload
from tests.kit.refusals import refuses
from tests.kit.scripts import load_script

HOME = shipped_workload("source-build")
MAKEFILE = """all: a.o b.o c.o
\t@echo done > built
%.o: %.c
\t@for i in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20; do :; done; cp $< $@
nothing:
\t@echo no such thing >&2; exit 3
"""


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    folder = tmp_path / "tree"
    folder.mkdir()
    (folder / "Makefile").write_text(MAKEFILE)
    for name in "abc":
        (folder / f"{name}.c").write_text(name)
    return folder


def load(name: str, monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    monkeypatch.syspath_prepend(str(HOME))
    return load_script(HOME / f"{name}.py")


@pytest.fixture
def fetch(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    return load("fetch", monkeypatch)


def build(folder: Path, **values: object) -> subprocess.CompletedProcess[str]:
    given = {"prepared": "/nowhere/own", "source": "", "target": "", "jobs": 2, "iterations": 1, **values}
    words = [f"{name}={value}" for name, value in given.items()]
    argv = [sys.executable, str(HOME / "run.py"), *words]
    return subprocess.run(argv, cwd=folder, capture_output=True, text=True, check=False)


def test_each_iteration_builds_everything_anew(tree: Path, tmp_path: Path) -> None:
    done = build(tmp_path, source=tree, iterations=2)
    assert done.returncode == 0, done.stderr
    lines = [line.split() for line in done.stdout.splitlines() if line.startswith("iteration")]
    assert [line[1] for line in lines] == ["0", "1"]
    for _, _, begin, end, work, cpu_ns in lines:
        assert int(begin) < int(end) and work == "3" and int(cpu_ns) > 0
    assert sorted(path.name for path in tree.iterdir()) == ["Makefile", "a.c", "b.c", "c.c"]
    assert [path.name for path in tmp_path.iterdir()] == ["tree"]
    (tree / "old.o").write_text("")
    done = build(tmp_path, source=tree)
    assert "value objects 3\n" in done.stdout


def test_cpu_time_holds_a_helper_that_leaves_the_tree(tree: Path, tmp_path: Path) -> None:
    """It burns 0.2 s, and make does not wait for it; the next target does, by a file."""
    burn = "import time; [0 for _ in iter(lambda: time.process_time() < .2, False)]; open('left', 'w').close()"
    recipe = f'\t@setsid {sys.executable} -c "{burn}" &\n\t@while [ ! -e left ]; do sleep 0.01; done; sleep 0.1\n'
    (tree / "Makefile").write_text(f"all:\n{recipe}")
    done = build(tmp_path, source=tree)
    assert done.returncode == 0, done.stderr
    cpu_ns = int(done.stdout.split()[5])
    assert cpu_ns >= 200_000_000


@pytest.mark.parametrize(("source", "said"), [("", "absolute path"), ("tree", "absolute path"), ("/", "no Makefile")])
def test_no_tree(tmp_path: Path, source: str, said: str) -> None:
    done = build(tmp_path, source=source)
    assert done.returncode == 69 and said in done.stderr


def test_sources_of_packages_become_sources_of_sources_of_a_release(fetch: ModuleType, tmp_path: Path) -> None:
    (tmp_path / "one.sources").write_text("Types: deb deb-src\nURIs: mirror\nSuites: s\nSigned-By: /a.gpg\n")
    (tmp_path / "two.list").write_text("# a comment\ndeb [arch=amd64] mirror s main\n")
    (tmp_path / "none.list").write_text("deb-src mirror s main\n")
    found = fetch.sources(tmp_path, tmp_path / "absent.list")
    assert found == {
        "one.sources": "Types: deb-src\nURIs: mirror\nSuites: s\nSigned-By: /a.gpg\n",
        "two.list": "deb-src [arch=amd64] mirror s main\n",
    }
    (tmp_path / "os-release").write_text('ID=x\nVERSION_CODENAME="wheezy"\n')
    assert fetch.codename(tmp_path / "os-release") == "wheezy"
    assert fetch.codename(tmp_path / "absent") is None


def test_what_is_missing_is_named(fetch: ModuleType, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(fetch.shutil, "which", lambda name: None if name in ("bison", "flex") else f"/bin/{name}")
    refuses(SystemExit, "flex, bison; apt install flex bison", fetch.check, fetch.TREES["linux"])
    monkeypatch.setattr(fetch.shutil, "which", lambda name: None)
    refuses(SystemExit, "found no apt-get", fetch.check, fetch.TREES["lua"])


FAKE_APT = """#!/bin/sh
echo "$@" >> "$(dirname "$0")/calls"
case "$*" in *-t*|*update*) echo "E: Failed to fetch http://somewhere/x  404 [IP: 192.0.2.1 80]" >&2; exit 100;; esac
"""


@pytest.fixture
def fake_apt(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    program = tmp_path / "bin/apt-get"
    program.parent.mkdir()
    program.write_text(FAKE_APT)
    program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{program.parent}:/usr/bin:/bin")
    return tmp_path


def test_what_the_release_lacks_is_taken_as_it_is_newest_from_a_mirror_that_answers(
    fetch: ModuleType, fake_apt: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(fetch, "codename", lambda: "release")
    fetch.download("package", [], fake_apt)
    calls = (fake_apt / "bin/calls").read_text().splitlines()
    assert calls == ["-t release source --download-only package", "source --download-only package"]
    (fake_apt / "into").mkdir()
    with pytest.raises(SystemExit) as caught:
        fetch.fetch(fetch.TREES["lua"], fake_apt / "into")
    said = str(caught.value)
    assert "Failed to fetch the mirror  404; look at the network" in said and "tree = own" in said


@pytest.fixture
def mirror(fetch: ModuleType, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A mirror with one source package, in a folder: apt's own work, without a network."""
    home = tmp_path / "mirror"
    (home / "lua-5.4.9").mkdir(parents=True)
    (home / "lua-5.4.9/Makefile").write_text("posix:\n")
    with tarfile.open(home / "lua5.4_5.4.9.orig.tar.xz", "w:xz") as archive:
        archive.add(home / "lua-5.4.9", "lua-5.4.9")
    packed = home / "lua5.4_5.4.9.orig.tar.xz"
    size, digest = packed.stat().st_size, hashlib.sha256(packed.read_bytes()).hexdigest()
    fields = "Format: 1.0\nVersion: 5.4.9-1\nBinary: lua5.4\nArchitecture: any\nMaintainer: n\n"
    (home / "lua5.4_5.4.9-1.dsc").write_text(
        f"Source: lua5.4\n{fields}Checksums-Sha256:\n {digest} {size} {packed.name}\n"
    )
    described = home / "lua5.4_5.4.9-1.dsc"
    its_digest = hashlib.sha256(described.read_bytes()).hexdigest()
    files = f" {its_digest} {described.stat().st_size} {described.name}\n {digest} {size} {packed.name}\n"
    (home / "Sources").write_text(f"Package: lua5.4\n{fields}Directory: .\nChecksums-Sha256:\n{files}\n")
    known = {"own.list": f"deb-src [trusted=yes] copy:{home} ./\n"}
    monkeypatch.setattr(fetch, "sources", lambda: known)
    return home


@pytest.mark.skipif(shutil.which("apt-get") is None, reason="needs apt-get")
def test_a_tree_from_a_mirror_is_as_its_index_says(fetch: ModuleType, mirror: Path, tmp_path: Path) -> None:
    into = tmp_path / "into"
    into.mkdir()
    found = fetch.fetch(fetch.TREES["lua"], into)
    digest = hashlib.sha256((mirror / "lua5.4_5.4.9.orig.tar.xz").read_bytes()).hexdigest()
    assert found == {
        "package": "lua5.4", "version": "5.4.9-1", "file": "lua5.4_5.4.9.orig.tar.xz", "sha256": digest
    }  # fmt: skip
    assert [path.name for path in into.iterdir()] == ["tree"] and (into / "tree/Makefile").is_file()
    with (mirror / "lua5.4_5.4.9.orig.tar.xz").open("ab") as stream:
        stream.write(b"more")
    (tmp_path / "again").mkdir()
    with pytest.raises(SystemExit, match=r"apt-get source failed: .*; try again later"):
        fetch.fetch(fetch.TREES["lua"], tmp_path / "again")


def test_a_synthetic_tree_is_the_same_on_every_machine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    made = load("synthetic", monkeypatch)
    first, second = made.generate(tmp_path / "a"), made.generate(tmp_path / "b")
    assert first == second and first["version"] == "90 units"
    sources = sorted(path.relative_to(tmp_path / "a/tree").as_posix() for path in (tmp_path / "a").rglob("*.c"))
    assert len(sources) == 60 + 30
    folders = {name.rpartition("/")[0] for name in sources} - {"image"}
    assert sorted(folders) == made.directories() and len(folders) == 20
    assert len({(tmp_path / "a/tree" / name).read_text() for name in sources}) == len(sources), "no unit twice"


@pytest.fixture
def small(tmp_path: Path) -> Path:
    """A prepared tree as a synthetic one is laid out, with a recipe that copies: who made what, and when."""
    folder = tmp_path / "prepared/synthetic-modules"
    log = tmp_path / "log"
    for place, target in (("tree", "image.elf"), *((f"tree/modules/{i:02}", "module.ko") for i in range(20))):
        (folder / place).mkdir(parents=True)
        text = f"{target}: one two\none two:\n\t@echo begin {place}/$@ >> {log}; sleep 0.02; cp Makefile $@.o; "
        (folder / place / "Makefile").write_text(text + f"echo end {place}/$@ >> {log}\n")
    return folder


@pytest.mark.skipif(shutil.which("make") is None, reason="needs make")
def test_directories_of_modules_are_made_one_after_another(small: Path, tmp_path: Path) -> None:
    done = build(tmp_path, prepared=small, jobs=2)
    assert done.returncode == 0, done.stderr
    places = [line.split()[1].rpartition("/")[0] for line in (tmp_path / "log").read_text().splitlines()]
    # Four lines of each folder, and none of the next one before the last of it.
    assert places == [place for place in ["tree", *(f"tree/modules/{i:02}" for i in range(20))] for _ in range(4)]
    values = dict(line.split()[1:] for line in done.stdout.splitlines() if line.startswith("value"))
    begin, end = map(int, done.stdout.split()[2:4])
    assert values["objects"] == "42" and 0 < int(values["image_end_ns"]) < end - begin
    walls = float(values["image_wall_s"]) + float(values["modules_wall_s"])
    assert walls == pytest.approx((end - begin) / 1e9, abs=1e-5)
    assert float(values["image_cpu_percent"]) > 0 and float(values["modules_cpu_percent"]) > 0


@pytest.mark.skipif(shutil.which("make") is None, reason="needs make")
def test_an_image_alone_is_the_whole_build(small: Path, tmp_path: Path) -> None:
    done = build(tmp_path, prepared=small.rename(small.with_name("synthetic")), jobs=2)
    values = dict(line.split()[1:] for line in done.stdout.splitlines() if line.startswith("value"))
    begin, end = map(int, done.stdout.split()[2:4])
    assert values["objects"] == "2" and int(values["image_end_ns"]) == end - begin
    assert "modules_wall_s" not in values


def test_a_tree_that_does_not_build_says_why_and_one_without_phases_tells_none(tree: Path, tmp_path: Path) -> None:
    assert "image" not in build(tmp_path, source=tree).stdout
    done = build(tmp_path, source=tree, target="nothing")
    assert done.returncode == 69 and "exit code 2" in done.stderr and "no such thing" in done.stderr
    assert [path.name for path in tmp_path.iterdir()] == ["tree"]


def test_a_kernel_makes_the_directories_of_its_options(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    run = load("run", monkeypatch)
    prepared = tmp_path / "linux-modules"
    (prepared / "tree").mkdir(parents=True)
    (prepared / "tree/Makefile").touch()
    (prepared / "config").write_text("CONFIG_EXT4_FS=m\n# CONFIG_UDF_FS is not set\nCONFIG_FAT_FS=y\nCONFIG_IPV6=m\n")
    built = run.Build(prepared, "", "", 2)
    assert built.module_calls() == [("fs/ext4/",), ("net/ipv6/",), ("modules",)]
