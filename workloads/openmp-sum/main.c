/* One task of fixed size, plain or as an OpenMP loop, again and again in one process (README.md). */
#include "arguments.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

struct iteration {
    int64_t start, end, cpu;
    struct sum sum;
};

/* Written before the end of an iteration is: no compiler may move the work behind it. */
static volatile struct sum outcome;
/* An OpenMP runtime that cannot make a thread ends the process itself, with a code of its own. */
static int by_the_runtime = 1;

static void fail(int code, const char *where, const char *what)
{
    by_the_runtime = 0;
    fprintf(stderr, "%s: %s\n", where, what);
    exit(code);
}

static void at_the_end(void)
{
    if (by_the_runtime)
        _exit(UNAVAILABLE);
}

/* The runtime has read its environment before main begins: to set it, the program must start anew. */
static void wait_as_asked(const struct arguments *a, char **argv)
{
    const char *wanted = a->active ? "ACTIVE" : "PASSIVE", *found = getenv("OMP_WAIT_POLICY");
    if (found && !strcmp(found, wanted) && !getenv("GOMP_SPINCOUNT") && !getenv("KMP_BLOCKTIME"))
        return;
    unsetenv("GOMP_SPINCOUNT");
    unsetenv("KMP_BLOCKTIME");
    if (setenv("OMP_WAIT_POLICY", wanted, 1) == 0)
        execv("/proc/self/exe", argv);
    fail(UNAVAILABLE, "wait", strerror(errno));
}

static int64_t now_ns(clockid_t clock)
{
    struct timespec now;
    clock_gettime(clock, &now);
    return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

static FILE *events(void)
{
    const char *path = getenv("SCALOGRAPH_EVENTS");
    int descriptor = path ? open(path, O_WRONLY | O_CLOEXEC) : -1;
    FILE *out = path ? (descriptor < 0 ? NULL : fdopen(descriptor, "w")) : stdout;
    if (out == NULL)
        fail(UNAVAILABLE, path, strerror(errno));
    return out;
}

static void ready(FILE *out)
{
    const char *path = getenv("SCALOGRAPH_GO");
    char byte;
    fputs("ready\n", out);
    fflush(out);
    int go = path ? open(path, O_RDONLY | O_CLOEXEC) : -1;
    if (go >= 0) {
        if (read(go, &byte, 1) < 0)
            fail(UNAVAILABLE, path, strerror(errno));
        close(go);
    }
}

static struct iteration iterate(const struct arguments *a)
{
    struct iteration made;
    int64_t cpu = now_ns(CLOCK_PROCESS_CPUTIME_ID);
    made.start = now_ns(CLOCK_MONOTONIC);
    made.sum = a->parallel ? parallel(&a->task) : sequential(&a->task);
    outcome.total = made.sum.total;
    outcome.done = made.sum.done;
    made.end = now_ns(CLOCK_MONOTONIC);
    made.cpu = now_ns(CLOCK_PROCESS_CPUTIME_ID) - cpu;
    return made;
}

static void tell(FILE *out, uint64_t i, const struct iteration *made, uint64_t right)
{
    if (made->sum.total != right)
        fail(WRONG, "sum", "elements were lost, or taken twice");
    fprintf(out, "iteration %" PRIu64 " %" PRId64 " %" PRId64 " %" PRIu64 " %" PRId64 "\n", i, made->start, made->end,
            made->sum.done, made->cpu);
}

static void prepare(const struct arguments *a)
{
    if (a->parallel && threads_given(a->task.threads) != a->task.threads)
        fail(UNAVAILABLE, "threads", "the OpenMP runtime gives fewer than were asked for; see OMP_THREAD_LIMIT");
    for (uint64_t i = 0; i < a->prerun; i++)
        iterate(a);
}

int main(int argc, char **argv)
{
    struct arguments a = {{4096, 10, 2}, 0, 0, 1, 0, 10};
    for (int i = 1; i < argc; i++)
        parse(&a, argv[i]);
    wait_as_asked(&a, argv);
    atexit(at_the_end);
    struct iteration *made = calloc(a.iterations, sizeof *made);
    if (made == NULL)
        fail(UNAVAILABLE, "iterations", strerror(errno));
    prepare(&a);
    const uint64_t right = expected(&a.task);
    const struct timespec think = {(time_t)(a.think_ns / 1000000000), (long)(a.think_ns % 1000000000)};
    FILE *out = events();
    ready(out);
    for (uint64_t i = 0; i < a.iterations; i++) {
        if (i > 0)
            nanosleep(&think, NULL);
        made[i] = iterate(&a);
    }
    for (uint64_t i = 0; i < a.iterations; i++)
        tell(out, i, &made[i], right);
    fprintf(out, "value checksum %" PRIu64 "\n", right & ((UINT64_C(1) << 48) - 1));
    by_the_runtime = 0;
    return fclose(out) == 0 ? DONE : UNAVAILABLE;
}
