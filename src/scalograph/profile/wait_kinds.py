"""Say what a stack means: what a task waits for, or which function its CPU time belongs to."""

import re
from collections import Counter
from collections.abc import Iterable
from itertools import dropwhile
from typing import NamedTuple

from scalograph.profile.perf_trace import COMPILED, KERNEL, UNKNOWN, Frame, Frames

# Kinds of lost CPU time, as `explanation.json` names them.
LOCK, CONDITION, BARRIER, JOIN = "lock", "condition", "barrier", "join"
GIL, GC, SLEEP, DISK, NETWORK, PIPE, CHILD, EVENTS = "gil", "gc", "sleep", "disk", "network", "pipe", "child", "events"
FAULT, QUEUE, SERIAL, USER, SYSTEM, UNEXPLAINED = "page-fault", "ready", "serial", "user", "kernel", "unexplained"
QUOTA, OTHERS, BUILD = "quota", "others", "build"
SMALLER = "smaller"  # causes that a document has no room for, together
ALONE = (SERIAL, BUILD)  # what runs while others have no work
JVM = "libjvm.so"


class LossCause(NamedTuple):
    """A kind of lost time, and the stack of where: from the function that names it outward.

    Attributes:
        on: the class of a lock; `JVM` where a JVM waits for one that perf does not see, or what ends a park follows.
        service: the process of the study that it is in; `waiter` is the one that waits for this one.
    """

    kind: str
    stack: Frames = ()
    on: str = ""
    service: str = ""
    waiter: str = ""


# The first pattern that a frame has decides; what a task waits for inside the kernel comes before who called it.
_IN_KERNEL = (
    (DISK, r"io_schedule|folio_wait|wait_on_page|wait_on_buffer|submit_bio_wait|blk_|jbd2_|wb_wait|fsync|fdatasync"),
    (FAULT, r"exc_page_fault|handle_mm_fault|do_user_addr_fault|faultin_page"),
    (SLEEP, r"do_nanosleep|hrtimer_nanosleep|clock_nanosleep|do_sigtimedwait"),
    (PIPE, r"(anon_)?pipe_(read|write)|fifo_open|wait_for_partner|splice_"),
    (NETWORK, r"sk_wait|sk_stream_wait|inet_|tcp_|udp_|unix_(stream|dgram)|skb_wait_for|__skb_|vsock"),
    (EVENTS, r"ep_poll|do_epoll|do_poll|do_sys_poll|do_select|core_sys_select|io_cqring_wait|eventfd_read"),
    (CHILD, r"do_wait$|kernel_wait4|kernel_waitid|do_wait_pid"),
    (LOCK, r"rwsem_down|down_read|down_write|__mutex_lock|flock_lock|posix_lock|do_semtimedop"),
    (FAULT, r"reclaim|balance_dirty|mem_cgroup"),
)  # fmt: skip
_IN_PROGRAM = (
    (GIL, r"take_gil|PyEval_(Acquire|Restore)Thread|_PyThreadState_Attach|drop_gil"),
    (LOCK, r"ObjectMonitor::(Re)?[Ee]nter|ObjectSynchronizer::enter"),
    (GC, r"GCTask|GangWorker|WorkerThread::run|VMThread::|ConcurrentGCThread|VM_G1|SafepointSynchronize|gcBgMark|"
         r"GC_(wait|lock)|[gs]topTheWorld"),
    (BARRIER, r"pthread_barrier_wait|gomp_.*barrier|kmp_.*barrier|MPI_Barrier"),
    (JOIN, r"pthread_(clock|timed|try)?join|pthread_timedjoin|thread::join|JoinHandle"),
    (CONDITION, r"pthread_cond_(timed|clock)?wait|condition_variable|park|sem_(timed|clock)?wait|new_sem_wait|"
                r"gomp_sem_wait|gomp_team_end|notesleep|semasleep"),
    (LOCK, r"pthread_(mutex|rwlock|spin)_|lll_(mutex_)?lock|ObjectMonitor|Mutex::lock|mutex_lock|runtime\.lock|"
           r"std::mutex|sys::.*mutex|LWLockAcquire|ProcSleep"),
)  # fmt: skip
_PARKS = re.compile(r"Parker::park|Unsafe_Park")  # what java.util.concurrent waits by, for locks and all else
# Who asks for another CPU is ready for it.
_YIELD = r"do_sched_yield|__x64_sys_sched_yield|affine_move_task|set_cpus_allowed_ptr"
_PATTERNS = {
    KERNEL: [(kind, re.compile(f"(?:{pattern})")) for kind, pattern in _IN_KERNEL],
    "": [(kind, re.compile(f"^_*(?:GI_)?.*(?:{pattern})")) for kind, pattern in _IN_PROGRAM],
}
# What a thread of a runtime has on its stack during a collection, or who waits for one.
_COLLECTS = re.compile(
    r"VM_\w*(G1|GC|Collect|Alloc)|VMThread::(execute|wait_until)|SafepointSynchronize|evaluate|doit|offer_termination|"
    r"Task\w*::|::work|gcBgMark|GC_(wait|lock)|[gs]topTheWorld"
)
_YIELDED = re.compile(_YIELD)
# Functions of libraries that say how is waited or started, never where.
_LIBRARY = re.compile(
    r"(lib(c|pthread|gomp|omp|iomp5|stdc\+\+|m|rt|jemalloc|tcmalloc|jvm|jli)[-.][\w.+-]*|ld-linux.*|linux-vdso.*|\[vdso\])$"
)
_PLUMBING = re.compile(
    r"^_*(pthread_|lll_|futex|GOMP_|gomp_|kmp|omp_|std::|__gthread|gthread|new_sem|sem_|clone|start_thread|libc_start|"
    r"start$|main$|call_tls|tsan|Interpreter$|.* stub$|_?complete_monitor|StubRoutines|"
    r".*LockSupport\.(un)?park|.*misc\.Unsafe\.(un)?park|.*\.AbstractQueued|runtime\.)"
)
# Of the standard library of Rust, which is compiled into the functions that call it.
_RUST = re.compile(r"<?(std|core|alloc|parking_lot\w*)::|<[^>]* as (std|core|alloc)::|<[uif](\d+|size)>::")


def wait_cause(stack: Frames) -> LossCause:
    """Return what a task waits for that left its CPU at this stack; `QUEUE` where it only gave way.

    >>> stack = (Frame("futex_wait", KERNEL), Frame("pthread_mutex_lock", "libc.so.6"), Frame("insert", "prog"))
    >>> wait_cause(stack)[:2]
    ('lock', (Frame(name='insert', module='prog'),))
    """
    inside = [frame.name for frame in stack if frame.module == KERNEL]
    outside = tuple(frame for frame in stack if frame.module != KERNEL)
    if any(_YIELDED.search(name) for name in inside) or _was_preempted(inside):
        return LossCause(QUEUE, own_frames(outside))
    is_futex = any(name.startswith(("futex", "do_futex", "__futex")) for name in inside)
    kind = None if is_futex else _match(inside, KERNEL)
    if is_futex or kind is None:
        kind = _match([frame.name for frame in outside], "") or kind
    if kind == GC and not is_collecting(outside):
        kind = CONDITION  # of a thread of the runtime: somebody else gives it work
    if kind == GIL:  # the interpreter's own functions say nothing more
        outside = tuple(frame for frame in outside if frame.module == COMPILED)
    own = own_frames(outside)
    runtime = [frame.name for frame in outside if frame.module == JVM] if not own else []
    is_java = bool(runtime) if kind == LOCK else kind == CONDITION and any(map(_PARKS.search, runtime))
    return LossCause(kind or (CONDITION if is_futex else UNEXPLAINED), own, JVM if is_java else "")


def is_collecting(stack: Frames) -> bool:
    """Return whether a thread collects garbage for a runtime, or waits for who does."""
    names = [frame.name for frame in stack if frame.module != KERNEL]
    return _match(names, "") == GC and any(_COLLECTS.search(name) for name in names)


def _match(names: list[str], where: str) -> str | None:
    # Kinds in order, not frames: a lock in a barrier is a barrier.
    return next((kind for kind, pattern in _PATTERNS[where] if any(pattern.search(name) for name in names)), None)


def _was_preempted(inside: list[str]) -> bool:
    return any(name.startswith(("exit_to_user_mode", "irqentry_exit", "preempt_schedule")) for name in inside[:4])


def own_frames(outside: Frames) -> Frames:
    """Return the frames from the innermost function of the program itself outward, without those that start a thread.

    >>> own_frames((Frame("pthread_mutex_lock", "libc.so.6"), Frame("insert", "prog"), Frame("main", "prog")))
    (Frame(name='insert', module='prog'), Frame(name='main', module='prog'))
    """
    first = next((i for i, frame in enumerate(outside) if is_own(frame)), None)
    return tuple(frame for frame in outside[first:] if frame.name != UNKNOWN) if first is not None else ()


def is_own(frame: Frame) -> bool:
    """Return whether a function is the program's own, as far as its name and file say."""
    is_plumbing = (_PLUMBING.match(frame.name) and frame.name != "main") or _RUST.match(frame.name)
    # perf names no file for some functions of libraries.
    return not (not frame.module or _LIBRARY.fullmatch(frame.module) or is_plumbing or frame.name == UNKNOWN)


_NO_FILES = ("[heap]", "[stack]", "[anon]", "anon")  # where an unwinder errs, and nobody builds anything
NAMELESS, CALLERLESS, ALL = "nameless", "callerless", "all"


def count_defects(stacks: Iterable[Frames]) -> Counter[tuple[str, str]]:
    """Count stacks by what they lack, and by module; all of them as `ALL`.

    `NAMELESS`: the first function outside libraries of waiting has no name. `CALLERLESS`: nobody calls it, as in a
    static program without tables for unwinding.
    """
    counts = Counter[tuple[str, str]]()
    for stack in stacks:
        counts[ALL, ""] += 1
        outside = [frame for frame in stack if frame.module != KERNEL]
        first = next((frame for frame in outside if not _LIBRARY.fullmatch(frame.module)), None)
        if first is not None and first.name == UNKNOWN and first.module not in _NO_FILES:
            counts[NAMELESS, first.module] += 1
        elif first is not None and len(outside) == 1 and first.module != COMPILED:
            counts[CALLERLESS, first.module] += first.name not in ("main", "_start")
    return counts


_ENTRY = re.compile(r"__(?:x64|arm64|se|ia32)_sys_(\w+)")
_FAULTS = re.compile(r"exc_page_fault|do_page_fault|do_mem_abort|el0_da")
_INTERRUPTS = re.compile(r"sysvec_|common_interrupt|do_softirq|irq_exit|el1?_irq|handle_irq")


def cpu_cause(stack: Frames) -> LossCause:
    """Return which function CPU time belongs to: one of the program, or what it asked of the kernel.

    >>> cpu_cause((Frame("futex_wake", KERNEL), Frame("__x64_sys_futex", KERNEL), Frame("insert", "prog"))).stack
    (Frame(name='futex', module='[kernel]'), Frame(name='insert', module='prog'))
    """
    outside = tuple(frame for frame in stack if frame.module != KERNEL)
    if not stack or stack[0].module != KERNEL:
        own = tuple(dropwhile(lambda frame: _RUST.match(frame.name), outside))
        return LossCause(USER, own or outside)
    inside = [frame.name for frame in stack if frame.module == KERNEL]
    if any(_FAULTS.search(name) for name in inside):
        return LossCause(FAULT, own_frames(outside))
    entry = next((match[1] for name in inside if (match := _ENTRY.search(name))), None)
    if entry is None and any(name.startswith(("entry_", "do_syscall", "syscall_")) for name in inside):
        entry = "system calls"
    if entry is None:
        entry = "interrupts" if any(_INTERRUPTS.search(name) for name in inside) else inside[-1]
    return LossCause(SYSTEM, (Frame(entry, KERNEL), *own_frames(outside)))
