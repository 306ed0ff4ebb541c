"""Short forms of the campaigns in benchmarks/: kills of studies, settings and guests, and inputs of every kind."""

import importlib
import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

import pytest

from scalograph.control.capacity import find_quota_refusal
from scalograph.control.memory import find_memory_refusal
from scalograph.errors import HostError
from scalograph.run.hosts.guests.guest import DEFAULT_KERNEL, find_programs
from scalograph.run.hosts.guests.kernel_packages import ABOUT, MODULES
from tests.kit import EXAMPLES, ROOT
from tests.kit.command import machine
from tests.kit.processes import write_program
from tests.kit.servers import needs_probe

needs_root = pytest.mark.skipif(os.geteuid() != 0, reason="virtiofsd changes its root")
needs_limits = pytest.mark.skipif(
    bool(find_quota_refusal() or find_memory_refusal()), reason="no limits of CPU time and memory are granted here"
)
BENCHMARKS = ROOT / "benchmarks"
# Stands in for QEMU: a guest that boots, answers a run as the examples of the protocol do, and ends.
QEMU = f"""\
#!/bin/sh
while [ "$1" != -initrd ]; do shift; done
boot=$(dirname "$2")
keep() {{
    while read -r path value; do
        mkdir -p "$boot/$1/${{path%/*}}"
        echo "${{value:-0}}" > "$boot/$1/$path"
    done < "$boot/settings"
}}
sleep 0.1
keep before
keep in_force
printf '6.1.0\\nconsole=ttyS0\\n0\\n' > "$boot/up"
IFS= read -r line
name=${{line#*\\"run\\": \\"}}
sleep 0.1
sed -n '1p;2p;6p' {EXAMPLES / "probe_events.jsonl"} | sed "s/\\"run\\":\\"r1\\"/\\"run\\":\\"${{name%%\\"*}}\\"/"
keep at_end
echo 0 > "$boot/exit"
"""
KERNEL = {"release": "6.1.0", "package": "linux-image-6.1.0", "version": "6.1.0-1", "sha256": "0"}


@pytest.fixture
def guests(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """An environment with that program, a kernel that was fetched, and no index of packages."""
    kernel = tmp_path / "cache" / "scalograph" / "kernels" / DEFAULT_KERNEL
    (kernel / MODULES).mkdir(parents=True)
    (kernel / ABOUT).write_text(json.dumps(KERNEL))
    for name, text in {"qemu-system-x86_64": QEMU, "apt-cache": "exit 1", "busybox": "", "dpkg-deb": ""}.items():
        write_program(tmp_path / "bin" / name, text)
    monkeypatch.setenv("PATH", f"{tmp_path / 'bin'}:{os.environ['PATH']}")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    try:
        find_programs()
    except HostError as error:
        pytest.skip(str(error))


# A campaign, how many kills it makes at least and at most, and how many kinds of faults it looks for. Of ten kills
# those that come after the end of their study hit nothing: how many is the machine's affair. A study that comes to its
# end before all kills of the others have met it is followed by another.
KILLS = [
    pytest.param("kills_campaign", (1, 10), 10, marks=machine),
    pytest.param("settings_kills", (4, 4), 7),
    pytest.param("limit_kills", (4, 4), 7, marks=[machine, needs_limits]),
    pytest.param("guest_kills", (2, 2), 9, marks=[needs_probe, needs_root]),
]


@pytest.mark.guarantee
@pytest.mark.parametrize(("campaign", "n_kills", "n_faults"), KILLS)
def test_nothing_is_lost_and_nothing_is_left_by_kills(
    campaign: str, n_kills: tuple[int, int], n_faults: int, request: pytest.FixtureRequest
) -> None:
    if campaign == "guest_kills":
        request.getfixturevalue("guests")
    environ = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    argv = [sys.executable, BENCHMARKS / f"{campaign}.py", "--quick", "--json"]
    done = subprocess.run(argv, env=environ, capture_output=True, text=True, timeout=300, check=False)
    assert (done.returncode, done.stderr) == (0, "")
    figures = {figure["name"]: figure for figure in map(json.loads, done.stdout.splitlines())}
    assert n_kills[0] <= figures["kills"]["value"] <= n_kills[1]
    assert campaign == "kills_campaign" or figures["studies"]["value"] >= 1
    faults = {name: figure["value"] for name, figure in figures.items() if figure["limit"] == 0}
    assert len(faults) == n_faults and set(faults.values()) == {0}


# Other inputs than their campaign begins with.
FIRST, N = 1_000_000, 250


@pytest.fixture(scope="module")
def inputs() -> Iterator[ModuleType]:
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(str(BENCHMARKS))
        yield importlib.import_module("inputs_campaign")


def test_every_input_ends_in_one_message_and_its_exit_code(inputs: ModuleType) -> None:
    ended = list(inputs.batch(FIRST, FIRST + N))
    assert [one["seed"] for one in ended] == list(range(FIRST, FIRST + N))
    assert {(one["seed"], one["defect"], one["place"]) for one in ended if one["defect"]} == set()
    assert {one["code"] for one in ended} >= {0, 2, 6}


def test_a_seed_is_one_input_for_ever(inputs: ModuleType) -> None:
    cases = sys.modules["inputs_cases"]
    kinds = [cases.kind_of(seed) for seed in range(FIRST, FIRST + 100)]
    assert {kind: kinds.count(kind) for kind in cases.KINDS} == {
        kind: share for kind, (_, share) in cases.KINDS.items()
    }
    for kind in cases.KINDS:
        seed = FIRST + kinds.index(kind)
        one, again = cases.case(seed), cases.case(seed)
        assert one == again and one.files
