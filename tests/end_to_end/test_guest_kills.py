"""No run is lost when guests lose their power: the short form of the campaign, by a program that stands in for QEMU."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from scalograph.errors import HostError
from scalograph.run.hosts.guests.guest import DEFAULT_KERNEL, find_programs
from scalograph.run.hosts.guests.kernel_packages import ABOUT, MODULES
from tests.kit import ROOT
from tests.kit.servers import needs_probe

pytestmark = pytest.mark.guarantee

CAMPAIGN, ANSWER = ROOT / "benchmarks" / "guest_kills.py", ROOT / "protocol" / "examples" / "probe_events.jsonl"
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
sed -n '1p;2p;6p' {ANSWER} | sed "s/\\"run\\":\\"r1\\"/\\"run\\":\\"${{name%%\\"*}}\\"/"
keep at_end
echo 0 > "$boot/exit"
"""
ABOUT_IT = {"release": "6.1.0", "package": "linux-image-6.1.0", "version": "6.1.0-1", "sha256": "0"}


def planted(folder: Path) -> dict[str, str]:
    """An environment with that program, a kernel that was fetched, and no index of packages."""
    programs, kernel = folder / "bin", folder / "cache" / "scalograph" / "kernels" / DEFAULT_KERNEL
    for path in (programs, kernel / MODULES):
        path.mkdir(parents=True)
    (kernel / ABOUT).write_text(json.dumps(ABOUT_IT))
    stand_ins = {"qemu-system-x86_64": QEMU, "apt-cache": "#!/bin/sh\nexit 1\n", "busybox": "", "dpkg-deb": ""}
    for name, text in stand_ins.items():
        (programs / name).write_text(text or "#!/bin/sh\n")
        (programs / name).chmod(0o755)
    return {
        **{name: value for name, value in os.environ.items() if name != "PYTHONPATH"},
        "PATH": f"{programs}:{os.environ['PATH']}", "XDG_CACHE_HOME": str(folder / "cache"),
    }  # fmt: skip


@needs_probe
@pytest.mark.skipif(os.geteuid() != 0, reason="virtiofsd changes its root")
def test_no_run_is_lost_and_nothing_is_left(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    environ = planted(tmp_path)
    monkeypatch.setenv("PATH", environ["PATH"])
    try:
        find_programs()
    except HostError as error:
        pytest.skip(str(error))
    argv = [sys.executable, str(CAMPAIGN), "--quick", "--json"]
    done = subprocess.run(argv, env=environ, capture_output=True, text=True, timeout=300, check=False)
    assert (done.returncode, done.stderr) == (0, "")
    figures = {figure["name"]: figure for figure in map(json.loads, done.stdout.splitlines())}
    assert figures["kills"]["value"] == 2 and figures["studies"]["value"] >= 1
    faults = {name: figure["value"] for name, figure in figures.items() if figure["limit"] == 0}
    assert len(faults) == 9 and set(faults.values()) == {0}
