"""Runs on another machine: one run and its traces, a lost connection, and each way in which a machine refuses."""

import os
import platform
import shutil
import signal
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from scalograph.errors import HostError, ScalographError, StudyError
from scalograph.protocol.record import Record
from scalograph.run.hosts.host_names import check_name, is_elsewhere, open_host
from scalograph.run.hosts.local.probe import find_probe
from scalograph.run.hosts.remote import ssh, ssh_machine
from scalograph.run.hosts.remote.ssh import SshHost, connect
from scalograph.run.hosts.remote.ssh_machine import PROBE, RUN_S
from scalograph.run.plan import Plan
from scalograph.run.runner import Runner
from scalograph.study.levels import Run
from scalograph.system.lock import LockLease, find_holder, take_shared_lock
from scalograph.system.quiet import LoadSample
from scalograph.system.stale_processes import MARK
from tests.kit.processes import write_program
from tests.kit.refusals import refuses
from tests.kit.studies import a_study, plan_of
from tests.unit.run.hosts.remote.far_machine import program, stand_in

pytestmark = pytest.mark.skipif(bool(find_probe().warning), reason="no native probe")
BOOT = Path("/proc/sys/kernel/random/boot_id").read_text().strip()
# What the next probe there says is cut off after its header.
LOSE = """\
case $command in *"flock -o"*)
  if [ -e {0}/lose ]; then
    rm {0}/lose; sh -c "$command" | head -n 1; echo 'Connection closed by remote host' >&2; exit 255
  fi ;;
esac
"""


@pytest.fixture
def far(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    return stand_in(tmp_path, monkeypatch)


def study(*command: str, **workload: Any) -> str:
    workload = {"command": [*command], **workload}
    return a_study({"n": {"levels": [0], "control": "nice"}}, workload=workload, protocol={"runs": 1, "timeout": "10s"})


@contextmanager
def planned(folder: Path, *command: str, **workload: Any) -> Iterator[tuple[SshHost, Plan, list[str]]]:
    said = list[str]()
    with open_host("ssh:there") as host:
        assert isinstance(host, SshHost)
        yield host, host.ready(plan_of(folder, study(*command, **workload), host.facts()), said.append), said


def measured(host: SshHost, made: Plan) -> Record:
    return Runner(made, host).measure(Run("r1", 0, {"n": 0}, 0))


def reason(record: Record) -> str:
    assert record.run.status == "failed"
    return record.run.reason or ""


def test_a_run_is_made_there_and_nothing_stays(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    far = stand_in(tmp_path, monkeypatch, "PATH=/usr/bin:/bin; export PATH")
    code = "echo $PATH >&2; cat beside >&2; pwd >&2; cat {here}/data/file >&2"
    (tmp_path / "data").mkdir()
    (tmp_path / "data" / "file").write_text("copied\n")
    (tmp_path / ".ssh").mkdir()
    (tmp_path / ".ssh" / "id").write_text("secret")
    prepare = ["sh", "-c", "echo prepared > beside"]
    with planned(tmp_path, "sh", "-c", code, prepare=prepare) as (host, made, said):
        record = measured(host, made)
        (folder,) = (one for one in far.iterdir() if one.is_dir())
        copied = next(folder.glob(f"*/{tmp_path.name}"))
        assert [path.relative_to(copied).as_posix() for path in copied.rglob("*")] == ["data", "data/file"]
        assert oct(folder.stat().st_mode)[-3:] == "700"
    assert (record.run.status, record.run.reason, record.boot_id) == ("ok", None, BOOT)
    path, beside, place, data = record.copies[0].stderr_tail.splitlines()
    assert (path, beside, place, data) == ("/usr/bin:/bin", "prepared", str(folder / "run-1"), "copied")
    assert said == ["copying to there: file (1 file, 7 bytes)"]
    assert [one.name for one in far.iterdir()] == ["scalograph.lock"]
    event = made.first_event("probe")
    assert event["machine"]["reached"] == "ssh" and event["machine"]["boot_id"] == BOOT
    assert event["uses"]["program"]["path"].startswith("/usr/bin/") and len(event["uses"]["program"]["sha256"]) == 64


def test_the_machine_is_as_it_tells_itself(far: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ssh, "LOOK", "cat /proc/stat /proc/stat")
    with open_host("ssh:there") as host:
        facts = host.facts()
        assert isinstance(host.sample_load(), LoadSample) and host.sample_load().busy.keys() == {
            one.cpu for one in facts.cpus
        }
    assert {one.cpu for one in facts.cpus} == os.sched_getaffinity(0)
    assert (facts.architecture, facts.kernel) == (platform.machine(), platform.release())
    assert facts.memory_bytes and facts.cpu_model and facts.distribution
    assert facts.environment["PATH"].startswith(str(tmp_path)) and "machine" in facts.refused


def test_a_lost_connection_is_one_failed_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    far = stand_in(tmp_path, monkeypatch, LOSE.format(tmp_path))
    with planned(tmp_path, "sh", "-c", "echo $$ > {here}/pid; exec sleep 0.3") as (host, made, _):
        (tmp_path / "lose").touch()
        assert "the connection was lost: Connection closed by remote host" in reason(measured(host, made))
        assert measured(host, made).run.status == "ok"
        host._machine.close()  # as if the connection that keeps the folder had ended, too
        assert not [one for one in far.iterdir() if one.is_dir()] and measured(host, made).run.status == "ok"


def test_three_runs_that_cannot_begin_end_the_study(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    stand_in(tmp_path, monkeypatch, f"if [ -e {tmp_path}/gone ]; then echo 'No route to host' >&2; exit 255; fi")
    with planned(tmp_path, "true") as (host, made, _):
        (tmp_path / "gone").touch()
        assert "the probe did not start: No route to host" in reason(measured(host, made))
        assert "No route to host" in reason(measured(host, made))
        refuses(HostError, "No route to host", measured, host, made)
        assert host.sample_load() == LoadSample({})


@pytest.mark.parametrize(("there", "fake", "expected"), [
    ("echo 'ssh: Could not resolve hostname there' >&2; exit 255", {}, "Could not resolve hostname there, expected"),
    ("echo 'there: Permission denied (publickey).' >&2; exit 255", {}, "denied.*; try it: ssh -o BatchMode=yes th"),
    ("", {"uname": "echo Linux riscv64"}, "a machine of riscv64, expected x86_64|a machine of riscv64, expected aa"),
    ("", {"uname": "echo Darwin arm64"}, "a machine of Darwin, expected Linux"),
    ("", {"tar": "echo 'tar: x: No space left on device' >&2; exit 2"}, "No space left on device"),
    ("", {"mkdir": "echo 'mkdir: cannot create' >&2; exit 1"}, "mkdir: cannot create"),
    ("", {"sha256sum": "echo 0000 -"}, "a probe of checksum 0000"),
    ("", {"flock": "exit 75"}, "another start measures there"),
    ("", {"flock": "echo 'flock: unrecognized option: w' >&2; exit 1"}, "flock: unrecognized option: w, expected"),
    ("exec echo Welcome", {}, "'Welcome"),
])  # fmt: skip
def test_a_machine_that_cannot_be_used(
    there: str, fake: dict[str, str], expected: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    far = stand_in(tmp_path, monkeypatch, there)
    for name, text in fake.items():
        program(tmp_path, name, text)
    with pytest.raises(ScalographError, match=expected) as told:
        connect("there")
    assert str(told.value).count("\n") == 0 and not [one for one in far.iterdir() if one.is_dir()]


def test_what_would_have_to_be_restored_there_is_refused_and_names_are_asked_for(far: Path, tmp_path: Path) -> None:
    not_there = {
        "[conditions]\nswap = 'off'": "conditions: not done over ssh",
        "[reset]\nsync = true": "reset: not done over ssh",
        "[responses.d]\nfrom = 'kernel.nr_dirtied'": r"responses\.d: from = .kernel\.nr_dirtied.: not done over ssh",
        "[factors.s]\nlevels = [1]\ncontrol = 'sysctl:vm.swappiness'": "set on the machine itself, not over ssh",
        "[factors.q]\nlevels = [1]\ncontrol = 'quota'": "set on the machine itself, not over ssh",
    }
    texts = {study("true") + more: said for more, said in not_there.items()}
    texts[study("true", env_all=True)] = "workload.env_all: not done"
    with open_host("ssh:there") as host:
        for text, expected in texts.items():
            with pytest.raises((HostError, StudyError), match=expected):
                plan_of(tmp_path, text, host.facts(), starts=False)
    with (
        pytest.raises(StudyError, match=r'no host "ssh", expected one of local, guest, slurm, ssh:NAME'),
        open_host("ssh"),
    ):
        pass
    with pytest.raises(StudyError, match='"ssh:-v", expected ssh:NAME, a name that ssh knows'), open_host("ssh:-v"):
        pass
    assert is_elsewhere("ssh:a") and not is_elsewhere("local")
    refuses(StudyError, 'no host "ssh"', check_name, "ssh")


def test_a_command_line_finds_its_program_and_versions_there_and_runs_in_a_folder_that_is_named(
    far: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    for name in ("old", "new", "other"):
        write_program(tmp_path / name, f"echo {name} $(pwd) >&2; cat $1 >&2")
    (tmp_path / "data").write_text("read\n")
    with planned(tmp_path, "./old", "{here}/data", cwd="caller") as (host, made, said):
        assert measured(host, made).copies[0].stderr_tail == f"old {host._machine.folder}/run-1\nread\n"
    assert said == ["copying to there: data, old (2 files, 47 bytes)"]
    versions = study("{n}", cwd="caller").replace("levels = [0]", 'levels = ["./old", "./new"]')
    with open_host("ssh:there") as host:
        made = host.ready(plan_of(tmp_path, versions.replace('control = "nice"', ""), host.facts()), said.append)
        told = Runner(made, host).measure(Run("r1", 0, {"n": "./new"}, 0)).copies[0].stderr_tail
    assert told.startswith("new ") and said[1].startswith("copying to there: old, new (2 files")
    there = tmp_path / "there"
    there.mkdir()
    write_program(there / "old", "echo there >&2; pwd >&2; cat >&2")
    with planned(tmp_path, "./old", "new", cwd=str(there), input="data") as (host, made, said):
        assert measured(host, made).copies[0].stderr_tail == f"there\n{there}\nread\n"
    refuses(
        HostError, "no folder .*/absent. on the machine of the runs", planned(tmp_path, "true", cwd="/absent").__enter__
    )


def test_all_that_a_command_line_would_lack_there_is_named_at_once(
    far: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    for name in ("a.txt", "b", "4", "c"):
        (tmp_path / name).touch()
    words = ["--in=a.txt", "4", "{here}/c", "/etc/passwd", "x/y"]
    text = study(
        "../prog", *words, cwd="caller", prepare=["sh", "-c", "cat <b | sort"], env_all=True, input="/etc/passwd"
    )
    with open_host("ssh:there") as host, pytest.raises(HostError) as refused:
        plan_of(tmp_path, text, host.facts(), starts=False)
    found = {problem.where: problem.found for problem in refused.value.problems}
    assert found == {
        "workload.env_all": "not done over ssh",
        "workload.command": "files of this folder are not on that machine: ../prog, a.txt",
        "workload.prepare": "files of this folder are not on that machine: b",
        "workload.input": "/etc/passwd lies outside this folder",
    }
    assert "write {here}/a.txt to copy it, or run in a folder there: workload.cwd" in str(refused.value)


def test_what_does_not_end_there_is_not_waited_for(far: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    program(tmp_path, "flock", 'case "$*" in *"run true") exec sleep 2 ;; *) exec /usr/bin/flock "$@" ;; esac')
    monkeypatch.setattr(ssh_machine, "_CLOSE_S", 0.1)
    with open_host("ssh:there") as host:
        assert isinstance(host, SshHost)
        holder = host._machine._holder
    assert holder is not None and holder.returncode == -signal.SIGKILL


def test_the_lock_there_is_awaited_after_a_lost_connection_and_seen_by_a_start(far: Path, tmp_path: Path) -> None:
    program(tmp_path, "flock", f'echo "$*" >>{tmp_path}/asked; exec /usr/bin/flock "$@"')
    with open_host("ssh:there", 12.5) as host:
        assert isinstance(host, SshHost) and host._machine._holder
        host._machine._holder.kill()
        host._machine._holder.wait()
        host._machine.ensure()
    asked = [line.split() for line in (tmp_path / "asked").read_text().splitlines()]
    first, again = (float(words[1]) for words in asked if "/proc/self/fd/9" in words)
    assert (first, again) == (12.5, 12.5 + RUN_S)
    with open_host("ssh:there"):
        found = find_holder(far / "scalograph.lock")
        assert found is not None and found.uid == os.geteuid()
        with pytest.raises(HostError, match=f"process {found.pid} measures on this machine"):
            take_shared_lock(far / "scalograph.lock", LockLease(0.0, str))
    assert find_holder(far / "scalograph.lock") is None


def test_a_folder_that_is_gone_with_a_boot_is_made_anew_for_the_next_run(far: Path, tmp_path: Path) -> None:
    with planned(tmp_path, "true") as (host, made, _):
        shutil.rmtree(host._machine.folder)
        assert "our folder there is gone" in reason(measured(host, made)) and not host._machine.folder.exists()
        assert measured(host, made).run.status == "ok"
        host._machine.close()
        host._machine.folder.mkdir()  # as where folders outlive a boot
        assert measured(host, made).run.status == "ok"
    assert [one.name for one in far.iterdir()] == ["scalograph.lock"]


def test_steps_are_unmarked_and_a_linked_probe_is_copied(
    far: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    prepare = ["sh", "-c", f"env > {tmp_path}/environment"]
    with planned(tmp_path, "sh", "-c", f"cat {tmp_path}/environment >&2", prepare=prepare) as (host, made, _):
        told = measured(host, made).copies[0].stderr_tail
    assert "PATH=" in told and MARK not in told
    (tmp_path / "probe").symlink_to(find_probe().argv[0])
    monkeypatch.setenv("SCALOGRAPH_PROBE", str(tmp_path / "probe"))
    with planned(tmp_path, "true") as (host, made, _):
        assert not (host._machine.folder / PROBE).is_symlink() and measured(host, made).run.status == "ok"
