"""Services and their driver on several machines: over ssh to this one, and in three network namespaces."""

import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from scalograph.protocol import journal
from scalograph.protocol.record import Record
from tests.kit.command import LONG_S, environment, machine
from tests.kit.processes import pids_with, wait_until, write_program
from tests.kit.results import complete
from tests.kit.servers import DRIVER, SERVER, driver, needs_probe, service
from tests.kit.studies import a_study, write_study
from tests.unit.run.hosts.remote.far_machine import stand_in

pytestmark = [machine, needs_probe]
# Bound to where others reach it; what it is asked for is in its arguments.
BOUND = SERVER.replace('("127.0.0.1", port)', "(sys.argv[5], port)")


def write_placed(folder: Path, mode: str = "plain", pause: int = 300, **web: Any) -> None:
    """Write a study of a server and its driver; `web` is further said of the server."""
    (folder / "server.py").write_text(BOUND)
    (folder / "driver.py").write_text(DRIVER)
    argv = ["python3", "{here}/server.py", "{port}", "{copy}", mode, "{state}", "{address}"]
    more = {"ports": 1, "ready": {"http": "http://127.0.0.1:{port}/health"}, "ready_timeout": "30s", **web}
    asks = ["python3", "{here}/driver.py", "{web_targets}", str(pause)]
    write_study(folder, a_study(
        {"nice": {"levels": [5], "control": "nice"}},
        workload={"events": True, "process": [service("web", *argv, **more), driver(*asks)]},
        protocol={"runs": 1, "max_reruns": 0, "timeout": "30s"},
        responses={"servers": {"from": "value.servers", "better": "higher"},
                   "busy": {"from": "process.web.cpu_percent", "better": "none"}},
    ))  # fmt: skip


def the_record(folder: Path, *options: str, codes: tuple[int, ...] = (0, 5)) -> Record:
    complete("run", "study.toml", "-o", "out", *options, cwd=folder, codes=codes)
    return journaled(folder)


def journaled(folder: Path) -> Record:
    (record,) = [event["record"] for event in journal.read(folder / "out/journal.jsonl") if event["event"] == "run"]
    return record


@pytest.fixture
def far(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    return stand_in(tmp_path, monkeypatch, "SSH_CONNECTION='127.0.0.1 40000 127.0.0.1 22'; export SSH_CONNECTION\n")


def nothing_is_left(folder: Path, far: Path) -> bool:
    return not pids_with(str(folder / "server.py")) and not [one for one in far.iterdir() if one.is_dir()]


def test_all_processes_on_one_machine_over_ssh(tmp_path: Path, far: Path) -> None:
    write_placed(tmp_path)
    record = the_record(tmp_path, "--host", "ssh:there")
    assert record.run.status == "ok", record.run.reason
    assert [part.name for part in record.processes] == ["web", "driver"] and not record.machines
    assert all(part.cpu_ns for part in record.processes)
    assert nothing_is_left(tmp_path, far)


def test_a_service_there_and_its_driver_here(tmp_path: Path, far: Path) -> None:
    write_placed(tmp_path)
    record = the_record(tmp_path, "--on", "web=ssh:there")
    assert record.run.status == "ok", record.run.reason
    assert [(part.name, part.role) for part in record.processes] == [("web", "service"), ("driver", "driver")]
    assert [part.commands for part in record.machines] == [[0], [1]]
    assert all(part.gate_lag_ns and part.clock_error_ns for part in record.machines)
    # Levels are those of the machine of the service.
    web, asks = [copy.in_force for copy in record.copies]
    assert web and web.nice == 5 and asks and asks.nice != 5
    assert record.run.cpu_ns == sum(part.run.cpu_ns or 0 for part in record.machines)
    assert nothing_is_left(tmp_path, far)


def test_a_service_that_dies_there_ends_the_driver_here(tmp_path: Path, far: Path) -> None:
    write_placed(tmp_path, "dies", pause=20_000)
    record = the_record(tmp_path, "--on", "web=ssh:there", codes=(4,))
    assert record.run.reason == "service web ended while drivers worked (signal 9)"
    assert "out of paper" in record.copies[0].stderr_tail
    assert nothing_is_left(tmp_path, far)


def test_a_machine_that_vanishes_fails_the_run_soon(tmp_path: Path, far: Path) -> None:
    write_placed(tmp_path, pause=25_000)
    argv = [sys.executable, "-m", "scalograph", "run", "study.toml", "-o", "out", "--wait-lock", "5m"]
    argv += ["--on", "web=ssh:there"]
    with subprocess.Popen(argv, cwd=tmp_path, env=environment(), stderr=subprocess.DEVNULL) as started:
        wait_until(lambda: bool(pids_with(str(tmp_path / "driver.py"))), LONG_S)
        time.sleep(0.3)
        for pid in pids_with("-ISc", "flock -o"):  # what stands in for the connection of its probe
            os.kill(pid, signal.SIGKILL)
        assert started.wait(30) == 4
    record = journaled(tmp_path)
    assert record.run.status == "failed" and "killed by signal 9" in (record.run.reason or "")
    wait_until(lambda: not pids_with(str(tmp_path / "server.py")) and not pids_with(str(tmp_path / "driver.py")))


@pytest.mark.parametrize(("options", "text"), [
    (["--on", "wbe=ssh:there"], 'no process "wbe"'),
    (["--on", "web=there"], "local or ssh:NAME"),
    (["--on", "web=ssh:-oProxyCommand=x"], "local or ssh:NAME"),
    (["--on", "web=ssh:a,ssh:b"], "only a driver has several"),
])  # fmt: skip
def test_a_wrong_place_is_refused(tmp_path: Path, far: Path, options: list[str], text: str) -> None:
    write_placed(tmp_path)
    refused = complete("run", "study.toml", "-o", "out", *options, cwd=tmp_path, codes=(2,))
    assert text in refused.stderr and not (tmp_path / "out").exists()


SSHD = shutil.which("sshd", path=f"{os.environ['PATH']}:/usr/sbin:/sbin")
SERVER_CONFIG = """\
ListenAddress {address}
Port 22
HostKey {folder}/host
AuthorizedKeysFile {folder}/user.pub
PidFile none
StrictModes no
UsePAM no
PasswordAuthentication no
ClientAliveInterval 1
ClientAliveCountMax 2
"""
CLIENT_CONFIG = """\
Host db app client
  User root
  IdentityFile {folder}/user
  IdentitiesOnly yes
  StrictHostKeyChecking no
  UserKnownHostsFile /dev/null
"""
NAMES = ("db", "app", "client")


class Namespaces:
    """Three network namespaces on one bridge, each with a server of ssh and a lock of its own."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.token = folder, f"{os.getpid() % 100_000:05d}"
        self.network, self.servers = f"10.213.{os.getpid() % 250}", list[subprocess.Popen[bytes]]()

    def __enter__(self) -> "Namespaces":
        for key in ("host", "user"):
            subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", self.folder / key], check=True)
        config = CLIENT_CONFIG.format(folder=self.folder)
        for i, name in enumerate(NAMES):
            config += f"Host {name}\n  HostName {self.network}.{i + 2}\n"
        (self.folder / "client").write_text(config)
        soon = "-o ServerAliveInterval=1 -o ServerAliveCountMax=2"  # of an option that is given twice, the first counts
        write_program(self.folder / "ssh", f'exec {shutil.which("ssh")} -F {self.folder}/client {soon} "$@"')
        try:
            self.ip("link", "add", f"sg{self.token}", "type", "bridge")
            self.ip("addr", "add", f"{self.network}.1/24", "dev", f"sg{self.token}")
            self.ip("link", "set", f"sg{self.token}", "up")
            for i, name in enumerate(NAMES):
                self._add(i, name)
        except BaseException:
            self.__exit__()
            raise
        return self

    def _add(self, i: int, name: str) -> None:
        space, port, address = self.space(name), f"sg{self.token}{i}", f"{self.network}.{i + 2}"
        self.ip("netns", "add", space)
        self.ip("link", "add", port, "type", "veth", "peer", "name", "eth0", "netns", space)
        self.ip("link", "set", port, "master", f"sg{self.token}", "up")
        self.ip("-n", space, "addr", "add", f"{address}/24", "dev", "eth0")
        for device in ("eth0", "lo"):
            self.ip("-n", space, "link", "set", device, "up")
        (self.folder / f"{name}.sshd").write_text(SERVER_CONFIG.format(folder=self.folder, address=address))
        # No JVM is started for its release: that takes longer than all else.
        own = "[ ! -d /usr/lib/jvm ] || mount -t tmpfs none /usr/lib/jvm; mount -t tmpfs none /run"
        own = f"{own} && mkdir -m 755 /run/sshd && mkdir -m 1777 /run/lock"
        serve = f"{own} && exec {SSHD} -D -e -f {self.folder}/{name}.sshd"
        log = self.folder / f"{name}.log"
        with log.open("wb") as out:
            argv = ["ip", "netns", "exec", space, "sh", "-c", serve]
            self.servers.append(subprocess.Popen(argv, stderr=out))
        wait_until(lambda: self.servers[-1].poll() is not None or "Server listening" in log.read_text())
        assert self.servers[-1].poll() is None, log.read_text()

    def space(self, name: str) -> str:
        return f"sg{self.token}-{name}"

    def ip(self, *words: str) -> None:
        subprocess.run(["ip", *words], check=True, capture_output=True, text=True)

    def __exit__(self, *_: object) -> None:
        for serving in self.servers:
            serving.kill()
            serving.wait()
        for i, name in enumerate(NAMES):  # a namespace lives as long as a process in it, and holds its end of the link
            subprocess.run(["ip", "link", "del", f"sg{self.token}{i}"], check=False, capture_output=True)
            subprocess.run(["ip", "netns", "del", self.space(name)], check=False, capture_output=True)
        subprocess.run(["ip", "link", "del", f"sg{self.token}"], check=False, capture_output=True)


@pytest.fixture
def spaces(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Namespaces]:
    if os.geteuid() != 0 or SSHD is None or shutil.which("ip") is None:
        pytest.skip("needs root, sshd and ip: apt-get install openssh-server iproute2")
    folder = tmp_path / "ssh"
    folder.mkdir()
    try:
        opened = Namespaces(folder).__enter__()
    except (subprocess.CalledProcessError, AssertionError) as error:
        pytest.skip(f"no network namespaces: {getattr(error, 'stderr', error)}")
    monkeypatch.setenv("PATH", f"{folder}:{os.environ['PATH']}")
    try:
        yield opened
    finally:
        opened.__exit__()


ON_THREE = ("--on", "db=ssh:db", "--on", "web=ssh:app", "--on", "driver=ssh:client")


def write_three(folder: Path, pause: int) -> None:
    """Write a study of two services, one after the other, and a driver that asks both."""
    (folder / "server.py").write_text(BOUND)
    (folder / "driver.py").write_text(DRIVER)
    argv = ["python3", "{here}/server.py", "{port}", "{copy}", "born", "{state}", "{address}"]
    more = {"ports": 1, "ready": {"http": "http://127.0.0.1:{port}/health"}, "ready_timeout": "30s"}
    asks = ["python3", "{here}/driver.py", "{web_targets},{db_targets}", str(pause)]
    processes = [service("db", *argv, **more), service("web", *argv, after=["db"], **more), driver(*asks)]
    write_study(folder, a_study(
        {"nice": {"levels": [0], "control": "nice"}}, workload={"events": True, "process": processes},
        protocol={"runs": 1, "max_reruns": 0, "timeout": "30s"},
        responses={"servers": {"from": "value.servers", "better": "higher"}},
    ))  # fmt: skip


def test_three_machines_have_one_gate_and_accounts_of_their_own(tmp_path: Path, spaces: Namespaces) -> None:
    write_three(tmp_path, 300)
    record = the_record(tmp_path, *ON_THREE)
    assert record.run.status == "ok", record.run.reason
    assert [part.name for part in record.processes] == ["db", "web", "driver"]
    assert record.values[0].values["servers"] == [2]
    assert [part.commands for part in record.machines] == [[0], [1], [2]]
    for part in record.machines:  # they are one machine: its clock differs from itself by nothing
        assert part.clock_error_ns and abs(part.clock_offset_ns or 0) <= 2 * part.clock_error_ns
    assert not pids_with(str(tmp_path / "server.py"))


def test_a_machine_without_network_fails_the_run_and_nothing_is_left(tmp_path: Path, spaces: Namespaces) -> None:
    write_three(tmp_path, 25_000)
    argv = [sys.executable, "-m", "scalograph", "run", "study.toml", "-o", "out", *ON_THREE]
    with subprocess.Popen(argv, cwd=tmp_path, env=environment(), stderr=subprocess.DEVNULL) as started:
        wait_until(lambda: bool(pids_with("driver.py", "25000")), LONG_S)
        time.sleep(0.3)
        spaces.ip("-n", spaces.space("db"), "link", "set", "eth0", "down")
        assert started.wait(60) == 4
    assert journaled(tmp_path).run.status == "failed"
    wait_until(lambda: not pids_with("server.py", "born"))
