"""What a study wants of the machine before its runs: resets that are carried out, conditions that are looked at."""

import os
from pathlib import Path
from typing import Any

import pytest

from scalograph.control.held_settings import check_reset, perform_reset
from scalograph.control.kernel_files import describe_met, refuse_fixed_layout, refuse_unmet
from scalograph.errors import HostError
from scalograph.study.control_names import Reset
from scalograph.study.responses import COUNTERS
from scalograph.system.platform_facts import counter_changes, read_counters
from tests.kit.refusals import refuses
from tests.unit.control.paper_kernel import planted
from tests.unit.control.trees import write

SWAP = "Filename\t\tType\t\tSize\n"
VMSTAT = """\
nr_dirtied 100
nr_written 90
allocstall_normal 3
allocstall_movable 4
pgscan_direct 7
pgscan_direct_throttle 0
nr_dirty_threshold 1000
nr_dirty_background_threshold 500
workingset_nodes 5
"""


@pytest.fixture
def root(tmp_path: Path) -> Path:
    for file, text in {"swaps": SWAP, "sys/vm/drop_caches": "0\n", "vmstat": VMSTAT}.items():
        write(tmp_path / "proc" / file, text)
    return planted(tmp_path)


@pytest.mark.parametrize(("name", "met", "unmet", "said"), [
    ("swap", "off", "on", "conditions.swap: off, expected on; turn it on: swapon -a"),
    ("smt", "off", "on", "conditions.smt: off, expected on"),
    ("thp", "madvise", "never", "conditions.thp: madvise, expected never; set it: echo never > /sys/kernel/mm"),
    ("sysctl:vm.swappiness", 60, 10, "conditions.sysctl:vm.swappiness: 60, expected 10; set it: sysctl -w vm.swap"),
    ("sysctl:vm.lowmem_reserve_ratio", "256 256 32  0 0", "1", "256 256 32 0 0, expected 1; set it"),
    ("io-scheduler:sda", "mq-deadline", "none", "mq-deadline, expected none; set it: echo none > /sys/block/sda/"),
    ("governor", "unknown", "performance", "unknown, expected performance; set it: cpupower frequency-set -g perf"),
    ("swap of another", "on", "off", "conditions.swap: on, expected off; turn it off: swapoff -a"),
])  # fmt: skip
def test_a_condition_is_met_or_told_with_the_remedy(root: Path, name: str, met: Any, unmet: Any, said: str) -> None:
    if name == "swap of another":
        write(root / "proc/swaps", f"{SWAP}/dev/vdb partition 1 0 -2\n")
    name = name.removesuffix(" of another")
    refuse_unmet({name: met}, root)
    with pytest.raises(HostError) as refused:
        refuse_unmet({name: unmet}, root)
    assert said in str(refused.value)


def test_conditions_that_are_met_are_a_note() -> None:
    assert describe_met({}) is None
    assert describe_met({"swap": "off", "sysctl:vm.laptop_mode": 0}) == "conditions, met: swap off, vm.laptop_mode 0"


def test_caches_are_dropped_after_what_is_dirty_is_written(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file, done = root / "proc/sys/vm/drop_caches", []
    monkeypatch.setattr(os, "sync", lambda: done.append(file.read_text()))
    perform_reset(Reset(sync=True, drop_caches=3), root)
    assert (done, file.read_text()) == (["0\n"], "3\n")
    perform_reset(Reset(drop_caches=1), root)
    perform_reset(Reset(), root)
    assert (len(done), file.read_text()) == (1, "1\n")
    check_reset(Reset(drop_caches=3), root)
    file.unlink()  # a machine that drops none says so before the first run
    check_reset(Reset(sync=True), root)
    with pytest.raises(HostError, match=r"reset\.drop_caches: cannot be done \(ENOENT"):
        check_reset(Reset(drop_caches=3), root)


def test_counters_are_those_of_the_run_and_limits_those_at_its_end(root: Path) -> None:
    before = read_counters(root)
    assert before is not None and before["allocstall"] == 7
    assert {*before} <= {*COUNTERS}
    write(root / "proc/vmstat", VMSTAT.replace("dirtied 100", "dirtied 130").replace("threshold 500", "threshold 400"))
    after = counter_changes(before, read_counters(root))
    assert after == {
        "nr_dirtied": 30, "nr_written": 0, "pgscan_direct": 0, "pgscan_direct_throttle": 0, "allocstall": 0,
        "nr_dirty_threshold": 1000, "nr_dirty_background_threshold": 400,
    }  # fmt: skip
    (root / "proc/vmstat").unlink()
    assert counter_changes(before, read_counters(root)) is None


def test_counters_that_a_guest_wrote_are_bounded(root: Path) -> None:
    file, most = root / "proc/vmstat", "9" * 20
    write(file, f"nr_dirtied {'9' * 21}\nnr_written {most}\nallocstall_a {most}\nallocstall_b {most}\npgpgin \u0661\n")
    assert read_counters(root) == {"nr_written": 2**63 - 1, "allocstall": 2**63 - 1}
    write(file, "x" * (1 << 20))
    assert read_counters(root) is None
    file.unlink()
    file.symlink_to(root / "elsewhere")
    write(root / "elsewhere", VMSTAT)
    assert read_counters(root) is None


@pytest.mark.parametrize(
    ("machine", "own", "words"),
    [("2", "00000000", ""), ("1", "", ""), ("0", "00000000", "sysctl kernel"), ("2", "00040000", "setarch -R")],
)
def test_an_address_layout_that_is_always_the_same_is_refused(
    tmp_path: Path, machine: str, own: str, words: str
) -> None:
    for name, text in {"sys/kernel/randomize_va_space": machine, "self/personality": own}.items():
        (tmp_path / "proc" / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / "proc" / name).write_text(f"{text}\n")
    if words:
        refuses(HostError, words, refuse_fixed_layout, tmp_path)
    else:
        refuse_fixed_layout(tmp_path)
