/* The same work in every run: one thread for each CPU in the mask, arithmetic only (README.md). */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { DONE = 0, USAGE = 64, UNAVAILABLE = 69, MAX_ITERATIONS = 10000, MOST_CPUS = 1 << 20 };

struct worker {
    pthread_t thread;
    uint64_t units;
    uint64_t state;
    int64_t cpu_ns;
};

struct arguments {
    uint64_t units, iterations;
};

static void fail(int code, const char *where, const char *what)
{
    fprintf(stderr, "%s: %s\n", where, what);
    exit(code);
}

static int64_t clock_ns(clockid_t clock)
{
    struct timespec now;
    clock_gettime(clock, &now);
    return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

static uint64_t number(const char *text, uint64_t high)
{
    char *end;
    errno = 0;
    uint64_t value = strtoull(text, &end, 10);
    if (errno || *end || end == text || *text == '-' || value < 1 || value > high)
        fail(USAGE, text, "found no such number, expected an integer of 1 or more");
    return value;
}

static void parse(struct arguments *a, const char *word)
{
    if (!strcmp(word, "label=A") || !strcmp(word, "label=B"))
        return; /* a name for the run: the work must not know it */
    if (!strncmp(word, "units=", 6))
        a->units = number(word + 6, UINT64_C(1) << 50);
    else if (!strncmp(word, "iterations=", 11))
        a->iterations = number(word + 11, MAX_ITERATIONS);
    else
        fail(USAGE, word, "expected label=A|B, units= or iterations=");
}

/* The mask may be larger than cpu_set_t on a very large machine; then the kernel says EINVAL. */
static unsigned cpus_of_mask(void)
{
    for (size_t n = CPU_SETSIZE; n <= MOST_CPUS; n *= 2) {
        cpu_set_t *set = CPU_ALLOC(n);
        size_t size = CPU_ALLOC_SIZE(n);
        if (set == NULL)
            break;
        int count = sched_getaffinity(0, size, set) == 0 ? CPU_COUNT_S(size, set) : 0;
        CPU_FREE(set);
        if (count > 0)
            return (unsigned)count;
    }
    fail(UNAVAILABLE, "CPU mask", "cannot be read");
    return 0;
}

/* Each step needs the one before; the state is kept, so that nothing can be left out. */
static void *burn(void *argument)
{
    struct worker *worker = argument;
    int64_t before = clock_ns(CLOCK_THREAD_CPUTIME_ID);
    uint64_t x = worker->state;
    for (uint64_t i = 0; i < worker->units; i++) {
        x ^= x << 13;
        x ^= x >> 7;
        x ^= x << 17;
    }
    worker->state = x;
    worker->cpu_ns = clock_ns(CLOCK_THREAD_CPUTIME_ID) - before;
    return NULL;
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

static void iterate(struct worker *workers, unsigned n, uint64_t units, FILE *out, uint64_t index)
{
    uint64_t done = 0;
    int64_t cpu_ns = 0, start = clock_ns(CLOCK_MONOTONIC);
    for (unsigned i = 0; i < n; i++) {
        workers[i].units = units;
        workers[i].state = i + 1;
        int refused = pthread_create(&workers[i].thread, NULL, burn, &workers[i]);
        if (refused)
            fail(UNAVAILABLE, "threads", strerror(refused));
    }
    for (unsigned i = 0; i < n; i++) {
        pthread_join(workers[i].thread, NULL);
        done += workers[i].state != 0 ? units : 0;
        cpu_ns += workers[i].cpu_ns;
    }
    int64_t end = clock_ns(CLOCK_MONOTONIC);
    fprintf(out, "iteration %" PRIu64 " %" PRId64 " %" PRId64 " %" PRIu64 " %" PRId64 "\n", index, start, end, done, cpu_ns);
}

int main(int argc, char **argv)
{
    struct arguments a = {100000000, 1};
    for (int i = 1; i < argc; i++)
        parse(&a, argv[i]);
    unsigned n = cpus_of_mask();
    struct worker *workers = calloc(n, sizeof *workers);
    if (workers == NULL)
        fail(UNAVAILABLE, "memory", strerror(errno));
    FILE *out = events();
    ready(out);
    for (uint64_t i = 0; i < a.iterations; i++)
        iterate(workers, n, a.units, out, i);
    fprintf(out, "value threads %u\n", n);
    free(workers);
    return fclose(out) == 0 ? DONE : UNAVAILABLE;
}
