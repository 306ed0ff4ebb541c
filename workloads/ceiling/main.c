/* One resource of the machine, used by one worker for each CPU (README.md): arguments, and what is told. */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include "ceiling.h"

enum { MOST_CPUS = 1 << 20, MAX_ITERATIONS = 10000, FEW = 16 };

void fail(int code, const char *where, const char *what)
{
    fprintf(stderr, "%s: %s\n", where, what);
    exit(code);
}

static uint64_t number(const char *text, uint64_t low, uint64_t high)
{
    char *end;
    errno = 0;
    uint64_t value = strtoull(text, &end, 10);
    if (errno || *end || end == text || *text == '-' || value < low || value > high)
        fail(USAGE, text, "found no such number, expected an integer in the range that workload.toml gives");
    return value;
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

struct arguments parse(int argc, char **argv)
{
    struct arguments a = {kind_called("arithmetic"), 0, 0, 1};
    for (int i = 1; i < argc; i++) {
        const char *word = argv[i];
        if (!strncmp(word, "kind=", 5))
            a.kind = kind_called(word + 5);
        else if (!strncmp(word, "threads=", 8))
            a.threads = (unsigned)number(word + 8, 0, MOST_WORKERS);
        else if (!strncmp(word, "units=", 6))
            a.units = number(word + 6, 0, UINT64_C(1) << 50);
        else if (!strncmp(word, "iterations=", 11))
            a.iterations = number(word + 11, 1, MAX_ITERATIONS);
        else
            fail(USAGE, word, "expected kind=, threads=, units= or iterations=");
    }
    a.threads = a.threads ? a.threads : cpus_of_mask();
    /* On a large machine each worker would have too little to do; the total is the same for all its masks. */
    uint64_t times = a.kind->divides ? (online_cpus() + FEW - 1) / FEW : 1;
    a.units = a.units ? a.units : a.kind->units * times;
    return a;
}

/* Shared with workers that are processes. */
static struct shared *set_up(const struct arguments *a, uint64_t memory)
{
    size_t size = sizeof(struct shared) + a->threads * sizeof(struct worker);
    struct shared *all = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (all == MAP_FAILED)
        fail(UNAVAILABLE, "memory", strerror(errno));
    pthread_barrierattr_t barrier;
    pthread_barrierattr_init(&barrier);
    pthread_barrierattr_setpshared(&barrier, PTHREAD_PROCESS_SHARED);
    pthread_barrier_init(&all->barrier, &barrier, a->threads + 1);
    pthread_mutex_init(&all->lock, NULL);
    all->state = 1;
    all->kind = a->kind;
    all->n_workers = a->threads;
    all->iterations = a->iterations;
    all->pages = memory / a->threads / (PAGE * ARRAYS);
    all->pages = all->pages ? all->pages : 1;
    for (unsigned i = 0; i < a->threads; i++) {
        uint64_t units = a->units / a->threads + (i < a->units % a->threads);
        all->workers[i] = (struct worker){.all = all, .index = i, .units = units, .state = i + 1};
    }
    return all;
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

/* From the first worker that begins to the last that ends: main itself may wake late. */
static void tell(struct shared *all, uint64_t index, FILE *out)
{
    int64_t start = all->workers[0].start_ns, end = all->workers[0].end_ns, cpu = 0;
    uint64_t done = 0;
    for (unsigned i = 0; i < all->n_workers; i++) {
        const struct worker *w = &all->workers[i];
        if (w->refused)
            fail(UNAVAILABLE, all->kind->name, strerror(w->refused));
        start = w->start_ns < start ? w->start_ns : start;
        end = w->end_ns > end ? w->end_ns : end;
        cpu += w->cpu_ns;
        done += w->done;
    }
    /* What was done under the lock is counted there: a lock that let two in would lose some. */
    done = all->under_lock ? all->under_lock : done;
    all->under_lock = 0;
    fprintf(out, "iteration %" PRIu64 " %" PRId64 " %" PRId64 " %" PRIu64 " %" PRId64 "\n", index, start, end, done, cpu);
}

int main(int argc, char **argv)
{
    struct arguments a = parse(argc, argv);
    uint64_t cache = cache_bytes(), memory = a.kind->has_arrays ? memory_bytes(cache) : 0;
    struct shared *all = set_up(&a, memory);
    hire(all);
    pthread_barrier_wait(&all->barrier);
    FILE *out = events();
    ready(out);
    for (uint64_t i = 0; i < a.iterations; i++) {
        pthread_barrier_wait(&all->barrier);
        pthread_barrier_wait(&all->barrier);
        tell(all, i, out);
    }
    dismiss(all);
    fprintf(out, "value workers %u\n", a.threads);
    if (a.kind->has_arrays)
        fprintf(out, "value memory_bytes %zu\nvalue cache_bytes %" PRIu64 "\n", all->pages * PAGE * ARRAYS * a.threads, cache);
    return fclose(out) == 0 ? DONE : UNAVAILABLE;
}
