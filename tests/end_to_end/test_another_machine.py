"""Studies on another machine: a signal, a resume after a boot, a server of ssh on this one; kernels that are booted."""

import getpass
import json
import os
import shutil
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest

from scalograph.errors import HostError
from scalograph.findings import table
from scalograph.findings.overview import list_undeclared_differences
from scalograph.profile.perf_runs import refuse_unable
from scalograph.profile.recording_site import RecordingSite
from scalograph.protocol import journal
from scalograph.run.hosts.guests.guest import DEFAULT_KERNEL, find_programs
from scalograph.run.hosts.guests.kernel_packages import ABOUT, fetch_kernel
from scalograph.run.hosts.local.probe import find_probe
from scalograph.run.hosts.remote import reboot, ssh
from scalograph.system.private_dir import cache_folder
from tests.kit import servers
from tests.kit.command import LONG_S, environment, machine
from tests.kit.processes import read_pids, wait_for_end, wait_until, write_program
from tests.kit.results import complete
from tests.kit.studies import a_study, write_study
from tests.unit.run.hosts.remote.far_machine import KERNELS, booting_stand_in, program, stand_in

pytestmark = pytest.mark.skipif(bool(find_probe().warning), reason="no native probe")
SSHD = shutil.which("sshd", path=f"{os.environ['PATH']}:/usr/sbin:/sbin")
CONFIG = """\
ListenAddress 127.0.0.1
Port {port}
HostKey {folder}/host
AuthorizedKeysFile {folder}/user.pub
PidFile none
StrictModes no
UsePAM no
PasswordAuthentication no
"""
CLIENT = """\
Host far
  HostName 127.0.0.1
  Port {port}
  User {user}
  IdentityFile {folder}/{key}
  IdentitiesOnly yes
  UserKnownHostsFile {folder}/known
"""


@pytest.fixture
def server(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A server of ssh on this machine, and a client that knows it as `far`; its files are in the folder."""
    if SSHD is None:
        pytest.skip("no sshd: apt-get install openssh-server")
    folder = tmp_path / "ssh"
    folder.mkdir()
    for name in ("host", "user", "other"):
        subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", folder / name], check=True)
    with socket.create_server(("127.0.0.1", 0)) as found:
        port = found.getsockname()[1]
    (folder / "config").write_text(CONFIG.format(port=port, folder=folder))
    kind, key, _ = (folder / "host.pub").read_text().split()
    (folder / "known").write_text(f"[127.0.0.1]:{port} {kind} {key}\n")
    for name in ("user", "other"):
        (folder / f"{name}.client").write_text(
            CLIENT.format(port=port, folder=folder, key=name, user=getpass.getuser())
        )
    write_program(folder / "ssh", f'exec {shutil.which("ssh")} -F {folder}/user.client "$@"')
    if os.geteuid() == 0:  # as its service does; the folder is gone at each boot
        Path("/run/sshd").mkdir(mode=0o755, exist_ok=True)
    with (
        (folder / "log").open("wb") as log,
        subprocess.Popen([SSHD, "-D", "-e", "-f", folder / "config"], stderr=log) as serving,
    ):
        try:
            wait_until(lambda: serving.poll() is not None or "Server listening" in (folder / "log").read_text())
            if serving.poll() is not None:
                pytest.skip(f"sshd does not start: {(folder / 'log').read_text().strip()}")
            monkeypatch.setenv("PATH", f"{folder}:{os.environ['PATH']}")
            yield folder
        finally:
            serving.kill()


def study(folder: Path, *command: str, runs: int = 1, control: str = "nice", levels: Sequence[object] = (0, 1)) -> None:
    protocol = {"runs": runs, "timeout": "60s", "max_reruns": 0}
    factors = {"n": {"control": control, "levels": list(levels)}}
    write_study(folder, a_study(factors, seed=1, workload={"command": command}, protocol=protocol))


@machine
def test_a_study_runs_over_ssh_itself_and_another_key_is_refused(server: Path, tmp_path: Path) -> None:
    study(tmp_path, "sh", "-c", "pwd >&2; sleep 0.2")
    complete("run", "study.toml", "--host", "ssh:far", "--wait-lock", "5m", "-o", "out", cwd=tmp_path)
    records = [event["record"] for event in journal.read(tmp_path / "out" / "journal.jsonl") if event["event"] == "run"]
    assert [one.run.status for one in records] == ["ok", "ok"]
    folders = {Path(one.copies[0].stderr_tail.strip()).parent for one in records}
    assert len(folders) == 1 and not any(one.exists() for one in folders)
    client = (server / "ssh").read_text()
    (server / "ssh").write_text(client.replace("user.client", "other.client"))
    refused = complete("run", "study.toml", "--host", "ssh:far", "-o", "none", cwd=tmp_path, codes=(3,))
    assert not (tmp_path / "none").exists()
    assert "machine far: " in refused.stderr and "Permission denied" in refused.stderr


@pytest.mark.guarantee
@machine
def test_a_start_that_is_killed_ends_the_run_over_ssh_itself(server: Path, tmp_path: Path) -> None:
    place = ended(tmp_path, "ssh:far", signal.SIGKILL)
    wait_until(lambda: not place.exists(), LONG_S)


def test_a_signal_ends_the_run_there(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    far = stand_in(tmp_path, monkeypatch)
    ended(tmp_path, "ssh:there", signal.SIGINT)
    assert [*journal.read(tmp_path / "out" / "journal.jsonl")][-1]["reason"] == "interrupted"
    assert not [one for one in far.iterdir() if one.is_dir()]


def test_a_command_line_and_its_saved_study_run_there(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    stand_in(tmp_path, monkeypatch)
    write_program(tmp_path / "prog", 'cat "$1"')
    (tmp_path / "data").touch()
    line = ("--host", "ssh:there", "--runs", "1", "--budget", "1min")
    refused = complete("measure", *line, "--env-all", "-o", "none", "--", "./prog", "data", cwd=tmp_path, codes=(3,))
    assert "error: --env-all: not done over ssh" in refused.stderr and "on that machine: data" in refused.stderr
    assert "hint: write {here}/data to copy it, or run in a folder there: --cwd" in refused.stderr
    done = complete("measure", *line, "-o", "out", "--json", "--", "sh", "{here}/prog", "{here}/data", cwd=tmp_path)
    assert json.loads(done.stdout)["results"] == "out"
    complete("run", "out/study.toml", "--host", "ssh:there", "-o", "again", cwd=tmp_path)
    for folder in ("out", "again"):
        events = [*journal.read(tmp_path / folder / "journal.jsonl")]
        assert events[0]["machine"]["reached"] == "ssh"
        assert [event["record"].run.status for event in events if event["event"] == "run"] == ["ok"]
    for options in (["--show-output"], ["--cwd", "relative"]):
        complete("measure", *line, *options, "-o", "none", "--", "true", cwd=tmp_path, codes=(2,))
    assert not (tmp_path / "none").exists()


SPINS = """\
#include <pthread.h>
#include <stdlib.h>
static volatile unsigned long sums[64];
static void *spin_alone(void *at) {
    for (unsigned long i = 0; i < 40000000; i++) *(volatile unsigned long *)at += i;
    return 0;
}
int main(int argc, char **argv) {
    pthread_t threads[64];
    int n = atoi(argv[1]);
    for (int i = 0; i < n; i++) pthread_create(&threads[i], 0, spin_alone, (void *)&sums[i]);
    for (int i = 0; i < n; i++) pthread_join(threads[i], 0);
    return 0;
}
"""


@machine
@pytest.mark.skipif(not shutil.which("perf"), reason="perf is missing: apt-get install linux-perf")
def test_runs_there_are_recorded_there_and_their_recordings_read(server: Path, tmp_path: Path) -> None:
    try:
        refuse_unable(RecordingSite(tmp_path))
    except HostError as error:
        pytest.skip(str(error))
    (tmp_path / "prog.c").write_text(SPINS)
    subprocess.run(["cc", "-g", "-O1", "-pthread", "-o", "prog", "prog.c"], cwd=tmp_path, check=True)
    there = ("--host", "ssh:far", "--wait-lock", "5m")
    options = ("--threads", "1,2", "--runs", 1, "-o", "results")
    complete("measure", *options, *there, "--", "./prog", "{threads}", cwd=tmp_path)
    complete("explain", "results", "--recordings", 1, *there, cwd=tmp_path)
    text = (tmp_path / "results" / "explanation.json").read_text()
    written = json.loads(text)
    assert (written["levels"], written["n_runs"]) == ([1, 2], [1, 1]) and written["capacity_s"][0] > 0
    assert "spin_alone" in text, "symbols are those of that machine"
    assert not [*Path("/tmp").glob("scalograph-*/perf")]
    refused = complete("explain", "results", "--try", "malloc", *there, cwd=tmp_path, codes=(2,))
    assert "an allocator is looked for on this machine only" in refused.stderr


def test_files_that_options_name_are_copied(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The mix lies in a folder that nothing else of the study names."""
    place = stand_in(tmp_path, monkeypatch)
    files = tmp_path / "files"
    files.mkdir()
    (files / "mix.toml").write_text('[[operation]]\nname = "read"\nweight = 1\npath = "/"\n')
    (tmp_path / "app.py").write_text(servers.SERVER)
    serve = f"{sys.executable} {{here}}/app.py {{port}} 0 plain {{state}}"
    line = ("load", "--serve", serve, "--get", "http://127.0.0.1:{port}/", "--host", "ssh:there", "--runs", 1)
    short = ("--steady", "200ms", "--ramp", "0s", "--warmup", 1, "--clients", 1, "-o", "out")
    done = complete(*line, *short, "--mix", "files/mix.toml", cwd=tmp_path)
    assert "mix.toml" in done.stderr
    (event,) = (event for event in journal.read(tmp_path / "out" / "journal.jsonl") if event["event"] == "run")
    assert event["record"].run.status == "ok" and not [*place.glob("scalograph-*")]
    refused = complete(*line[:2], "python3 app.py {port}", *line[3:], "-o", "none", cwd=tmp_path, codes=(3,))
    assert "--serve: files of this folder are not on that machine: app.py" in refused.stderr


def ended(folder: Path, host: str, number: signal.Signals) -> Path:
    """Start a study, send it a signal while a run goes on, and see that this ends; return the folder there."""
    study(folder, "sh", "-c", f"pwd > {folder}/pwd; echo $$ > {folder}/pid; exec sleep 50")
    argv = [sys.executable, "-m", "scalograph", "run", "study.toml", "--host", host, "--wait-lock", "5m", "-o", "out"]
    with subprocess.Popen(argv, cwd=folder, env=environment(), stderr=subprocess.PIPE, text=True) as started:
        (pid,) = read_pids(folder / "pid")
        started.send_signal(number)
        _, said = started.communicate(timeout=60)
    assert started.returncode == (130 if number == signal.SIGINT else -number), said
    wait_for_end(pid)
    return Path((folder / "pwd").read_text().strip()).parent


def test_a_study_goes_on_after_that_machine_was_booted_anew(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    stand_in(tmp_path, monkeypatch)
    study(tmp_path, "true")
    options = ("run", "study.toml", "--host", "ssh:there", "-o", "out")
    complete(*options, "--max-runs", "2", cwd=tmp_path)
    study(tmp_path, "true", runs=2)
    told = "2b1c7a52-0000-4000-8000-0123456789ab"
    program(tmp_path, "cat", f'case $1 in */boot_id) echo {told} ;; *) exec /bin/cat "$@" ;; esac')
    program(tmp_path, "grep", f'/bin/grep "$@" | sed "s|^\\(/proc/sys/kernel/random/boot_id:\\).*|\\1{told}|"')
    done = complete(*options, "--resume", "--accept-difference", "study_hash", cwd=tmp_path)
    assert "booted anew since the study began" in done.stderr
    read = table.load(tmp_path / "out" / "journal.jsonl")
    assert [row.boot for row in read.rows] == [1, 1, 2, 2]
    assert "boot" in {note.about for note in read.notes}


def test_a_study_of_kernels_goes_on_over_boots(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    state = booting_stand_in(tmp_path, monkeypatch)
    monkeypatch.setattr(reboot, "PAUSE_S", 0.01)
    monkeypatch.setattr(ssh, "LOOK", "cat /proc/stat /proc/stat")
    study(tmp_path, "true", runs=2, control="kernel", levels=["all"])
    options = ("run", "study.toml", "--host", "reboot:there", "-o", "out")
    complete(*options, "--max-runs", "2", cwd=tmp_path)
    complete(*options, "--resume", cwd=tmp_path)
    read = table.load(tmp_path / "out" / "journal.jsonl")
    rows = read.rows
    assert not [text for text in list_undeclared_differences(read) if text.startswith("boot")]
    assert [row.block for row in rows] == [0, 0, 1, 1]
    assert sorted(str(row.configuration["n"]) for row in rows) == sorted(2 * KERNELS)
    asked = (state / "asked").read_text().split()
    # Two boots of two kernels in each start, less the one that ran, and the first kernel at its end.
    assert (
        asked[-1] == KERNELS[0] and asked.count(KERNELS[1]) == 2 and 1 < len({row.boot for row in rows}) <= len(asked)
    )


# The newest that is offered: the set-up for development has it fetched, or says how.
KERNEL = DEFAULT_KERNEL
STARTS = "echo mine > $1/file; cat $1/file; exec sleep 600"
DRIVES = "nproc; echo kept > file; echo lost > /root/scalograph-lost; cat file >&2"
STUDY = a_study(
    {
        "kernel": {"control": "kernel", "levels": [KERNEL]},
        "options": {"control": "boot-options", "levels": ["nosmp", "mem=48M"]},
        "swappiness": {"control": "sysctl:vm.swappiness", "levels": [7]},
        "scheduler": {"control": "scheduler", "levels": ["default"]},
    },
    workload={"process": [
        servers.service("server", "sh", "-c", STARTS, "sh", "{state}", ready={"line": "mine"}),
        servers.driver("sh", "-c", DRIVES),
    ]},
    responses={"cpus": {"from": "output", "pattern": r"^(\d+)$", "better": "none"}},
    protocol={"runs": 1, "timeout": "60s"},
)  # fmt: skip


def test_one_kernel_is_booted_and_another_panics(tmp_path: Path) -> None:
    try:
        find_programs()
        if not (cache_folder() / "kernels" / KERNEL / ABOUT).exists():
            pytest.skip(f"kernel {KERNEL} was not fetched; fetch it: python scripts/fetch_test_kernel.py fetch")
    except HostError as error:
        pytest.skip(str(error))
    write_study(tmp_path, STUDY)
    done = complete("run", "study.toml", "--host", "guest", "-o", "out", "--json", cwd=tmp_path, codes=(4,))
    events = [*journal.read(tmp_path / "out" / "journal.jsonl")]
    booted, starved = sorted((e for e in events if e["event"] == "run"), key=lambda e: e["record"].run.status != "ok")
    record = booted["record"]
    assert record.guest.kernel == fetch_kernel(KERNEL, print)[0].release
    assert record.guest.cpus == "0" and "nosmp" in record.guest.command_line
    assert record.values[0].values == {"output_cpus": [1.0]}
    assert [copy.stderr_tail for copy in record.copies] == ["mine\n", "kept\n"]
    assert [one.name for one in record.processes] == ["server", "driver"]
    swappiness, scheduler = record.settings
    assert (swappiness.name, swappiness.in_force, swappiness.at_end) == ("vm.swappiness", "7", "7")
    assert (scheduler.before, scheduler.in_force, scheduler.at_end, scheduler.after) == ("default",) * 4
    is_emulated = record.guest.accelerator == "tcg"
    assert record.header.backend == "kernel"
    assert (record.run.wall_ns is None) == (record.run.cpu_ns is None) == is_emulated
    assert not Path("/root/scalograph-lost").exists()
    reason = starved["record"].run.reason
    assert starved["configuration"]["options"] == "mem=48M" and "did not boot; it said: " in reason
    assert "panic" in reason
    assert KERNEL in events[0]["uses"]["kernels"]
    assert events[0]["machine"]["accelerator"] == record.guest.accelerator
    trust = json.loads(done.stdout)["trust"]
    said = " ".join([*trust["points"], *trust["causes"]])
    assert ("emulated" in said) == is_emulated, trust
