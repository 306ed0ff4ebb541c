"""Guests that misbehave, by programs that stand in for QEMU and virtiofsd: each is one failed run, in time."""

import json
import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from scalograph.errors import HostError
from scalograph.protocol.record import Record
from scalograph.run.hosts.guests.guest_process import GuestMachine, GuestProcess, GuestPrograms, serve_folder
from scalograph.run.hosts.local import probe
from tests.kit import EXAMPLES, ROOT
from tests.kit.processes import is_gone, wait_for_end, wait_until, write_program
from tests.kit.refusals import refuses

SPEC: dict[str, Any] = json.loads((EXAMPLES / "probe_spec.jsonl").read_text().splitlines()[0])
ANSWER = EXAMPLES / "probe_events.jsonl"
UP = "printf '6.1.0\\nconsole=ttyS0 nosmp\\n0\\n' > $boot/up"
# Limits of time: that of the case is met soon, and the others never, however busy the machine is.
SOON_S, ENOUGH_S = 0.5, 20.0
# The folder of its start is that of the archive.
QEMU = """\
#!/bin/sh
while [ "$1" != -initrd ]; do shift; done
boot=$(dirname "$2")
{code}
"""
# virtiofsd comes up when its socket is there; here it holds its process.
SERVER = """\
#!/bin/sh
for word; do case $word in --socket-path=*) socket=${{word#*=}};; esac; done
[ "$socket" ] || exit 0
echo $$ > $socket
{code}
"""
CALLER = """
import json, sys
from pathlib import Path
from tests.unit.run.hosts.guests.test_guest_process import SPEC, guest, probe
probe.measure(SPEC, guest(Path(sys.argv[1]), "echo $$ > $boot/pid; exec sleep 60"))
"""


def programs(folder: Path, code: str) -> GuestPrograms:
    qemu = write_program(folder / "qemu", QEMU.format(code=code))
    virtiofsd = write_program(folder / "virtiofsd", SERVER.format(code="exec sleep 60"))
    return GuestPrograms(qemu=str(qemu), virtiofsd=str(virtiofsd), busybox="/bin/true")


def guest(folder: Path, code: str, limit_s: float = 20.0) -> GuestProcess:
    (folder / "kernel" / "modules").mkdir(parents=True)
    (folder / "boot").mkdir()
    machine = GuestMachine(
        kernel=folder / "kernel", options="nosmp", accelerator="tcg", n_cpus=1, memory_bytes=1 << 30, folder=folder,
        probe="/probe",
    )  # fmt: skip
    return GuestProcess(programs(folder, code), machine, folder / "boot", limit_s)


def reason(record: Record) -> str:
    assert record.run.status == "failed"
    return record.run.reason or ""


def test_the_answer_of_the_probe_within_is_the_record(tmp_path: Path) -> None:
    code = f'{UP}; IFS= read -r line; echo "$line" > $boot/line; head -6 {ANSWER}; echo 0 > $boot/exit'
    process = guest(tmp_path, code)
    assert probe.measure(SPEC, process).run.wall_ns == 530000000
    assert json.loads((tmp_path / "boot" / "line").read_text()) == SPEC
    told = process.guest()
    assert told and (told.kernel, told.command_line, told.cpus) == ("6.1.0", "console=ttyS0 nosmp", "0")


@pytest.mark.parametrize(("code", "boot_s", "end_s", "expected"), [
    ("echo '[ 1.0] stuck' >&2; exec sleep 60", SOON_S, ENOUGH_S, "did not boot within 0.5 s; it said: '[ 1.0] st"),
    ("echo 'panic - not syncing: no memory' >&2", ENOUGH_S, ENOUGH_S, "did not boot; it said: 'panic - not syn"),
    (
        f"{UP}; head -2 {ANSWER}; echo 'Kernel panic' >&2", ENOUGH_S, ENOUGH_S,
        "ended before its run did; it said: 'Kernel pan",
    ),
    (f"{UP}; exec sleep 60", ENOUGH_S, SOON_S, "no end after"),
    ("head -c 300000 /dev/zero | tr '\\0' x >&2; echo >&2; echo last >&2", ENOUGH_S, ENOUGH_S, "xxx | last'"),
])  # fmt: skip
def test_one_that_hangs_or_panics_is_a_failed_run(
    tmp_path: Path, code: str, boot_s: float, end_s: float, expected: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(probe, "GRACE_S", 0.5)
    monkeypatch.setattr(GuestProcess, "START_S", end_s)
    found = reason(probe.measure({**SPEC, "timeout_ns": 1, "ready_timeout_ns": 1}, guest(tmp_path, code, boot_s)))
    assert expected in found and len(found) < 900


def test_what_the_probe_within_refuses_is_refused(tmp_path: Path) -> None:
    said = '{"event":"error","run":"r1","where":"policy","found":"x","expected":"y","fix":"z"}'
    refuses(HostError, "policy: x", probe.measure, SPEC, guest(tmp_path, f"{UP}; echo '{said}'; echo 3 > $boot/exit"))


@pytest.mark.parametrize("code", ["mkfifo $boot/exit", "ln -s /dev/zero $boot/exit", "printf %05000d 1 > $boot/exit"])
def test_what_a_guest_leaves_in_place_of_its_answer_keeps_nobody(tmp_path: Path, code: str) -> None:
    assert "ended before its run did" in reason(probe.measure(SPEC, guest(tmp_path, f"{UP}; {code}")))


def test_what_a_guest_leaves_in_place_of_what_it_is_tells_nothing(tmp_path: Path) -> None:
    code = f"{UP}; mv $boot/up $boot/../up; ln -s ../up $boot/up; head -6 {ANSWER}; echo 0 > $boot/exit"
    process = guest(tmp_path, code)
    probe.measure(SPEC, process)
    assert process.guest() is None


@pytest.mark.guarantee
def test_nothing_is_left_of_a_guest_whose_caller_was_killed(tmp_path: Path) -> None:
    with subprocess.Popen([sys.executable, "-c", CALLER, str(tmp_path)], cwd=ROOT, start_new_session=True) as caller:
        pid = tmp_path / "boot" / "pid"
        wait_until(lambda: pid.exists() and pid.read_text() != "")
        mine = [int(file.read_text()) for file in (pid, *(tmp_path / "boot").glob("*.sock"))]
        caller.kill()
    assert len(mine) == 4
    try:
        wait_for_end(*mine)
    finally:
        for process in mine:
            if not is_gone(process):
                os.kill(process, signal.SIGKILL)


def test_a_folder_that_cannot_be_shared_and_a_server_that_fails_are_told(tmp_path: Path) -> None:
    process = guest(tmp_path, "exit 0")
    write_program(tmp_path / "virtiofsd", "#!/bin/sh\necho first >&2; echo 'no right' >&2; exit 1\n")
    refuses(HostError, "virtiofsd: 'no right'", probe.measure, SPEC, process)
    waits = "while grep -q '^State:.[RSD]' /proc/$(cat $boot/host.sock)/status; do sleep 0.02; done"
    process = guest(tmp_path / "other", waits)
    fails = SERVER.format(code="echo first >&2; echo 'no more room' >&2; exit 1")
    write_program(tmp_path / "other/virtiofsd", fails)
    assert "did not boot; virtiofsd: 'no more room'; it said: " in reason(probe.measure(SPEC, process))


def test_a_server_that_complains_a_lot_goes_on_serving(tmp_path: Path) -> None:
    wait = "while [ ! -e $boot/host.served ]; do sleep 0.02; done"
    process = guest(tmp_path, f"{wait}; {UP}; head -6 {ANSWER}; echo 0 > $boot/exit")
    much = "head -c 300000 /dev/zero | tr '\\0' x >&2; : > ${socket%.sock}.served; exec sleep 60"
    write_program(tmp_path / "virtiofsd", SERVER.format(code=much))
    assert probe.measure(SPEC, process).run.status == "ok"


def test_what_in_the_name_of_a_folder_would_be_an_option_is_escaped(tmp_path: Path) -> None:
    argv = guest(tmp_path / "a,b", "exit 0").argv
    assert f"socket,id=host,path={tmp_path}/a,,b/boot/host.sock" in argv and f"{tmp_path}/a,b/boot/initramfs" in argv
    virtiofsd, socket = tmp_path / "qemu/virtiofsd", tmp_path / "socket"
    virtiofsd.parent.mkdir()
    tells = "printf '%s\\n' \"$*\" > $socket.words; echo $$"
    write_program(virtiofsd, SERVER.replace("echo $$", tells).format(code="exec sleep 60"))
    with serve_folder(str(virtiofsd), Path("/a,sandbox=none\\b"), socket):
        words = (tmp_path / "socket.words").read_text()
    assert "-o source=/a\\,sandbox=none\\\\b -o sandbox=chroot" in words


@pytest.mark.parametrize("offers", [True, False])
def test_the_machine_s_files_are_read_only_by_their_server_where_it_offers_that(tmp_path: Path, offers: bool) -> None:
    process = guest(tmp_path, f"{UP}; head -6 {ANSWER}; echo 0 > $boot/exit")
    helps = f"case $1 in --help) echo '{'--readonly' * offers}'; exit;; esac\n"
    serves = SERVER.format(code="exec sleep 60").replace("echo $$", 'echo "$*" > ${socket%.sock}.words; echo $$')
    write_program(tmp_path / "virtiofsd", serves.replace("for word", f"{helps}for word"))
    probe.measure(SPEC, process)
    words = {tag: (tmp_path / "boot" / f"{tag}.words").read_text().split() for tag in ("host", "boot", "run")}
    assert {tag for tag, found in words.items() if "--readonly" in found} == ({"host"} if offers else set())
    assert {tag for tag, found in words.items() if "--cache=always" in found} == {"host"}
