"""Fetches the kernel that a test boots: in CI, or with the word `fetch`. Otherwise it names it where it is missing."""

import os
import sys

from scalograph.errors import ScalographError
from scalograph.run.hosts.guests.guest import DEFAULT_KERNEL
from scalograph.run.hosts.guests.kernel_packages import ABOUT, fetch_kernel
from scalograph.system.private_dir import cache_folder


def main() -> None:
    """Never fails: the test that boots it skips by name."""
    if (cache_folder() / "kernels" / DEFAULT_KERNEL / ABOUT).exists():
        return
    missing = f"missing for a test of guests: kernel {DEFAULT_KERNEL}"
    if os.environ.get("CI") != "true" and sys.argv[1:] != ["fetch"]:
        sys.stderr.write(f"{missing}; fetch it with: .venv/bin/python {sys.argv[0]} fetch\n")
        return
    try:
        fetch_kernel(DEFAULT_KERNEL, print)
    except ScalographError as error:
        sys.stderr.write(f"{missing}: {error}\n")


if __name__ == "__main__":
    main()
