"""Empty leaves of earlier runs: a probe that is killed together with its guard cannot remove its own."""

import os
import stat
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

from scalograph.control.cgroups import LEAF, CgroupTree, read

# A probe makes its leaf a moment before it forks into it.
MIN_AGE_S = 60.0
_PROBE = "scalograph-probe"[:15]  # length of a name that the kernel keeps


def sweep(tree: CgroupTree, root: Path = Path("/"), min_age_s: float = MIN_AGE_S) -> list[str]:
    """Remove leaves that surely belong to no process, and list them. The machine must be locked.

    They are in our own cgroup, where the probe makes them, or below the mount; have a name of ours; belong to our
    user; are older than `min_age_s`; hold no process at any depth; and their probe is gone. Nothing is killed: the
    kernel itself refuses to remove a cgroup with a process in it.
    """
    return [f"cgroup {leaf.name}, left empty: removed" for leaf in _left(tree, root, min_age_s) if _removed(leaf)]


def _left(tree: CgroupTree, root: Path, min_age_s: float) -> Iterator[Path]:
    probes = _running_probes(root)
    for home in dict.fromkeys((tree.mount, tree.own_folder() or tree.mount)):
        for leaf in _leaves(home):
            # The probe's name for its leaf begins with its process number.
            in_use = leaf.name.removeprefix("scalograph-").startswith(probes)
            if not in_use and _is_left(leaf, min_age_s):
                yield leaf


def _leaves(home: Path) -> list[Path]:
    try:
        return sorted(path for path in home.iterdir() if LEAF.fullmatch(path.name))
    except OSError:
        return []


def _is_left(leaf: Path, min_age_s: float) -> bool:
    try:
        status = leaf.lstat()
    except OSError:
        return False
    old = time.time() - status.st_mtime >= min_age_s
    ours = stat.S_ISDIR(status.st_mode) and status.st_uid == os.geteuid()
    # `populated` covers everything below, too. Unreadable is not empty.
    return old and ours and "populated 0" in (read(leaf / "cgroup.events") or "").splitlines()


def _running_probes(root: Path) -> tuple[str, ...]:
    folders = (folder for folder in (root / "proc").iterdir() if folder.name.isdecimal())
    return tuple(f"{int(folder.name):x}" for folder in folders if read(folder / "comm") == _PROBE)


def _removed(leaf: Path) -> bool:
    """Remove a leaf and tell whether it is gone. One that stays does no harm; a later start tries again."""
    with suppress(OSError):
        for folder, _, _ in os.walk(leaf, topdown=False):
            Path(folder).rmdir()
    return not leaf.exists()
