"""The source trees that are built: the package each comes from, and how it is made."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Tree:
    """One tree.

    Attributes:
        package: source package of the distribution.
        make: arguments of make beside -j.
        outside: objects go to a folder outside the tree (`O=`), which then need not be copied.
        config: first target of a configuration that is made while preparing; None where there is none.
        options: what is switched on in it, and a name for `=m`.
        needs: programs that must be there, each with the package that has it.
    """

    package: str
    make: tuple[str, ...]
    outside: bool = False
    config: str | None = None
    options: tuple[str, ...] = ()
    needs: tuple[tuple[str, str], ...] = (("make", "make"), ("gcc", "gcc libc6-dev"))


_KERNEL = (*Tree("", ()).needs, ("flex", "flex"), ("bison", "bison"), ("bc", "bc"), ("xz", "xz-utils"))
# Enough to compile some hundred files that are no part of the kernel's image.
_MODULES = (
    "MODULES=y", "BLOCK=y", "NET=y", "INET=y", "PCI=y", "CRYPTO=y", "EXT4_FS=m", "XFS_FS=m", "BTRFS_FS=m",
    "FAT_FS=m", "VFAT_FS=m", "PACKET=m", "IPV6=m", "BLK_DEV_LOOP=m", "NETDEVICES=y", "ETHERNET=y", "E1000=m",
)  # fmt: skip

TREES = {
    # Without readline, which not every machine has.
    "lua": Tree("lua5.4", ("posix",)),
    # With the C library's own allocator: jemalloc runs a configure script, which no -j divides. Without optimization,
    # as its target `noopt`: less than half of the time, or 62 builds would take half an hour.
    "redis": Tree("redis", ("MALLOC=libc", "OPTIMIZATION=-O0")),
    # On x86 a kernel of 32 bits: one of 64 needs libelf besides.
    "linux": Tree("linux", ("vmlinux",), outside=True, config="tinyconfig", needs=_KERNEL),
    "linux-modules": Tree(
        "linux", ("vmlinux", "modules"), outside=True, config="tinyconfig", options=_MODULES, needs=_KERNEL
    ),
}
