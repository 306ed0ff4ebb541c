"""What `make demo` and `make test` install, and what they only name: by programs that stand in for those of apt."""

import subprocess
from collections.abc import Sequence
from pathlib import Path

import pytest

from tests.kit import ROOT

SCRIPTS = ROOT / "scripts"
TOOLS = ("bash", "sed", "head", "sort", "cut", "env", "touch", "chmod")
PROGRAMS = {
    "python": "exit 0", "cargo": "echo cargo 1.90.0", "cc": "exit 0",
    "java": "echo 'openjdk version \"17.0.15\"'", "javac": "echo javac 17.0.15",
}  # fmt: skip
# A package is known where the lists hold it; what it installs are the programs that the test names.
APT_CACHE = 'grep -qx "$2" {folder}/lists && echo "  Candidate: 1" || echo "  Candidate: (none)"'
APT_GET = """\
echo "$DEBIAN_FRONTEND $*" >> {folder}/apt
case $1 in
update) touch {folder}/updated; echo "{fresh}" | tr ' ' '\\n' >> {folder}/lists;;
install) test {code} = 0 || exit {code}
    for program in {installs}; do
        printf '#!/bin/sh\\necho "javac 21.0.1"\\n' > {bin}/$program; chmod +x {bin}/$program
    done;;
esac
"""


class Machine:
    """Folders of programs that stand in for those of a machine."""

    def __init__(self, folder: Path, lacks: Sequence[str] = (), root: bool = True, apt: bool = True) -> None:
        self.folder, self.bin = folder, folder / "bin"
        self.bin.mkdir()
        (folder / "lists").write_text("")
        for tool in (*TOOLS, "grep", "tr"):
            (self.bin / tool).symlink_to(f"/usr/bin/{tool}")
        for name, line in {**PROGRAMS, "id": f"echo {0 if root else 1000}"}.items():
            if name not in lacks:
                self.program(name, line)
        if apt:
            self.apt()

    def program(self, name: str, text: str) -> None:
        (self.bin / name).write_text(f"#!/bin/sh\n{text}\n")
        (self.bin / name).chmod(0o755)

    def apt(self, installs: Sequence[str] = (), code: int = 0, lists: str = "", fresh: str = "") -> None:
        """Of these packages lists are there, of those they come by `apt-get update`."""
        (self.folder / "lists").write_text("".join(f"{name}\n" for name in lists.split()))
        words = {"folder": self.folder, "bin": self.bin, "code": code, "fresh": fresh, "installs": " ".join(installs)}
        self.program("apt-cache", APT_CACHE.format(**words))
        self.program("apt-get", APT_GET.format(**words))

    def run(self, script: str, *words: str, **env: str) -> subprocess.CompletedProcess[str]:
        argv = [SCRIPTS / script, *words]
        return subprocess.run(argv, env={"PATH": str(self.bin), **env}, capture_output=True, text=True, check=False)

    def demo(self, **env: str) -> subprocess.CompletedProcess[str]:
        return self.run("prerequisites.sh", str(self.bin / "python"), **env)

    def calls(self) -> list[str]:
        """Of apt-get, each with its front end."""
        file = self.folder / "apt"
        return file.read_text().splitlines() if file.exists() else []


INSTALL = "noninteractive install -y -q -o DPkg::Lock::Timeout=300"
DEMO = "gcc libc6-dev default-jdk-headless python3-venv"


def test_nothing_is_asked_of_apt_where_nothing_is_missing_or_not_all_of_it_is_ours(tmp_path: Path) -> None:
    machine = Machine(tmp_path)
    done = machine.demo()
    assert (done.returncode, done.stderr, machine.calls()) == (0, "", [])
    for name in ("java", "javac"):
        (machine.bin / name).unlink()
    machine.apt(("java", "javac"), lists=DEMO)
    done = machine.demo(JAVA_HOME="/no/jdk")  # no JDK is installed beside the one that was chosen
    assert (done.returncode, machine.calls()) == (3, []) and "unset JAVA_HOME" in done.stderr


@pytest.mark.parametrize(("root", "apt"), [(False, True), (True, False)], ids=["a user", "another system"])
def test_elsewhere_commands_are_named_and_what_tests_need_stops_nobody(tmp_path: Path, root: bool, apt: bool) -> None:
    machine = Machine(tmp_path, ("cc", "javac"), root, apt)
    done = machine.demo()
    assert (done.returncode, machine.calls()) == (3, [])
    assert "missing: a C compiler (cc)\n  install it with: apt-get install gcc libc6-dev\n" in done.stderr
    assert "install it with: apt-get install default-jdk-headless\n" in done.stderr
    done = machine.run("test-prerequisites.sh")
    assert (done.returncode, machine.calls()) == (0, []), done.stderr
    assert done.stderr.startswith("missing for some tests: chromium shellcheck node-typescript ")


def test_what_apt_cannot_install_stops_and_is_named_alone(tmp_path: Path) -> None:
    machine = Machine(tmp_path, lacks=("cc", "cargo"))
    machine.apt(("cc",), lists=DEMO)
    done = machine.demo()
    assert done.returncode == 3 and done.stderr.count("missing: ") == 1
    assert "missing: Rust 1.85 or later (cargo)" in done.stderr


@pytest.mark.parametrize("fresh", [False, True], ids=["lists", "no lists"])
def test_a_jdk_and_a_compiler_are_installed_by_root(tmp_path: Path, fresh: bool) -> None:
    machine = Machine(tmp_path, lacks=("cc", "java", "javac"))
    machine.apt(("cc", "java", "javac"), lists="" if fresh else DEMO, fresh=DEMO if fresh else "")
    done = machine.demo()
    assert done.returncode == 0, done.stderr
    update = ["noninteractive update -q"] if fresh else []
    assert machine.calls() == [*update, f"{INSTALL} gcc libc6-dev default-jdk-headless"]
    assert "setup: apt-get install gcc libc6-dev default-jdk-headless" in done.stderr


def test_what_apt_refuses_is_tried_with_new_lists_and_then_named(tmp_path: Path) -> None:
    machine = Machine(tmp_path, lacks=("cc",))
    machine.apt(code=100, lists=DEMO)
    done = machine.demo()
    install = f"{INSTALL} gcc libc6-dev"
    assert machine.calls() == [install, "noninteractive update -q", install]
    assert done.returncode == 3 and "install it with: apt-get install gcc libc6-dev" in done.stderr


def test_the_tests_get_what_is_known_and_the_rest_is_named(tmp_path: Path) -> None:
    machine = Machine(tmp_path)
    machine.apt(("chromium",), lists="chromium", fresh="shellcheck node-typescript")
    done = machine.run("test-prerequisites.sh")
    assert done.returncode == 0, done.stderr
    update, install = machine.calls()
    assert update == "noninteractive update -q" and install == f"{INSTALL} chromium shellcheck node-typescript"
    named = done.stderr.splitlines()[-1]
    assert "install with: apt-get install shellcheck" in named and "chromium" not in named
    assert machine.run("test-prerequisites.sh", CI="true").returncode == 1
