"""The scheduler of a guest: its program starts before the run, ends after it, and the kernel tells which is at work."""

import subprocess
from pathlib import Path

import pytest

from scalograph.control.control import HeldSetting
from scalograph.control.ext_scheduler import OPERATIONS, STATE
from scalograph.protocol.facts import HostFacts
from scalograph.run.hosts.guests.guest import guest_settings, read_back, scheduler_of, settings_lines
from scalograph.run.hosts.guests.initramfs import INIT
from scalograph.study.load import parse
from tests.kit.processes import write_program
from tests.kit.studies import VALID

FACTOR = '[factors.scheduler]\nlevels = ["default", "scx_fifo"]\ncontrol = "scheduler"\n'
STUDY = parse(VALID.replace("[factors.threads]", FACTOR + "[factors.threads]", 1))
# What a guest does from its settings to the end of its run, after its folders were mounted.
RUN = INIT[INIT.index("keep() {") : INIT.index("echo $code")]
FAILED = 9
PROGRAM = """\
#!/bin/sh
trap 'echo disabled > {state}; rm {operations}; exit 0' TERM
{code}
while [ -e {boot}/settings ]; do sleep 0.02; done
"""
TAKEN = "echo fifo > {operations}; echo enabled > {state}"


def of_guest(folder: Path, level: str, code: str = TAKEN) -> tuple[int, HeldSetting]:
    """Carry out what a guest does, with a program whose lines these are: its exit code, and what was read."""
    state, operations = folder / "root" / STATE, folder / "root" / OPERATIONS
    operations.parent.mkdir(parents=True)
    state.write_text("disabled\n")
    program, boot = folder / "root/main", folder / "boot"
    names = {"state": state, "operations": operations, "boot": boot}
    write_program(program, PROGRAM.format(code=code.format(**names), **names))
    facts = HostFacts(cpus=(), accelerator="tcg", schedulers={"scx_fifo": str(program)})
    settings = guest_settings(STUDY, {"scheduler": level}, facts)
    boot.mkdir()
    (boot / "settings").write_text(settings_lines(settings, 1))
    (boot / "scheduler").write_text(f"{scheduler_of(settings)}\n")
    here = RUN.replace("chroot /root ", "").replace('"$probe" <> "$port" >&0', ": > /boot/ran")
    here = here.replace("/root", str(folder / "root")).replace("/boot", str(boot))
    script = (
        here.replace("poweroff -f", f"exit {FAILED}").replace("tries=300", "tries=5").replace("sleep 10", "sleep 1")
    )
    with (folder / "said").open("wb") as said:
        ended = subprocess.run(["sh", "-c", script], stdout=said, stderr=said, check=False).returncode
    (boot / "settings").unlink()
    read_back(settings, boot)
    assert (boot / "ran").exists() == (ended != FAILED)
    return ended, settings[0].held


@pytest.mark.parametrize("level", ["scx_fifo", "default"])
def test_it_is_at_work_for_the_run_and_the_kernel_s_own_around_it(tmp_path: Path, level: str) -> None:
    _, held = of_guest(tmp_path, level)
    assert (held.before, held.in_force, held.at_end, held.after) == ("default", level, level, "default")


@pytest.mark.parametrize("code", ["echo 'this kernel has no sched_ext' >&2; exit 69", ":"])
def test_without_it_there_is_no_run(tmp_path: Path, code: str) -> None:
    ended, held = of_guest(tmp_path, "scx_fifo", code)
    assert (ended, held.in_force, held.at_end) == (FAILED, "", "")
    assert ("no sched_ext" in (tmp_path / "said").read_text()) == (code != ":")
