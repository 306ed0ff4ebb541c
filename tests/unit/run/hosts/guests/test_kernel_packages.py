"""A kernel from its package, by programs that stand in for apt and dpkg: kept once, known by its checksum."""

import hashlib
from pathlib import Path

import pytest

from scalograph.errors import HostError
from scalograph.run.hosts.guests.kernel_packages import fetch_kernel, offered_kernels, release_options
from tests.kit.processes import write_program
from tests.kit.refusals import refuses

NAME = "linux-image-6.1.0-9-cloud-amd64"
# The machine's own index is empty: only with a state of its own does apt know the package.
APT = f"""\
#!/bin/sh
echo "$0 $*" >> LOG
case "$*" in
*update*)
    [ -e UNREACHABLE ] || exit 0
    echo 'E: Failed to fetch https://mirror.test/x  404 [IP: 1.2.3.4 80]' >&2
    exit 100 ;;
*Dir::State=*pkgnames*) echo {NAME}; echo linux-image-6.1.0-9-rt-amd64 ;;
*depends*) echo "{NAME}"; echo "  Depends: linux-binary-6.1.0-9"; echo "  Depends: kmod" ;;
*download*) echo image > {NAME}_6.1.1_amd64.deb; echo binary > linux-binary-6.1.0-9_6.1.1_amd64.deb ;;
esac
"""
DPKG = """\
#!/bin/sh
if [ "$1" = -f ]; then echo 6.1.1-1; exit; fi
mkdir -p "$3/boot" "$3/lib/modules/6.1.0-9-cloud-amd64/kernel"
echo image > "$3/boot/vmlinuz-6.1.0-9-cloud-amd64"
: > "$3/lib/modules/6.1.0-9-cloud-amd64/modules.builtin"
printf 'x\\0depends=\\0' > "$3/lib/modules/6.1.0-9-cloud-amd64/kernel/overlay.ko"
"""


@pytest.fixture
def programs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder of the programs, where they note how they were called."""
    for name, text in (("apt-get", APT), ("apt-cache", APT), ("dpkg-deb", DPKG)):
        text = text.replace("LOG", str(tmp_path / "log")).replace("UNREACHABLE", str(tmp_path / "unreachable"))
        write_program(tmp_path / name, text)
    monkeypatch.setenv("PATH", str(tmp_path), prepend=":")
    return tmp_path


def test_it_is_fetched_once_and_known_by_its_packages_or_told_without_the_mirror(programs: Path) -> None:
    said = list[str]()
    package, folder = fetch_kernel("cloud", said.append, programs / "kernels")
    digest = hashlib.sha256(b"binary\nimage\n").hexdigest()
    assert (package.package, package.version, package.sha256) == (NAME, "6.1.1-1", digest)
    assert package.release == "6.1.0-9-cloud-amd64" and (folder / "vmlinuz").read_text() == "image\n"
    assert {file.name for file in folder.iterdir()} == {"modules", "package.json", "vmlinuz"}
    assert [file.name for file in (folder / "modules").iterdir()] == ["000-overlay.ko"]
    log = (programs / "log").read_text()
    assert fetch_kernel("cloud", said.append, programs / "kernels") == (package, folder)
    assert len(said) == 1 and (programs / "log").read_text() == log
    (programs / "unreachable").touch()
    said = r"apt-get failed: E: Failed to fetch the mirror  404, expected its package; look at the network"
    refuses(HostError, said, fetch_kernel, "cloud", print, programs / "others")
    assert [*(programs / "others").iterdir()] == []


@pytest.mark.parametrize(("file", "text", "expected"), [
    (
        "sources.list.d/debian.sources",
        "Types: deb\nURIs: u\nSuites: old old-updates\nComponents: main\n\nTypes: deb\nSuites: old-security\n",
        "Types: deb\nURIs: u\nSuites: sid\nComponents: main\n",
    ),
    (
        "sources.list",
        "# deb u old main\ndeb [arch=amd64] u old main\ndeb u old-updates main\n",
        "deb [arch=amd64] u sid main\n",
    ),
])  # fmt: skip
def test_another_release_comes_from_where_this_one_does(tmp_path: Path, file: str, text: str, expected: str) -> None:
    (tmp_path / "etc/apt/sources.list.d").mkdir(parents=True)
    (tmp_path / "etc/os-release").write_text("NAME=x\nVERSION_CODENAME=old\n")
    (tmp_path / "etc/apt" / file).write_text(text)
    assert f"Dir::Etc::sourceparts={tmp_path}/parts" in release_options("sid", tmp_path, tmp_path)
    assert (tmp_path / "parts" / Path(file).name).read_text() == expected


def test_levels_are_those_of_the_machine_s_index(programs: Path) -> None:
    assert offered_kernels() == (), "it has none"
    file = programs / "apt-cache"
    file.write_text(f"#!/bin/sh\necho {NAME}; echo linux-image-6.12.3-amd64; echo linux-image-6.1.0-8-cloud-amd64\n")
    assert offered_kernels() == ("6.1-cloud", "6.12-generic")
