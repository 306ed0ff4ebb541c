"""What the processes of a build work on."""

import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

from scalograph.profile.build_targets import MODULE, name_targets, watch_commands
from scalograph.profile.cpu_budget import split_capacity
from scalograph.profile.level_losses import LevelRuns, compare_levels
from scalograph.profile.perf_trace import Frame, Stay, ThreadTrace, Trace
from scalograph.text.explained import cause_text

MS = 1_000_000
COMMANDS = {
    1: ("/b", ("make", "-j2")),
    2: ("/b/net", ("cc1", "-quiet", "a.c", "-o", "/tmp/ccA.s")),
    3: ("/b/net", ("as", "-o", "b.o", "/tmp/ccB.s")),
    4: ("/b/disk/", ("gcc", "-c", "../disk/c.c", "-o", "c.o")),
}


def build(*stays_ms: tuple[int, int]) -> Trace:
    """A trace of make and its children, each with one stay on a CPU and a sample in it."""
    tasks = {}
    for pid, (start, end) in enumerate(stays_ms, start=1):
        sample = (MS * (start + end) // 2, (Frame("yyparse", "cc1"),))
        stays = [Stay(MS * start, MS * end, pid % 2, False, None)]
        parent = 1 if pid > 1 else None
        tasks[pid] = ThreadTrace(pid, MS * start, parent=parent, died=MS * end, stays=stays, samples=[sample])
    return Trace(0, MS * max(end for _, end in stays_ms), tasks)


def test_files_lie_below_the_folder_that_holds_all_and_who_has_none_has_its_parents() -> None:
    trace = build((0, 1), (1, 2), (2, 3), (3, 4), (4, 5))
    trace.tasks[5].parent = 2
    targets = name_targets(trace, COMMANDS)
    assert [frame.name for frame in targets[2]] == ["net/a", "net"]
    assert targets[5] == targets[2]
    assert targets[3][0] == Frame("net/b", MODULE)
    assert targets[4][0].name == "disk/c"
    assert 1 not in targets


def test_few_files_are_no_build() -> None:
    assert name_targets(build((0, 1), (1, 2), (2, 3)), COMMANDS) == {}


def test_the_directory_that_builds_alone_is_named() -> None:
    levels = []
    for n, stays in ((1, [(0, 2), (2, 12), (12, 22), (22, 82)]), (2, [(0, 2), (2, 12), (2, 12), (12, 72)])):
        trace = build(*stays)
        trace.targets = name_targets(trace, COMMANDS)
        levels.append(LevelRuns(n, [split_capacity(trace, n)], [1.0]))
    top = compare_levels(*levels, 0.95).parts[0]
    assert cause_text(top) == "idle while the build works in disk/c"
    assert top.share.value == pytest.approx(60 / 62, abs=0.03)


def test_commands_are_seen_while_they_run_and_those_of_before_are_not(tmp_path: Path) -> None:
    with watch_commands() as commands:
        sleeper = [sys.executable, "-c", "import sys; print(1, flush=True); sys.stdin.read()"]
        with subprocess.Popen(sleeper, cwd=tmp_path, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as child:
            deadline = time.monotonic() + 60
            while commands.get(child.pid, ("", ()))[1][1:2] != ("-c",) and time.monotonic() < deadline:
                time.sleep(0.01)
    folder, words = commands[child.pid]
    assert folder == str(tmp_path.resolve())
    assert words[1] == "-c"
    assert os.getpid() not in commands
