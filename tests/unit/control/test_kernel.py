"""Kernels and their command lines: which levels there are, where they can be set, and what was in force."""

from dataclasses import replace

import pytest
from msgspec.structs import replace as replace_part

from scalograph.control.control import Launch, LevelError, find_control
from scalograph.protocol.facts import KernelPackage
from scalograph.protocol.record import Guest, Record
from tests.kit.records import record
from tests.kit.studies import facts_of

CLOUD = KernelPackage(level="cloud", release="6.1.0-9-cloud-amd64", package="p", version="6.1.1", sha256="0")
HERE = facts_of()
GUESTS = HERE.model_copy(update={"accelerator": "tcg", "kernels": (CLOUD,)})


def booted(kernel: str = CLOUD.release, command_line: str = "console=ttyS0 nosmp mem=64M") -> Record:
    guest = Guest(kernel=kernel, command_line=command_line, cpus="0", accelerator="tcg", boot_ns=1)
    return replace_part(record(), guest=guest)


def test_a_kernel_is_set_where_one_is_booted() -> None:
    kernel = find_control("kernel")
    assert kernel.resolve(["cloud", "6.12-rt", "generic"], GUESTS) == ["cloud", "6.12-rt", "generic"]
    assert kernel.apply(Launch(), "6.12-rt", GUESTS).kernel == "6.12-rt"
    with pytest.raises(LevelError, match=r"a kernel on a machine that runs already, .*; add --host guest"):
        kernel.resolve(["cloud"], HERE)


@pytest.mark.parametrize(
    "level",
    [
        "6.1",
        "cloud@",
        "cloud@../x",
        "6-cloud",
        "../cloud",
        "cloud ",
        True,
        6.1,
        "6.1-cloudy",
        "\N{ARABIC-INDIC DIGIT SIX}.1-rt",
    ],
)
def test_what_is_no_kernel_is_refused(level: str) -> None:
    with pytest.raises(
        LevelError, match=r"expected generic, cloud, rt, one of a family \(6.1-cloud\) or of another release"
    ):
        find_control("kernel").resolve([level], GUESTS)


def test_only_what_is_offered_is_a_level() -> None:
    facts = GUESTS.model_copy(update={"offered_kernels": ("6.1-cloud", "6.12-cloud")})
    assert find_control("kernel").resolve(["all"], facts) == ["6.1-cloud", "6.12-cloud"]
    assert find_control("kernel").resolve(["rt@sid", "6.12-cloud", "all"], facts) == [
        "rt@sid",
        "6.12-cloud",
        "6.1-cloud",
    ]
    assert find_control("kernel").resolve(["cloud", "6.1-cloud"], facts) == ["cloud", "6.1-cloud"]
    assert find_control("kernel").resolve(["rt@sid"], facts) == ["rt@sid"]
    for level in ("rt", "5.10-cloud"):
        with pytest.raises(
            LevelError, match=f"kernel {level} is not offered here, expected one of 6.1-cloud, 6.12-cloud"
        ):
            find_control("kernel").resolve([level], facts)


def test_all_of_none_is_told() -> None:
    assert GUESTS.offered_kernels == ()
    with pytest.raises(LevelError, match=r"no kernel that .* offer, .*; run apt-get update, or name the kernels"):
        find_control("kernel").resolve(["cloud", "all"], GUESTS)
    with pytest.raises(LevelError, match="add --host guest"):
        find_control("kernel").resolve(["all"], HERE)


def test_a_machine_that_is_booted_has_its_own_kernels() -> None:
    far = HERE.model_copy(update={"reached": "ssh", "offered_kernels": ("6.1.0-9-amd64", "6.12.1")})
    assert find_control("kernel").resolve(["6.12.1", "all"], far) == ["6.12.1", "6.1.0-9-amd64"]
    with pytest.raises(
        LevelError, match=r"'cloud', which is not installed there, expected one of 6.1.0-9-amd64, 6.12.1"
    ):
        find_control("kernel").resolve(["cloud"], far)
    with pytest.raises(LevelError, match="a kernel on a machine that runs already"):
        find_control("kernel").resolve(["6.12.1"], far.model_copy(update={"offered_kernels": ()}))
    with pytest.raises(LevelError, match="boot options on a machine that runs already"):
        find_control("boot-options").resolve(["nosmp"], far)


def test_the_kernel_in_force_is_the_one_that_was_fetched() -> None:
    kernel = find_control("kernel")
    assert kernel.read_back("cloud", GUESTS, booted()) == []
    assert kernel.read_back("cloud", GUESTS, record()) == [], "its guest did not come up: it has failed anyway"
    wrong = kernel.read_back("cloud", GUESTS, booted("6.2"))
    assert wrong == ["kernel: asked for 6.1.0-9-cloud-amd64, in force was 6.2"]


def test_options_of_several_factors_go_together() -> None:
    options = find_control("boot-options")
    launch = options.apply(options.apply(Launch(), "nosmp", GUESTS), "mem=64M", GUESTS)
    assert launch == replace(Launch(), boot_options="nosmp mem=64M")
    assert options.read_back("nosmp", GUESTS, booted()) == options.read_back("", GUESTS, booted()) == []
    assert options.read_back("maxcpus=1 nosmp", GUESTS, booted()) == [
        "boot options: asked for maxcpus=1 nosmp, missing was maxcpus=1"
    ]


@pytest.mark.parametrize(
    "level", [1, 'a="b"', "a\nb", " nosmp", "x" * 257, "rdinit=/bin/sh", "nosmp console=tty0", "panic=9"]
)
def test_options_that_would_break_a_guest_are_refused(level: str) -> None:
    with pytest.raises(LevelError):
        find_control("boot-options").resolve([level], GUESTS)
    with pytest.raises(LevelError, match="add --host guest"):
        find_control("boot-options").resolve(["nosmp"], HERE)
