"""Made-up recordings whose lost CPU time is known by construction."""

from dataclasses import replace

import pytest

from scalograph.profile.cpu_budget import CpuBudget, exclude_others, name_java_locks, split_capacity, sum_budgets
from scalograph.profile.level_losses import LevelRuns, compare_levels, rule_out
from scalograph.profile.perf_trace import COMPILED, Frame, parse_stack
from scalograph.profile.recording import LockWaits
from scalograph.profile.wait_kinds import LossCause, cpu_cause, wait_cause
from scalograph.protocol.explanation import MAX_PARTS
from scalograph.protocol.record import RunFigures
from scalograph.text.explained import cause_text
from tests.kit.perf import BARRIER, CONDITION, DISK, LOCK, MS, Recording, shares


def test_an_idle_cpu_is_charged_to_the_lock_that_its_next_task_waits_for():
    recording = Recording()
    recording.stay(1, 0, 10, LOCK)
    recording.stay(2, 0, 16)
    recording.wake(2, 14, 1)
    recording.stay(1, 16, 20)
    # From 10 to 16 ms the first task waits, woken at 14: without the wait nobody had to be woken. Then only it runs.
    parts = shares(split_capacity(recording.parse(), 2))
    assert parts == {("user", "spin"): 30.0, ("lock", "insert"): 6.0, ("serial", "spin"): 4.0}


def test_the_parts_sum_to_the_capacity():
    recording = Recording()
    for tid in range(1, 5):
        for start in range(0, 100, 10):
            recording.stay(tid, start + tid, start + tid + 4, (LOCK, BARRIER, DISK, ())[tid - 1], preempt=tid == 4)
    trace = recording.parse()
    for n_cpus in (1, 2, 3, 8):
        budget = split_capacity(trace, n_cpus)
        assert sum(budget.parts.values()) == pytest.approx(budget.capacity_s)
        assert budget.capacity_s >= n_cpus * budget.wall_s * (1 - 1e-9)
    assert split_capacity(trace, 8).capacity_s == pytest.approx(8 * (trace.end - trace.start) / 1e9)


def test_more_tasks_than_cpus_named_count_with_the_cpus_they_have():
    recording = Recording()
    recording.stay(1, 0, 10)
    recording.stay(2, 0, 10)
    assert split_capacity(recording.parse(), 1).capacity_s == pytest.approx(0.020)


@pytest.mark.parametrize("stack", [BARRIER, CONDITION])
def test_who_waits_for_a_task_is_charged_to_what_that_task_does(stack):
    recording = Recording()
    recording.stay(1, 0, 2, stack)
    recording.stay(2, 0, 20, works="slow_part")
    recording.wake(2, 20, 1)
    recording.stay(1, 20, 22)
    parts = shares(split_capacity(recording.parse(), 2))
    assert parts["serial", "slow_part"] == 18.0


def test_a_chain_of_waits_ends_at_the_one_that_waits_for_the_disk():
    recording = Recording()
    recording.stay(1, 0, 2, CONDITION)
    recording.stay(2, 0, 2, DISK)
    recording.wake(9, 12, 2, ["blk_mq_complete ([kernel.kallsyms])", "irq_exit ([kernel.kallsyms])"])
    recording.stay(2, 12, 13)
    recording.wake(2, 12.5, 1)
    recording.stay(1, 13, 15)
    parts = shares(split_capacity(recording.parse(), 2))
    assert parts["disk", "insert"] == 20.0


def test_a_task_that_nobody_wakes_again_is_charged_nothing():
    recording = Recording()
    recording.stay(3, 0, 1, CONDITION)  # a parked service thread
    recording.stay(1, 1, 10, LOCK)
    recording.stay(2, 1, 16)
    recording.wake(2, 16, 1)
    recording.stay(1, 16, 20)
    parts = shares(split_capacity(recording.parse(), 2))
    assert parts["lock", "insert"] == 6.0
    assert not any(kind == "condition" for kind, _ in parts)


def test_who_gave_way_to_its_own_is_behind_them_and_to_others_is_excluded():
    recording = Recording()
    recording.stay(1, 0, 10, preempt=True, cpu=1)
    recording.stay(2, 0, 20)
    recording.stay(1, 14, 16, preempt=True, cpu=1)  # until then another program had this CPU
    recording.stay(1, 18, 20)  # until then the second task had the CPU that this one has next
    budget = split_capacity(recording.parse(), 2)
    assert shares(budget) == {("user", "spin"): 34.0, ("others", ""): 4.0, ("ready", ""): 2.0}
    left = exclude_others(budget, RunFigures(status="ok", throttled_ns=MS // 4), 3 * MS // 4)
    kinds = {cause.kind: round(1000 * seconds, 2) for cause, seconds in left.parts.items()}
    assert (kinds["quota"], kinds["ready"], round(left.others_s, 6)) == (1.0, 2.0, 0.003)
    assert sum(left.parts.values()) == pytest.approx(left.capacity_s) == pytest.approx(budget.capacity_s - 0.003)


def test_who_is_woken_late_waits_for_others():
    recording = Recording()
    recording.stay(1, 0, 10, LOCK, cpu=1)
    recording.stay(2, 0, 20)
    recording.wake(2, 14, 1)
    recording.stay(1, 17, 20, cpu=1)
    assert shares(split_capacity(recording.parse(), 2))["others", ""] == 3.0


def test_a_thread_that_a_timer_wakes_for_a_moment_lacks_no_work():
    recording = Recording()
    for ms in range(0, 100, 10):  # a watcher, which looks for a moment every 10 ms
        recording.stay(3, ms, ms + 0.01, CONDITION)
        recording.wake(9, ms + 9.99, 3, ["hrtimer_wakeup ([kernel.kallsyms])"])
    recording.stay(1, 0, 100)
    recording.stay(2, 0, 10, LOCK)
    recording.wake(1, 90, 2)
    recording.stay(2, 90, 100)
    parts = shares(split_capacity(recording.parse(), 2))
    assert parts["lock", "insert"] == pytest.approx(80, abs=0.5)
    assert not any(kind == "condition" for kind, _ in parts)


def test_departures_without_a_stack_wait_for_what_the_others_wait_for():
    recording = Recording()
    for number in range(4):
        recording.stay(1, 10 * number, 10 * number + 5, LOCK if number % 2 else ())
        recording.stay(2, 10 * number, 10 * number + 10)
    recording.stay(1, 40, 45)
    recording.stay(2, 40, 45)
    parts = shares(split_capacity(recording.parse(), 2))
    assert parts["lock", "insert"] == 20.0


def test_page_faults_on_a_cpu_are_no_wait_that_departures_without_a_stack_share():
    recording = Recording()
    fault = ["clear_page ([kernel.kallsyms])", "exc_page_fault ([kernel.kallsyms])", "walk (/bin/prog)"]
    for start, stack in ((0, ()), (20, LOCK), (40, ())):
        recording.stay(1, start, start + 10, stack)
        recording.add(1, start + 4, "cpu-clock/freq=99/: ", fault)
    recording.stay(2, 0, 50)
    parts = shares(split_capacity(recording.parse(), 2))
    assert (parts["lock", "insert"], parts["page-fault", "walk"]) == (20.0, 34.29)  # three of seven samples of 80 ms


def test_a_recording_of_the_machine_holds_the_run_and_what_it_started_within_its_window():
    recording = Recording()
    recording.add(5, 0, "PERF_RECORD_FORK(8:20):(7:5)")
    recording.stay(5, 0.5, 10)
    # Of all CPUs a switch has another name.
    recording.add(20, 2, "PERF_RECORD_SWITCH_CPU_WIDE IN           prev pid/tid:     7/5")
    recording.add(20, 8, "PERF_RECORD_SWITCH_CPU_WIDE OUT preempt  next pid/tid:     9/9")
    recording.lines.append((3 * MS, [" 9/9 [001] 0.003000000: PERF_RECORD_SWITCH IN", ""]))
    trace = recording.parse()
    assert sorted(trace.tasks) == [5, 9, 20]
    ours = trace.cut({7: "app"}, 1 * MS, 6 * MS)
    assert {task.service for task in ours.tasks.values()} == {"app"}
    assert {tid: [(stay.start, stay.end) for stay in task.stays] for tid, task in ours.tasks.items()} == {
        5: [(1 * MS, 6 * MS)], 20: [(2 * MS, 6 * MS)],
    }  # fmt: skip
    assert (ours.start, ours.end) == (1 * MS, 6 * MS)


def test_methods_of_runtimes_are_named_as_their_source_names_them():
    lines = [
        "\t9f void app.Table.insert(long, int) (/tmp/perf-7.map)",
        "\ta0 py::work:/home/me/prog.py (/tmp/perf-7.map)",
    ]
    assert parse_stack(lines) == (Frame("app.Table.insert", "[compiled]"), Frame("work", "[compiled]"))


def test_frames_of_another_width_and_names_of_versions():
    stack = parse_stack(
        ["\t9f spin (inlined)", "\t9f work.constprop.0 (/bin/prog)", "\ta0 pthread_cond_wait@@G_2.3 (/lib/libc.so.6)"]
    )
    assert stack == (Frame("spin", "prog"), Frame("work", "prog"), Frame("pthread_cond_wait", "libc.so.6"))


@pytest.mark.parametrize(
    ("frames", "kind", "function"),
    [
        (["do_nanosleep [k]", "clock_nanosleep libc.so.6", "napper prog"], "sleep", "napper"),
        (["futex_wait [k]", "pthread_cond_timedwait libc.so.6", "take_gil python3", "eval python3"], "gil", ""),
        (["futex_wait [k]", "take_gil python3", "py::work:/p.py [compiled]"], "gil", "py::work:/p.py"),
        (["anon_pipe_read [k]", "read libc.so.6", "reader prog"], "pipe", "reader"),
        (["unix_stream_recvmsg [k]", "recv libc.so.6", "ask prog"], "network", "ask"),
        (["ep_poll [k]", "epoll_wait libc.so.6", "loop prog"], "events", "loop"),
        (["folio_wait_bit [k]", "exc_page_fault [k]", "walk prog"], "disk", "walk"),
        (["rwsem_down_read_slowpath [k]", "exc_page_fault [k]", "walk prog"], "page-fault", "walk"),
        (["exit_to_user_mode_loop [k]", "spin prog"], "ready", "spin"),
        (["wait_for_completion [k]", "__set_cpus_allowed_ptr_locked [k]", "pin prog"], "ready", "pin"),
        (["futex_wait [k]", "pthread_barrier_wait libc.so.6", "step prog"], "barrier", "step"),
        (["futex_wait [k]", "__pthread_clockjoin_ex libc.so.6", "main prog"], "join", "main"),
        (
            [
                "futex_wait [k]",
                "os::PlatformEvent::park libjvm.so",
                "ObjectMonitor::enter libjvm.so",
                "T.put perf-7.map",
            ],
            "lock",
            "T.put",
        ),
        (["do_wait [k]", "wait4 libc.so.6", "main prog"], "child", "main"),
        (["futex_wait [k]", "VMThread::execute libjvm.so", "T.add [compiled]"], "gc", "T.add"),
        (["futex_wait [k]", "Monitor::wait libjvm.so", "VMThread::run libjvm.so"], "condition", ""),
        (["futex_wait [k]", "Semaphore::wait libjvm.so", "GangWorker::run libjvm.so"], "condition", ""),
    ],
)
def test_a_stack_says_what_is_waited_for(frames, kind, function):
    stack = tuple(Frame(name, "[kernel]" if module == "[k]" else module) for name, module in map(str.split, frames))
    cause = wait_cause(stack)
    assert (cause.kind, cause.stack[0].name if cause.stack else "") == (kind, function)


def test_cpu_time_belongs_to_a_function_a_system_call_or_a_page_fault():
    assert cpu_cause((Frame("spin", "prog"),)).kind == "user"
    fault = cpu_cause((Frame("clear_page", "[kernel]"), Frame("exc_page_fault", "[kernel]"), Frame("walk", "prog")))
    assert (fault.kind, fault.stack[0].name) == ("page-fault", "walk")


def level(n_cpus, *runs):
    """Runs of a level: seconds by cause."""
    budgets = [
        budget_of({LossCause(kind, (Frame(name, "prog"),)): s for (kind, name), s in run.items()}) for run in runs
    ]
    return LevelRuns(n_cpus, budgets, [1.0] * len(budgets))


def budget_of(parts):
    return CpuBudget(sum(parts.values()), sum(parts.values()), parts)


def test_shares_of_the_loss_sum_to_one_and_hold_their_truth():
    before = level(1, *({("user", "spin"): 1.0 + e} for e in (0.0, 0.01, -0.01)))
    after = level(
        2,
        *(
            {("user", "spin"): 1.1 + e, ("lock", "insert"): 0.6, ("serial", "parse"): 0.3 - e}
            for e in (0.0, 0.01, -0.01)
        ),
    )
    losses = compare_levels(before, after, 0.95)
    assert [(part.kind, part.what, round(part.share.value, 3)) for part in losses.parts] == [
        ("lock", "insert", 0.6), ("serial", "parse", 0.3), ("inflation", "spin", 0.1),
    ]  # fmt: skip
    assert sum(part.share.value for part in losses.parts) + losses.unexplained.value == pytest.approx(1.0)
    assert all(part.share.low <= part.share.value <= part.share.high for part in losses.parts)
    assert losses.lost_cpus.value == pytest.approx(1.0)
    assert rule_out(losses.parts) == ("quota", "disk", "page-fault")


def test_more_causes_than_a_document_holds_sum_to_the_loss_all_the_same():
    causes = [LossCause("user", (Frame(f"f{i}", "prog"),)) for i in range(101)]
    budgets = [CpuBudget(101 * each_s, 1.0, dict.fromkeys(causes, each_s)) for each_s in (0.05, 0.1)]
    losses = compare_levels(*(LevelRuns(1, [budget], [1.0]) for budget in budgets), 0.95)
    assert len(losses.parts) == MAX_PARTS
    assert losses.parts[-1].kind == "smaller"
    assert sum(part.share.value for part in losses.parts) == pytest.approx(1.0)


def test_one_run_of_a_level_has_no_interval():
    losses = compare_levels(level(1, {("user", "a"): 1.0}), level(2, {("user", "a"): 1.0, ("lock", "b"): 1.0}), 0.95)
    assert (losses.parts[0].share.value, losses.parts[0].share.low) == (1.0, None)


JOIN = [*LOCK[:2], "__pthread_clockjoin_ex (/lib/libc.so.6)"]


def test_waiting_for_a_task_that_others_keep_from_its_cpu_is_excluded():
    recording = Recording()
    recording.stay(1, 0, 10, BARRIER)
    recording.stay(2, 0, 20, preempt=True, cpu=1)
    recording.stay(2, 50, 60, cpu=1)
    recording.wake(2, 59, 1)
    recording.stay(1, 60, 62)
    # From 20 to 50 ms neither runs: the second is ready, and no task of the run has its CPU.
    budget = exclude_others(split_capacity(recording.parse(), 2), RunFigures(status="ok"))
    assert budget.others_s == pytest.approx(0.060, abs=0.0011)
    assert ("ready", "") not in shares(budget)


def test_a_join_ends_with_the_task_that_ended_last():
    recording = Recording()
    recording.stay(1, 0, 1, JOIN)
    recording.stay(2, 0, 20, DISK, cpu=1)
    recording.stay(2, 50, 60, cpu=1)
    recording.add(2, 60, "PERF_RECORD_EXIT(7:2):(7:1)")
    recording.stay(1, 60.1, 60.2)
    recording.add(1, 60.2, "PERF_RECORD_EXIT(7:1):(7:1)")
    parts = shares(split_capacity(recording.parse(), 2))
    assert parts["disk", "insert"] == pytest.approx(60, abs=0.2)
    assert not any(kind == "join" for kind, _ in parts)


def test_work_that_moves_to_another_function_is_no_loss():
    def level(n_cpus, **seconds):
        parts = {LossCause("user", (Frame(name, "prog"),)): s for name, s in seconds.items()}
        parts[LossCause("lock", (Frame("insert", "prog"),))] = n_cpus - 1.0
        return LevelRuns(n_cpus, [CpuBudget(sum(parts.values()), 1.0, parts)] * 2, [1.0, 1.0])

    losses = compare_levels(level(1, alone=1.0), level(2, alone=0.2, shared=0.9), 0.95)
    shares_of = {part.what: part.share.value for part in losses.parts}
    assert shares_of == {"insert": pytest.approx(1 / 1.1), "shared": pytest.approx(0.1 / 1.1)}


def test_who_waits_for_a_task_that_others_keep_from_its_cpu_is_excluded_though_nobody_saw_the_wake_up():
    recording = Recording()
    recording.stay(1, 0, 10, preempt=True)
    recording.stay(2, 0, 10, CONDITION, cpu=1)
    recording.stay(1, 20, 30)
    recording.stay(2, 21, 30, cpu=1)
    parts = shares(split_capacity(recording.parse(), 2))
    assert parts == {("user", "spin"): 39.0, ("others", ""): 20.0, ("serial", "spin"): 1.0}


def test_a_service_that_others_keep_from_its_cpu_is_excluded():
    recording = Recording()
    read = ["unix_stream_read_generic ([kernel.kallsyms])"]
    recording.stay(1, 0, 10, read)
    recording.stay(2, 0, 5, read, cpu=1)
    recording.wake(1, 9.9, 2)
    recording.stay(2, 40, 50, cpu=1)
    recording.wake(2, 49, 1)
    recording.stay(1, 50, 52)
    # The service was woken at 9.9 ms, has its CPU at 40 ms, and each waits for the other by what they wait in.
    budget = exclude_others(split_capacity(recording.parse(), 2), RunFigures(status="ok"))
    assert budget.others_s == pytest.approx(0.060, abs=0.002)


def test_while_nobody_runs_all_cpus_are_idle_for_what_the_only_task_waits_for():
    recording = Recording()
    recording.stay(1, 10, 20, DISK)
    recording.stay(1, 50, 60)
    assert shares(split_capacity(recording.parse(), 2)) == {
        ("user", "spin"): 20.0, ("serial", "spin"): 20.0, ("disk", "insert"): 60.0,
    }  # fmt: skip


@pytest.mark.parametrize(("busy_ms", "ready_ms"), [(40, 20), (55, 5), (90, None)])
def test_tasks_behind_each_other_are_no_loss_while_other_programs_have_the_other_cpu(busy_ms, ready_ms):
    recording = Recording()
    recording.stay(1, 10, 30)
    recording.stay(2, 10, 10.5, preempt=True)
    recording.stay(2, 30, 50)
    run = RunFigures(status="ok", machine_busy_ns=busy_ms * MS, cpu_ns=40 * MS)
    budget = exclude_others(split_capacity(recording.parse(), 2), run)
    assert shares(budget).get(("ready", "")) == (ready_ms and pytest.approx(ready_ms, abs=1))
    assert sum(budget.parts.values()) == pytest.approx(budget.capacity_s)


def test_waits_of_a_jvm_for_locks_have_the_sites_that_its_recorder_saw():
    frames = [
        "1 futex_wait ([kernel.kallsyms])",
        "2 ObjectMonitor::enter (/jdk/libjvm.so)",
        "3 [unknown] (/tmp/perf-7.map)",
    ]
    cause = wait_cause(parse_stack(f"  {line}" for line in frames))
    assert cause == LossCause("lock", (), "libjvm.so")
    native = LossCause("lock", (Frame("insert", "prog"),))
    budget = CpuBudget(5.0, 5.0, {cause: 4.0, native: 1.0})
    named = name_java_locks(budget, LockWaits(monitors={("Table", "Table.insert"): 3.0, ("Object", ""): 1.0}))
    assert {(c.on, c.stack[0].name if c.stack else ""): s for c, s in named.parts.items()} == {
        ("Table", "Table.insert"): 3.0, ("Object", ""): 1.0, ("", "insert"): 1.0
    }  # fmt: skip
    assert name_java_locks(budget, LockWaits(other_s=1.0)).parts == budget.parts
    level = [LevelRuns(n, [each], [1.0]) for n, each in ((1, replace(named, parts={}, capacity_s=1.0)), (2, named))]
    part = compare_levels(*level, 0.95).parts[0]
    assert (part.what, part.on) == ("Table.insert", "Table")
    assert cause_text(part) == "waiting for a lock of Table in Table.insert"


PARK = [
    *LOCK[:2],
    "pthread_cond_wait (/lib/libc.so.6)",
    "Parker::park (/jdk/libjvm.so)",
    "Unsafe_Park (/jdk/libjvm.so)",
]


def test_a_thread_of_java_is_parked_for_a_lock_as_often_as_its_recorder_saw():
    recording = Recording()
    recording.add(1, 1.9, "context-switches/period=1/: ", [*PARK, "[unknown] (/tmp/perf-7.map)"])
    recording.stay(1, 0, 2)
    recording.stay(2, 0, 20, works="put", cpu=1)
    recording.wake(2, 20, 1)
    recording.stay(1, 20, 22)
    budget = split_capacity(recording.parse(), 2)
    (parked,) = (cause for cause in budget.parts if cause.on)
    assert (parked.kind, parked.stack[0].name, round(budget.parts[parked], 3)) == ("serial", "put", 0.018)
    named = name_java_locks(budget, LockWaits(parked={("Semaphore", "Table.take"): 3.0}, other_s=1.0))
    assert sum(named.parts.values()) == pytest.approx(sum(budget.parts.values()))
    lock = LossCause("lock", (Frame("Table.take", COMPILED),), "Semaphore")
    assert named.parts[lock] == pytest.approx(0.75 * 0.018)
    assert {cause.on for cause in named.parts} == {"", "Semaphore"}
    assert shares(name_java_locks(budget, LockWaits()))["serial", "put"] == shares(budget)["serial", "put"]


def test_runs_under_one_recording_are_averaged():
    work, wait = LossCause("user", ()), LossCause("disk", ())
    runs = [
        CpuBudget(2.0, 1.0, {work: 2.0}, 1, busiest_s=(1.5, 0.5)),
        CpuBudget(4.0, 3.0, {work: 1.0, wait: 3.0}, busiest_s=(1.0,)),
    ]
    mean = sum_budgets(runs).divide(2)
    assert mean == CpuBudget(3.0, 2.0, {work: 1.5, wait: 1.5}, 1, busiest_s=(1.25, 0.25))
