"""JVMs are found where people put them, each once, and asked once. The launchers here are scripts."""

from functools import partial
from pathlib import Path

import pytest

from scalograph.control.control import LevelError
from scalograph.control.host_facts import add_jvms
from scalograph.control.jvm import JvmControl
from scalograph.protocol.facts import HostFacts, Jvm
from scalograph.system.platform_facts import find_jvms
from tests.kit.processes import write_program
from tests.kit.studies import facts_of
from tests.unit.control.trees import write

SAID = """echo asked >> "$0.asked"
cat >&2 <<END
Property settings:
    java.home = /somewhere
    java.library.path = /a
        /b
    java.runtime.version = {version}+9
    java.specification.version = 1
    java.vendor = {vendor}
    java.vendor.url = https://example.org/
    java.version = {version}

openjdk version "{version}"
END
exit {code}
"""


def launcher(root: Path, home: str, version: str, vendor: str = "Debian", javac: bool = False, code: int = 0) -> Path:
    java = write_program(root / home / "bin/java", SAID.format(version=version, vendor=vendor, code=code))
    if javac:
        write_program(java.parent / "javac", "")
    return java


def asked(java: Path) -> int:
    file = Path(f"{java}.asked")
    return len(file.read_text().splitlines()) if file.exists() else 0


def test_what_a_launcher_says(tmp_path: Path) -> None:
    java = launcher(tmp_path / "a", "usr/lib/jvm/x", "17.0.15", javac=True)
    (jvm,) = find_jvms(tmp_path / "a", {})
    assert (jvm.name, jvm.release, jvm.build, jvm.vendor) == ("17", 17, "17.0.15+9", "Debian")
    assert (jvm.java, jvm.javac) == (str(java), str(java.parent / "javac"))
    launcher(tmp_path / "b", "usr/lib/jvm/x", "17.0.15")
    assert find_jvms(tmp_path / "b", {})[0].javac is None, "a runtime has no compiler"


@pytest.mark.parametrize(("version", "release"), [("1.8.0_292", 8), ("11.0.2", 11), ("25-ea", 25), ("21", 21)])
def test_releases(tmp_path: Path, version: str, release: int) -> None:
    launcher(tmp_path, "usr/lib/jvm/x", version)
    assert find_jvms(tmp_path, {})[0].release == release


def test_java_home_before_path_before_usr_lib_jvm(tmp_path: Path) -> None:
    for home, version in (("opt/home", "21"), ("opt/path", "17"), ("usr/lib/jvm/a", "11")):
        launcher(tmp_path, home, version)
    environ = {"JAVA_HOME": "/opt/home", "PATH": "relative::/nowhere:/opt/path/bin"}
    assert [jvm.release for jvm in find_jvms(tmp_path, environ)] == [21, 17, 11]


def test_a_launcher_that_a_level_gives_is_asked_and_stands_behind_those_that_were_found(tmp_path: Path) -> None:
    java = str(launcher(tmp_path, "opt/given", "25.0.1"))
    known = HostFacts(cpus=(), jvms=(Jvm(name="17", java="/j17/bin/java", release=17, build="17.0.1+2"),))
    facts = add_jvms(known, [java, str(tmp_path / "none"), "/j17/bin/java"])
    assert [(jvm.name, jvm.build) for jvm in facts.jvms] == [("17", "17.0.1+2"), (java, "25.0.1+9")]
    assert facts.machine()["jvms"][java] == "25.0.1+9"
    assert JvmControl().resolve(["all", java], facts) == ["17", java]
    with pytest.raises(LevelError, match="twice"):
        JvmControl().resolve(["17", "/j17/bin/java"], facts)


def test_one_launcher_is_one_jvm_however_it_is_reached(tmp_path: Path) -> None:
    java = launcher(tmp_path, "usr/lib/jvm/java-17", "17.0.15")
    (tmp_path / "usr/lib/jvm/default").symlink_to("java-17")
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin/java").symlink_to(java)
    found = find_jvms(tmp_path, {"JAVA_HOME": "/usr/lib/jvm/default", "PATH": "/bin"})
    assert [jvm.java for jvm in found] == [str(java)]
    assert asked(java) == 1


def test_names_are_unique(tmp_path: Path) -> None:
    for folder, vendor in (("a", "Debian"), ("b", "Eclipse Adoptium"), ("c", "Debian"), ("d", "Debian"), ("e", "Me")):
        launcher(tmp_path, f"usr/lib/jvm/{folder}", "17.0.1", vendor)
    names = [jvm.name for jvm in find_jvms(tmp_path, {})]
    assert names == ["17", "17-temurin", "17-debian", "17-debian-2", "17-other"]


def test_what_is_not_there_or_does_not_answer_is_left_out(tmp_path: Path) -> None:
    assert find_jvms(tmp_path, {"PATH": "/usr/bin", "JAVA_HOME": ""}) == ()
    launcher(tmp_path, "usr/lib/jvm/broken", "17.0.1", code=1)
    launcher(tmp_path, "usr/lib/jvm/mute", "nonsense")
    write(tmp_path / "usr/lib/jvm/plain/bin/java", "not a program")
    write_program(tmp_path / "usr/lib/jvm/text/bin/java", "\x00\x01")
    assert find_jvms(tmp_path, {}) == ()


def test_an_answer_is_kept_until_the_launcher_changes_and_asked_again_where_it_is_broken(tmp_path: Path) -> None:
    java = launcher(tmp_path, "usr/lib/jvm/x", "17.0.1")
    find = partial(find_jvms, tmp_path, {}, cache=tmp_path / "cache")
    first = find()
    assert find() == first and asked(java) == 1
    (file,) = (tmp_path / "cache").iterdir()
    for n, text in enumerate(("", "[]", '{"java.version": 17}', "{"), 2):
        file.write_text(text)
        assert find() == first and asked(java) == n
    java.write_text(java.read_text().replace("17.0.1", "17.0.22"))
    assert find()[0].build == "17.0.22+9"


def test_a_failure_is_not_kept_and_a_cache_that_cannot_be_written_is_done_without(tmp_path: Path) -> None:
    java = launcher(tmp_path / "a", "usr/lib/jvm/x", "17.0.1", code=1)
    for _ in range(2):
        find_jvms(tmp_path / "a", {}, cache=tmp_path / "cache")
    assert asked(java) == 2
    launcher(tmp_path / "b", "usr/lib/jvm/x", "17.0.1")
    assert find_jvms(tmp_path / "b", {}, cache=tmp_path / "a/usr/lib/jvm/x/bin/java/cache")[0].release == 17


def test_a_launcher_may_be_taken_without_being_started(tmp_path: Path) -> None:
    program = write_program(tmp_path / "java", f"touch {tmp_path}/started")
    facts = add_jvms(facts_of(0), [str(program), str(tmp_path / "none")], starts=False)
    assert [(jvm.name, jvm.build) for jvm in facts.jvms] == [(str(program), "assumed")]
    assert not (tmp_path / "started").exists()
    add_jvms(facts_of(0), [str(program)])
    assert (tmp_path / "started").exists()
