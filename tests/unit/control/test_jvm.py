"""The controls `jvm` and `jvm-options`."""

from typing import Any

import pytest

from scalograph.control.control import Launch, Level, LevelError
from scalograph.control.jvm import JvmControl, JvmOptionsControl, default_values
from scalograph.errors import HostError
from scalograph.protocol.facts import HostFacts, Jvm
from scalograph.study.control_names import CONTROLS
from tests.kit.studies import facts_of

TWO = HostFacts(
    cpus=(),
    jvms=(
        Jvm(name="17", java="/j17/bin/java", release=17, build="17.0.1+2"),
        Jvm(name="25", java="/j25/bin/java", release=25, build="25.0.1+3"),
    ),
)
NONE = facts_of(0)


@pytest.mark.parametrize(
    ("levels", "resolved"),
    [
        (["all"], ["17", "25"]),
        (["default"], ["17"]),
        (["default", "25"], ["17", "25"]),
        ([25, 17], [25, 17]),
        (["/other/bin/java", "17"], ["/other/bin/java", "17"]),
    ],
)
def test_levels_of_jvm(levels: list[Level], resolved: list[Level]) -> None:
    assert JvmControl().resolve(levels, TWO) == resolved


@pytest.mark.parametrize(
    ("levels", "said"),
    [
        (["11"], r'no JVM is named "11", expected one of 17 \(17.0.1\+2\), 25'),
        ([True], 'no JVM is named "True"'),
        ([""], "no JVM is named"),
        (["relative/java"], "no JVM is named"),
        (["17", 17], 'the JVM "17" twice'),
        (["all", "25"], 'the JVM "25" twice'),
        (["default", "/j17/bin/java"], "twice"),
    ],
)
def test_levels_of_jvm_refused(levels: list[Level], said: str) -> None:
    with pytest.raises(LevelError, match=said):
        JvmControl().resolve(levels, TWO)


@pytest.mark.parametrize("level", ["all", "default", "17"])
def test_a_host_without_a_jvm(level: str) -> None:
    with pytest.raises(LevelError, match="JVM"):
        JvmControl().resolve([level], NONE)


@pytest.mark.parametrize(
    ("level", "java"), [("17", "/j17/bin/java"), (25, "/j25/bin/java"), ("/x/bin/java", "/x/bin/java")]
)
def test_jvm_fills_the_launcher(level: Level, java: str) -> None:
    before = Launch(values={"java": "/default", "threads": 2})
    after = JvmControl().apply(before, level, TWO)
    assert after.values == {"java": java, "threads": 2}
    assert before.values["java"] == "/default"


@pytest.mark.parametrize(
    ("level", "words"),
    [("", []), ("-Xmx64m", ["-Xmx64m"]), ('-Da="b c" -Xint', ["-Da=b c", "-Xint"]), ("@file", ["@file"])],
)
def test_options_are_split_as_a_shell_does(level: str, words: list[str]) -> None:
    assert JvmOptionsControl().resolve([level], TWO) == [level]
    assert JvmOptionsControl().apply(Launch(), level, TWO).values == {"jvm_options": words}


def test_options_of_two_factors_add_up() -> None:
    launch = JvmOptionsControl().apply(Launch(values={"jvm_options": ["-Xint"]}), "-Xmx64m", TWO)
    assert launch.values["jvm_options"] == ["-Xint", "-Xmx64m"]


@pytest.mark.parametrize(
    ("level", "said"), [('-Da="b', "close the quotes"), (64, "text"), ("Main", '"Main"'), ("-cp x", '"x"')]
)
def test_options_refused(level: Any, said: str) -> None:
    with pytest.raises(LevelError, match=said):
        JvmOptionsControl().resolve([level], TWO)


def test_defaults() -> None:
    assert default_values(TWO) == {"java": "/j17/bin/java", "jvm_options": []}
    with pytest.raises(HostError, match=r"java: no JVM found, expected a Java of release 11.*; apt install"):
        default_values(NONE)


def test_nothing_is_held_and_nothing_to_read_back() -> None:
    assert CONTROLS["jvm"].kind == CONTROLS["jvm-options"].kind == "tunable"
    for control in (JvmControl(), JvmOptionsControl()):
        assert control.read_back("17", TWO, {}) == []
        with control.apply_settings("17", TWO):
            pass
