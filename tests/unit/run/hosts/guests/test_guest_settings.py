"""Settings that a guest sets itself: which files it writes, and what it says that it read."""

import os
from pathlib import Path

import pytest

from scalograph.run.hosts.guests.guest import guest_settings, read_back, settings_lines
from scalograph.study.load import parse
from tests.kit.studies import VALID, facts_of

pytestmark = pytest.mark.guarantee

FACTORS = "".join(
    f'[factors.{name}]\nlevels = {levels}\ncontrol = "{control}"\n'
    for name, levels, control in (
        ("swappiness", "[7, false]", "sysctl:vm.swappiness"),
        ("online", "[1, 3]", "online"),
        ("pages", '["never"]', "thp"),
        ("scheduler", '["default", false]', "scheduler"),
    )
)
STUDY = parse(VALID.replace("[factors.threads]", FACTORS + "[factors.threads]", 1))
FACTS = facts_of(3, accelerator="tcg")
AS_IT_IS: dict[str, int | str | bool] = {"swappiness": False, "online": 3, "pages": "never", "scheduler": "default"}


def written(**configuration: int | str | bool) -> list[str]:
    settings = guest_settings(STUDY, AS_IT_IS | configuration, FACTS)
    return [line for line in settings_lines(settings, 3).splitlines() if " " in line]


def test_what_a_guest_writes() -> None:
    pages = "sys/kernel/mm/transparent_hugepage/enabled never"
    assert written() == [pages] and written(swappiness=7) == ["proc/sys/vm/swappiness 7", pages]
    offline = [f"sys/devices/system/cpu/cpu{n}/online 0" for n in (2, 1)]
    assert written(online=1) == [*offline, pages]


def test_what_it_read_is_told_as_of_a_machine(tmp_path: Path) -> None:
    settings = guest_settings(STUDY, AS_IT_IS | {"swappiness": 7, "online": 1}, FACTS)
    for when, swappiness, online, pages in (("before", 60, 1, "[always] never"), ("in_force", 7, 0, "always [never]")):
        tree = {
            "proc/sys/vm/swappiness": f"{swappiness}\n", "sys/kernel/mm/transparent_hugepage/enabled": f"{pages}\n",
            "sys/devices/system/cpu/present": "0-2\n", "sys/devices/system/cpu/cpu1/online": f"{online}\n",
            "sys/devices/system/cpu/cpu2/online": f"{online}\n",
        }  # fmt: skip
        for name, text in tree.items():
            (tmp_path / when / name).parent.mkdir(parents=True, exist_ok=True)
            (tmp_path / when / name).write_text(text)
    read_back(settings, tmp_path)
    found = {one.held.name: (one.held.before, one.held.asked, one.held.in_force, one.held.at_end) for one in settings}
    assert found == {
        "vm.swappiness": ("60", "7", "7", ""), "online": ("0-2", "0", "0", ""), "thp": ("always", "never", "never", ""),
        "scheduler": ("", "default", "", ""),
    }  # fmt: skip


def test_what_a_guest_linked_or_made_endless_is_not_read(tmp_path: Path) -> None:
    settings = guest_settings(STUDY, AS_IT_IS | {"swappiness": 7, "online": 1, "pages": False}, FACTS)
    outside = tmp_path / "machine/proc/sys/vm/swappiness"
    outside.parent.mkdir(parents=True)
    outside.write_text("60\n")
    (tmp_path / "before").symlink_to(tmp_path / "machine")
    file = tmp_path / "in_force/proc/sys/vm/swappiness"
    file.parent.mkdir(parents=True)
    os.mkfifo(file)
    present = tmp_path / "in_force/sys/devices/system/cpu/present"
    present.parent.mkdir(parents=True)
    present.write_text("0-99999999999999\n")
    read_back(settings, tmp_path)
    assert {(one.held.before, one.held.in_force) for one in settings} == {("", "")}
    domain = tmp_path / "in_force/sys/devices/system/cpu/cpufreq/policy0"
    domain.mkdir(parents=True)
    os.mkfifo(domain / "affected_cpus")
    (domain / "scaling_governor").write_text("powersave\n")
    factor = '[factors.g]\nlevels = ["powersave"]\ncontrol = "governor"\n'
    study = parse(VALID.replace("[factors.threads]", factor + "[factors.threads]", 1))
    (one,) = guest_settings(study, {"g": "powersave"}, FACTS)
    read_back([one], tmp_path)
    assert one.held.in_force == "powersave"
