"""What `perf script` prints, as samples; and a machine on which perf cannot be used."""

from pathlib import Path

import pytest

from scalograph.errors import HostError
from scalograph.profile.recorder import INSTALL, PerfSample, parse_perf_samples, read_perf_tasks, refuse_unable
from scalograph.profile.values import MAX_FRAMES
from tests.kit.processes import write_program

# Of perf 6.1.
PRINTED = """\
  30938 75264.659587123: \t
\t            9820 [unknown] (/usr/bin/dash)
\t    55a3bd241530 main (/usr/bin/dash)

  30938 75264.669706001:
\tffffffff81234567 update_load_avg.isra.0 ([kernel.kallsyms])
\t           48d7a std::vector<int, std::allocator<int> >::at(unsigned long) (/tmp/a (b)/prog (deleted))
\t    55a3f44a9ac8 [unknown] ([unknown])
\t    55a3f44a9ac9 main (/usr/bin/dash)
"""


def test_frames_end_where_functions_are_not_known() -> None:
    assert [*parse_perf_samples(PRINTED.splitlines(keepends=True))] == [
        PerfSample(75264.659587123, ("[dash]",)),
        PerfSample(75264.669706001, ("update_load_avg", "std::vector<int, std::allocator<int> >::at(unsigned long)")),
    ]


@pytest.mark.parametrize("text", ["", "\n\n", "x y z\n", "\t 1 f (a)\n", "1 2:\n", "1 1.5:\n\n", "(" * 50_000])
def test_lines_of_no_sample_are_no_part_of_one(text: str) -> None:
    assert [*parse_perf_samples([text])] == []


def test_a_deep_stack_is_cut() -> None:
    lines = ["1 2.5: ", *(f"  {i:x} f{i} (/p)" for i in range(100))]
    assert [*parse_perf_samples(lines)] == [PerfSample(2.5, tuple(f"f{i}" for i in range(MAX_FRAMES)))]


def test_perf_that_is_missing_or_refused_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(HostError, match=f"perf: not on PATH, .*; {INSTALL}"):
        refuse_unable(tmp_path)
    write_program(tmp_path / "perf", "echo 'No permission to enable cpu-clock event' >&2\nexit 255")
    with pytest.raises(HostError, match=r"perf record: No permission .*perf_event_paranoid=1"):
        refuse_unable(tmp_path)
    with pytest.raises(HostError, match="perf script: exit code 255"):
        read_perf_tasks(tmp_path / "none", lambda _: True)
