"""What is said of stacks without names or callers, and of code whose standard library is part of it."""

from collections import Counter
from types import SimpleNamespace

import pytest
from msgspec.structs import replace

from scalograph.errors import HostError
from scalograph.profile.explain_recorder import Explainer, _Level, package_of
from scalograph.profile.perf_runs import PerfRun, PerfRuns, _stop_by_term, refuse_failed
from scalograph.profile.perf_trace import Frame, parse_stack
from scalograph.profile.recording_site import HERE
from scalograph.profile.wait_kinds import ALL, CALLERLESS, NAMELESS, count_defects, cpu_cause, wait_cause
from scalograph.study.program import Process, Service
from scalograph.text.explained import defect_sentence
from tests.kit.perf import Recording
from tests.kit.processes import write_program
from tests.kit.records import record
from tests.kit.refusals import refuses

KERNEL_WAIT = ["schedule ([kernel.kallsyms])", "futex_wait ([kernel.kallsyms])", "do_futex ([kernel.kallsyms])"]


def stack(*frames):
    return parse_stack(f"  {16 * at + 16:x} {frame}" for at, frame in enumerate(frames))


@pytest.mark.parametrize(
    ("frames", "lack"),
    [
        (["[unknown] (/bin/stripped)", "[unknown] (/bin/stripped)"], (NAMELESS, "stripped")),
        ([*KERNEL_WAIT, "pthread_mutex_lock (/lib/libc.so.6)", "[unknown] (/bin/stripped)"], (NAMELESS, "stripped")),
        (["[unknown] (/tmp/perf-77.map)"], (NAMELESS, "[compiled]")),
        (["[unknown] (/usr/lib/libz.so.1)", "main (/bin/prog)"], (NAMELESS, "libz.so.1")),
        (["insert (/bin/static)"], (CALLERLESS, "static")),
        ([*KERNEL_WAIT, "__lll_lock_wait (/bin/static)"], (CALLERLESS, "static")),
        (["main (/bin/prog)"], None),
        (["memcpy (/lib/libc.so.6)"], None),  # of a thread of the library's own
        (["insert (/bin/prog)", "main (/bin/prog)"], None),
        (KERNEL_WAIT, None),
        (["[unknown] ([heap])", "main (/bin/prog)"], None),
    ],
)
def test_a_stack_lacks_names_or_callers(frames, lack):
    assert +count_defects([stack(*frames)]) == Counter({(ALL, ""): 1} | ({lack: 1} if lack else {}))


def test_each_lack_has_its_remedy():
    assert [
        defect_sentence("nameless", "prog", 0.5, ""), defect_sentence("nameless", "libz.so.1", 0.5, ""),
        defect_sentence("nameless", "libz.so.1", 0.5, "zlib1g"), defect_sentence("nameless", "[compiled]", 0.5, ""),
        defect_sentence("callerless", "static", 0.5, ""),
    ] == [
        "Functions of prog have no names in 50% of the stacks: build it with -g and do not strip it.",
        "Functions of libz.so.1 have no names in 50% of the stacks: install its debug symbols.",
        "Functions of libz.so.1 have no names in 50% of the stacks: install zlib1g-dbgsym.",
        "Code compiled at run time has no names in 50% of the stacks: the runtime writes no map for perf.",
        "Callers of functions of static are not known in 50% of the stacks: link static with -Wl,--eh-frame-hdr.",
    ]  # fmt: skip


def test_the_package_of_a_library_is_asked_of_dpkg(tmp_path, monkeypatch):
    monkeypatch.setenv("PATH", str(tmp_path))
    assert package_of("libz.so.1") == ""
    answers = '"*/libz.so.1") echo "zlib1g:amd64: /usr/lib/libz.so.1";; "*bin/zstd") echo "zstd: /usr/bin/zstd";;'
    write_program(tmp_path / "dpkg-query", f'case "$2" in {answers} *) exit 1;; esac')
    modules = ("libz.so.1", "libno.so", "zstd", "prog", "")
    assert [*map(package_of, modules)] == ["zlib1g", "", "zstd", "", ""]


def test_stacks_of_a_build_lack_nothing():
    """A compiler is not what its user builds: its processes are named by what they compile."""
    recording = Recording()
    recording.stay(1, 0, 10, works="[unknown]")
    trace = recording.parse()
    runs = SimpleNamespace(record=lambda *_: PerfRun(record(), (trace,)))
    explainer = Explainer.__new__(Explainer)
    explainer._read_scores, explainer._units, explainer._knows_kernel = (lambda _: []), (lambda *_: 1.0), False
    for targets, n in (({7: (Frame("part1", "[build]"),)}, 0), ({}, 1)):
        trace.targets, explainer._defects = targets, Counter()
        explainer._recorded_run(runs, _Level({"jobs": 2}), None)
        assert explainer._defects[NAMELESS, "prog"] == n


def test_rust_and_go_are_named_by_their_own_functions():
    lock = "<std::sys::sync::mutex::futex::Mutex>::lock_contended (/bin/prog)"
    cause = wait_cause(stack(*KERNEL_WAIT, lock, "main::insert (/bin/prog)", "main::main (/bin/prog)"))
    assert (cause.kind, cause.stack[0].name) == ("lock", "main::insert")
    core = ["core::hint::black_box (inlined)", "<u64>::wrapping_mul (inlined)", "main::work (/bin/prog)"]
    assert cpu_cause(stack(*core)).stack[0].name == "main::work"
    assert cpu_cause(stack("core::fmt::write (/bin/prog)")).stack[0].name == "core::fmt::write"
    spin = wait_cause(
        stack("do_nanosleep ([kernel.kallsyms])", "runtime.usleep (/bin/prog)", "main.insert (/bin/prog)")
    )
    assert (spin.kind, spin.stack[0].name) == ("sleep", "main.insert")


def test_the_explainer_reports_what_much_of_the_stacks_lack():
    explainer = Explainer.__new__(Explainer)
    explainer._knows_kernel = True
    explainer._defects = Counter({(ALL, ""): 100, (NAMELESS, "prog"): 40, (CALLERLESS, "static"): 9})
    assert [sentence.split(" have")[0] for sentence in explainer._defect_sentences(HERE)] == ["Functions of prog"]
    explainer._knows_kernel = False
    assert next(explainer._defect_sentences(HERE)).startswith("What tasks wait for is not known: run as root")


@pytest.mark.parametrize(("before", "after"), [("KILL", "TERM"), ("INT", "INT"), ("TERM", "TERM")])
def test_a_service_that_is_killed_is_told_to_end_under_a_recording(before, after):
    service = _stop_by_term(Process(("server",), service=Service(stop_signal=before, stop_grace_s=1.0))).service
    assert (service.stop_signal, service.stop_grace_s) == (after, 20.0)
    driver = Process(("driver",))
    assert _stop_by_term(driver) == driver


def test_the_reason_of_a_failed_run_is_reported():
    failed = record(status="failed", reason="copy 0 exited with 3")
    refuses(HostError, "the run has failed: copy 0 exited with 3; try its command by hand", refuse_failed, failed)
    assert refuse_failed(record()).run.status == "ok"


@pytest.mark.parametrize(
    ("wall_s", "n_switches", "expected"),
    [(0.01, 100, (1, 1999, 20)), (1e-6, 0, (1, 1999, 50)), (0.25, 100, (1, 1999, 1)), (60.0, 2_000_000, (331, 50, 1))],
)
def test_short_runs_are_repeated_and_long_ones_sampled_less(wall_s, n_switches, expected):
    runs = PerfRuns.__new__(PerfRuns)
    runs._warmup, runs.is_wide, runs.site = 0, False, HERE
    made = record(wall_s=wall_s)
    short = replace(made, run=replace(made.run, n_switches=n_switches))
    rates = runs.rates(short, 2)
    assert (rates.period, rates.hertz, rates.n_repeats) == expected
    runs.is_wide = True
    assert runs.rates(short, 2).n_repeats == 1
