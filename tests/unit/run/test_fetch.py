"""Jars and distributions: once for each checksum, the declared file or none, and no zip that writes where it likes."""

import hashlib
import stat
from collections.abc import Callable
from pathlib import Path
from zipfile import ZIP_DEFLATED, ZipFile, ZipInfo

import pytest

from scalograph.errors import HostError
from scalograph.run.hosts.local.prepare_host import build_program, fetch, unpack
from scalograph.study.program import Process, Program, Used
from scalograph.study.workload import ClassPath, Fetch, Workload
from tests.kit.processes import write_program
from tests.kit.refusals import refuses
from tests.kit.studies import facts_of

# Stands for Maven: what it is asked for lies beside it.
FAKE_MVN = """#!/bin/sh
for word; do
  case "$word" in -DoutputDirectory=*) out=${word#*=};; -Dartifact=*) artifact=${word#*=};; esac
done
here=$(dirname "$0")
echo "$artifact in $(pwd)" >> "$here/calls"
name=$(echo "$artifact" | cut -d: -f2)
cp "$here/$name" "$out/$name-1.jar" 2>/dev/null || { echo "[ERROR] no $name anywhere"; exit 1; }
"""
FAKE_JAVAC = """#!/bin/sh
if [ "$1" = -version ]; then echo "javac 17"; exit; fi
words="$*"
while [ "$1" != -d ]; do shift; done
echo "$words" >> "$2/args"
"""

Put = Callable[..., Fetch]


@pytest.fixture
def put(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Put:
    """Puts a file where the stand-in for Maven finds it, and declares it."""
    for name, text in {"mvn": FAKE_MVN, "javac": FAKE_JAVAC}.items():
        write_program(tmp_path / "bin" / name, text)
    monkeypatch.setenv("PATH", f"{tmp_path / 'bin'}:/usr/bin:/bin")

    def putting(name: str, content: bytes, **more: object) -> Fetch:
        (tmp_path / "bin" / name).write_bytes(content)
        given = {"sha256": hashlib.sha256(content).hexdigest(), "bytes": len(content), **more}
        artifact = f"org.example:{name}:1" + (":zip" if "unpack" in more else "")
        return Fetch.model_validate({"artifact": artifact, **given})

    return putting


def calls(place: Path) -> list[str]:
    file = place / "bin/calls"
    return [line.split()[0] for line in file.read_text().splitlines()] if file.exists() else []


def kept(place: Path) -> list[Path]:
    return sorted((place / "fetched").glob("*"))


def zipped(file: Path, *entries: tuple[str | ZipInfo, bytes]) -> bytes:
    with ZipFile(file, "w", ZIP_DEFLATED) as archive:
        for name, content in entries:
            archive.writestr(name, content)
    return file.read_bytes()


def of_mode(name: str, mode: int) -> ZipInfo:
    entry = ZipInfo(name)
    entry.external_attr = mode << 16
    return entry


def test_each_is_fetched_once_and_told_before(tmp_path: Path, put: Put, monkeypatch: pytest.MonkeyPatch) -> None:
    one, other, told = put("one", b"1" * 1_500_000), put("other", b"2" * 100_000), list[str]()
    files = fetch("w", [one, other, one], told.append, tmp_path / "fetched")
    assert [file.read_bytes()[:1] for file in files] == [b"1", b"2", b"1"]
    assert calls(tmp_path) == ["org.example:one:1", "org.example:other:1"]
    assert len(told) == 1 and "2 files, 1.6 MB (one 1, other 1)" in told[0]
    monkeypatch.setenv("PATH", str(tmp_path / "empty"))
    assert fetch("w", [other], told.append, tmp_path / "fetched") == files[1:2] and len(told) == 1


def test_without_maven_files_and_remedy_are_named(tmp_path: Path, put: Put, monkeypatch: pytest.MonkeyPatch) -> None:
    one = put("one", b"x" * 725_000)
    monkeypatch.setenv("PATH", str(tmp_path / "empty"))
    with pytest.raises(HostError, match=r"no mvn .* 1 file, 0.72 MB \(one 1\); .*apt-get install maven"):
        fetch("w", [one], print, tmp_path / "fetched")


def test_another_file_is_refused_and_what_maven_says_is_told(tmp_path: Path, put: Put) -> None:
    one = put("one", b"declared")
    (tmp_path / "bin/one").write_bytes(b"other")
    with pytest.raises(HostError) as caught:
        fetch("w", [one], print, tmp_path / "fetched")
    assert one.sha256 in str(caught.value) and hashlib.sha256(b"other").hexdigest() in str(caught.value)
    assert kept(tmp_path) == []
    one = put("one", b"x")
    (tmp_path / "bin/one").unlink()
    with pytest.raises(HostError, match=r"(?s)org.example:one:1: exit code 1.*no one anywhere"):
        fetch("w", [one], print, tmp_path / "fetched")
    assert kept(tmp_path) == []


def test_maven_works_in_a_folder_of_its_own(tmp_path: Path, put: Put, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    fetch("w", [put("one", b"x")], print, tmp_path / "fetched")
    at = Path((tmp_path / "bin/calls").read_text().split()[-1])
    assert at.is_relative_to(tmp_path / "fetched") and not at.exists()


def test_a_distribution_is_unpacked_and_its_folder_is_used(tmp_path: Path, put: Put) -> None:
    content = zipped(
        tmp_path / "z", ("server-1/", b""), (of_mode("server-1/bin/run.sh", 0o100755), b"#!"), ("server-1/a", b"a")
    )
    (folder,) = fetch("w", [put("server", content, unpack=True)], print, tmp_path / "fetched")
    assert folder.name == "server-1" and (folder / "a").read_bytes() == b"a"
    assert stat.S_IMODE((folder / "bin/run.sh").stat().st_mode) == 0o755
    assert stat.S_IMODE((folder / "a").stat().st_mode) == 0o644


@pytest.mark.parametrize(("entries", "said"), [
    ([("../evil", b"x")], "leads outside"),
    ([("a/../../evil", b"x")], "leads outside"),
    ([("/etc/evil", b"x")], "leads outside"),
    ([("a\\..\\evil", b"x")], "leads outside"),
    ([(of_mode("a/link", stat.S_IFLNK | 0o777), b"/etc")], "neither a file nor a folder"),
    ([(of_mode("a/pipe", stat.S_IFIFO), b"")], "neither a file nor a folder"),
    ([("a/x", b""), ("b/x", b"")], "2 entries at its top"),
    ([("a", b"")], "1 entries at its top"),
    ([("a/x", b""), ("a/x", b"")], "a path twice"),
    ([("a/" * 5000 + "x", b"")], "cannot be"),
])  # fmt: skip
@pytest.mark.filterwarnings("ignore:Duplicate name")
def test_a_hostile_zip(tmp_path: Path, put: Put, entries: list[tuple[str | ZipInfo, bytes]], said: str) -> None:
    content = zipped(tmp_path / "z", *entries)
    refuses(HostError, said, fetch, "w", [put("server", content, unpack=True)], print, tmp_path / "fetched")
    assert kept(tmp_path) == [] and not list(tmp_path.rglob("evil"))


def test_a_damaged_or_too_large_zip_is_told(tmp_path: Path, put: Put, monkeypatch: pytest.MonkeyPatch) -> None:
    whole = zipped(tmp_path / "z", ("a/x", b"x" * 10_000))
    for content in (whole[:-30], b"no zip at all", whole.replace(whole[40:44], b"\0\0\0\0")):
        with pytest.raises(HostError, match="cannot be unpacked"):
            fetch("w", [put("server", content, unpack=True)], print, tmp_path / "fetched")
    monkeypatch.setattr("scalograph.run.hosts.local.prepare_host.MAX_BYTES", 9_999)
    refuses(HostError, "more than", unpack, tmp_path / "z", tmp_path / "out")
    assert kept(tmp_path) == [] and not (tmp_path / "out").exists()


def test_only_what_a_level_needs_is_fetched(tmp_path: Path, put: Put, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    jars = [put(name, name.encode()).model_dump() for name in ("shared", "fast", "slow")]
    builds: list[dict[str, object]] = [{"tool": "javac", "sources": ["Main.java"], "fetch": jars[:1]}]
    builds += [
        {"when": {"kind": [kind]}, "tool": "javac", "sources": [f"{kind}.java"], "fetch": [jar]}
        for kind, jar in zip(("fast", "slow"), jars[1:], strict=True)
    ]
    declared = {"name": "w", "title": "", "argv": ["{classpath}", "{fetched.slow}"], "build": builds}
    workload = Workload.model_validate({**declared, "parameters": {"kind": {"type": "text", "default": "fast"}}})
    for name in ("Main", "fast", "slow"):
        (tmp_path / f"{name}.java").write_text("")
    used = Used(workload, tmp_path)
    started = Program((Process(("{classpath}",)),), tmp_path, False, {"kind": "fast"}, (used,))
    ready = build_program(started, facts_of(0), [{"kind": "fast"}, {"kind": "none"}])
    assert calls(tmp_path) == ["org.example:shared:1", "org.example:fast:1"]
    assert ready.values["fetched.slow"] == "" and Path(ready.values["fetched.fast"]).read_text() == "fast"
    path = ready.values["classpath"]
    assert isinstance(path, ClassPath)
    by_level = {
        kind: [Path(entry).name for entry in path.text_for({"kind": kind}).split(":")] for kind in ("fast", "none")
    }
    built = Path(ready.values["build"])
    assert by_level == {"fast": [built.name, "shared-1.jar", "fast-1.jar"], "none": [built.name, "shared-1.jar"]}
    first, second = (built / "args").read_text().splitlines()
    assert "shared-1.jar" in first and "fast-1.jar" not in first and "fast-1.jar" in second
    assert "slow" not in first + second
