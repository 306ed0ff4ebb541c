"""The source trees that are built: the package each comes from, and how it is made."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from synthetic import directories


@dataclass(frozen=True)
class Tree:
    """One tree.

    Attributes:
        package: source package of the distribution; empty for a tree that is made here.
        make: arguments of make beside -j.
        modules: of further calls of make, one after another, after the first one, which then makes the image; None
            where a build has no such phases.
        directories: option of the configuration -> directory of a kernel that is made before these, if it is in force.
        outside: objects go to a folder outside the tree (`O=`), which then need not be copied.
        config: first target of a configuration that is made while preparing; None where there is none.
        options: what is switched on in it, and a name for `=m`.
        needs: programs that must be there, each with the package that has it.
    """

    package: str
    make: tuple[str, ...]
    modules: tuple[tuple[str, ...], ...] | None = None
    directories: Mapping[str, str] = field(default_factory=dict)
    outside: bool = False
    config: str | None = None
    options: tuple[str, ...] = ()
    needs: tuple[tuple[str, str], ...] = (("make", "make"), ("gcc", "gcc libc6-dev"))


_KERNEL = (*Tree("", ()).needs, ("flex", "flex"), ("bison", "bison"), ("bc", "bc"), ("xz", "xz-utils"))
# Options, and the directory that each fills: as in the published build many with few files, no part of the image.
_DIRECTORIES = {
    "EXT4_FS=m": "fs/ext4",
    "FAT_FS=m": "fs/fat",
    "ISO9660_FS=m": "fs/isofs",
    "UDF_FS=m": "fs/udf",
    "EXFAT_FS=m": "fs/exfat",
    "MINIX_FS=m": "fs/minix",
    "ROMFS_FS=m": "fs/romfs",
    "CRAMFS=m": "fs/cramfs",
    "SQUASHFS=m": "fs/squashfs",
    "HFS_FS=m": "fs/hfs",
    "HFSPLUS_FS=m": "fs/hfsplus",
    "AFFS_FS=m": "fs/affs",
    "BEFS_FS=m": "fs/befs",
    "ADFS_FS=m": "fs/adfs",
    "EFS_FS=m": "fs/efs",
    "UFS_FS=m": "fs/ufs",
    "QNX4FS_FS=m": "fs/qnx4",
    "QNX6FS_FS=m": "fs/qnx6",
    "OMFS_FS=m": "fs/omfs",
    "BFS_FS=m": "fs/bfs",
    "NILFS2_FS=m": "fs/nilfs2",
    "FUSE_FS=m": "fs/fuse",
    "XFS_FS=m": "fs/xfs",
    "PACKET=m": "net/packet",
    "IPV6=m": "net/ipv6",
    "BLK_DEV_LOOP=m": "drivers/block",
    "E1000=m": "drivers/net/ethernet/intel/e1000",
}
_MODULES = (
    "MODULES=y", "BLOCK=y", "NET=y", "INET=y", "PCI=y", "CRYPTO=y", "MISC_FILESYSTEMS=y", "NETDEVICES=y", "ETHERNET=y",
    "NET_VENDOR_INTEL=y", "VFAT_FS=m", *_DIRECTORIES,
)  # fmt: skip
_SYNTHETIC_MODULES = tuple(("-C", folder) for folder in directories())

TREES = {
    # Without readline, which not every machine has.
    "lua": Tree("lua5.4", ("posix",)),
    # With the C library's own allocator: jemalloc runs a configure script, which no -j divides. Without optimization,
    # as its target `noopt`: less than half of the time, or 62 builds would take half an hour.
    "redis": Tree("redis", ("MALLOC=libc", "OPTIMIZATION=-O0")),
    # The same files in both: what differs is whether the directories of modules are made too.
    "synthetic": Tree("", ("image.elf",), modules=()),
    "synthetic-modules": Tree("", ("image.elf",), modules=_SYNTHETIC_MODULES),
    # On x86 a kernel of 32 bits: one of 64 needs libelf besides.
    "linux": Tree("linux", ("vmlinux",), modules=(), outside=True, config="tinyconfig", needs=_KERNEL),
    "linux-modules": Tree(
        "linux",
        ("vmlinux",),
        directories=_DIRECTORIES,
        # What is in none of them, and the links.
        modules=(("modules",),),
        outside=True,
        config="tinyconfig",
        options=_MODULES,
        needs=_KERNEL,
    ),
}
