"""What a guest starts from, and where its kernel comes from."""

import lzma
import subprocess
from pathlib import Path

import pytest

from scalograph.errors import HostError
from scalograph.run.hosts.guests.initramfs import INIT, initramfs, needed_modules, read_module
from scalograph.run.hosts.guests.kernel_packages import newest_package
from tests.kit.refusals import refuses


def module(folder: Path, name: str, depends: str, packed: bool = False) -> None:
    content = b"\x7fELF\0license=GPL\0depends=" + depends.encode() + b"\0name=x\0"
    file = folder / "kernel" / f"{name}.ko{'.xz' if packed else ''}"
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_bytes(lzma.compress(content) if packed else content)


def entries(archive: bytes) -> dict[str, tuple[int, bytes]]:
    """Names, modes and contents, as the kernel's documentation of the format reads them."""
    found, at = dict[str, tuple[int, bytes]](), 0
    while True:
        assert archive[at : at + 6] == b"070701" and at % 4 == 0
        fields = [int(archive[at + 6 + 8 * n : at + 14 + 8 * n], 16) for n in range(13)]
        name = archive[at + 110 : at + 109 + fields[11]].decode()
        start = (at + 110 + fields[11] + 3) // 4 * 4
        if name == "TRAILER!!!":
            return found
        found[name] = fields[1], archive[start : start + fields[6]]
        at = (start + fields[6] + 3) // 4 * 4


def test_modules_come_after_those_that_they_need_by_names_that_order_them(tmp_path: Path) -> None:
    module(tmp_path, "virtio_pci", "virtio-ring,virtio", packed=True)
    module(tmp_path, "virtio-ring", "")
    module(tmp_path, "virtio", "virtio-ring")
    module(tmp_path, "virtiofs", "fuse")
    module(tmp_path, "fuse", "")
    module(tmp_path, "unused", "")
    names = [file.name.split(".")[0] for file in needed_modules(tmp_path)]
    assert names == ["virtio-ring", "virtio", "virtio_pci", "fuse", "virtiofs"]
    assert read_module(needed_modules(tmp_path)[2]).startswith(b"\x7fELF"), "insmod takes it as it is"
    kept = [tmp_path / name for name in ("000-virtio.ko", "001-virtio_pci.ko")]
    for file in kept:
        file.write_bytes(file.name.encode())
    found = entries(initramfs(b"busy", kept))
    assert found["init"] == (0o100755, INIT.encode()) and found["bin/busybox"] == (0o100755, b"busy")
    modules = {name: content for name, (_, content) in found.items() if name.startswith("modules/")}
    assert modules == {f"modules/{file.name}": file.name.encode() for file in kept}
    assert all(found[folder] == (0o040755, b"") for folder in ("proc", "sys", "dev", "host", "boot", "run", "root"))


def test_blanks_at_the_ends_of_a_folder_s_name_are_part_of_it(tmp_path: Path) -> None:
    (tmp_path / "folder").write_text(" a\\b \n")
    reads = next(line for line in INIT.splitlines() if line.endswith("/boot/folder"))
    script = f'{reads.replace("/boot", str(tmp_path))}\nprintf %s "$folder"'
    assert subprocess.run(["sh", "-c", script], capture_output=True, text=True, check=True).stdout == " a\\b "


OFFERED = [
    "linux-image-6.1.0-9-amd64", "linux-image-6.1.0-10-amd64", "linux-image-6.1.0-10-amd64-dbg",
    "linux-image-6.1.0-11-amd64-unsigned", "linux-image-6.12.9+bpo-amd64", "linux-image-6.12.10+bpo-cloud-amd64",
    "linux-image-amd64", "linux-image-cloud-amd64", "linux-image-6.1.0-10-rt-amd64", "linux-image-6.1.0-10-cloud-arm64",
]  # fmt: skip


@pytest.mark.parametrize(("level", "name"), [
    ("generic", "6.12.9+bpo-amd64"), ("6.1-generic", "6.1.0-10-amd64"),
    ("cloud", "6.12.10+bpo-cloud-amd64"), ("rt", "6.1.0-10-rt-amd64"),
])  # fmt: skip
def test_a_level_is_the_newest_package_of_its_kind(level: str, name: str) -> None:
    assert newest_package(level, OFFERED) == f"linux-image-{name}"


def test_a_family_that_is_not_offered_is_told_with_those_that_are() -> None:
    with pytest.raises(HostError, match=r"kernel 5.10-cloud: no such package, expected one of 6.1, 6.12, "):
        newest_package("5.10-cloud", OFFERED)
    refuses(HostError, "one of none", newest_package, "cloud", [])
