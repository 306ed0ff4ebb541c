"""Folders of this machine in a guest, by programs that stand in for QEMU and virtiofsd."""

from pathlib import Path

import pytest

from scalograph.errors import HostError
from scalograph.run.hosts.guests.guest_process import serve_folder
from scalograph.run.hosts.local import probe
from tests.kit.processes import write_program
from tests.unit.run.hosts.guests.test_guest_process import ANSWER, SERVER, SPEC, UP, guest, reason


def test_a_folder_that_cannot_be_shared_is_told(tmp_path: Path) -> None:
    process = guest(tmp_path, "exit 0")
    write_program(tmp_path / "virtiofsd", "#!/bin/sh\necho first >&2; echo 'no right' >&2; exit 1\n")
    with pytest.raises(HostError, match="virtiofsd: 'no right'"):
        probe.measure(SPEC, process)


def test_a_server_that_complains_a_lot_goes_on_serving(tmp_path: Path) -> None:
    wait = "while [ ! -e $boot/host.served ]; do sleep 0.02; done"
    process = guest(tmp_path, f"{wait}; {UP}; head -6 {ANSWER}; echo 0 > $boot/exit")
    much = "head -c 300000 /dev/zero | tr '\\0' x >&2; : > ${socket%.sock}.served; exec sleep 60"
    write_program(tmp_path / "virtiofsd", SERVER.format(code=much))
    assert probe.measure(SPEC, process).run.status == "ok"


def test_a_server_that_fails_is_named_with_its_last_line(tmp_path: Path) -> None:
    process = guest(tmp_path, "while grep -q '^State:.[RSD]' /proc/$(cat $boot/host.sock)/status; do sleep 0.02; done")
    write_program(tmp_path / "virtiofsd", SERVER.format(code="echo first >&2; echo 'no more room' >&2; exit 1"))
    assert "did not boot; virtiofsd: 'no more room'; it said: " in reason(probe.measure(SPEC, process))


def test_a_comma_in_a_folder_begins_no_option_of_qemu(tmp_path: Path) -> None:
    argv = guest(tmp_path / "a,b", "exit 0").argv
    assert f"socket,id=host,path={tmp_path}/a,,b/boot/host.sock" in argv and f"{tmp_path}/a,b/boot/initramfs" in argv


def test_what_an_old_virtiofsd_would_take_for_options_is_escaped(tmp_path: Path) -> None:
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
