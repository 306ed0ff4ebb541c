/* Opens files and keeps them, while other threads of the process sleep (README.md). */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

enum { DONE = 0, USAGE = 64, UNAVAILABLE = 69, SPARE = 64 };

struct arguments {
    uint64_t descriptors, threads;
};

static void fail(int code, const char *where, const char *what)
{
    fprintf(stderr, "%s: %s\n", where, what);
    exit(code);
}

static uint64_t number(const char *word, const char *text, uint64_t most)
{
    char *end;
    errno = 0;
    uint64_t value = strtoull(text, &end, 10);
    if (errno || *end || end == text || *text == '-' || value < 1 || value > most)
        fail(USAGE, word, "found no such number, expected an integer in the range that workload.toml gives");
    return value;
}

static void parse(struct arguments *a, const char *word)
{
    if (!strncmp(word, "descriptors=", 12))
        a->descriptors = number(word, word + 12, 65536);
    else if (!strncmp(word, "threads=", 8))
        a->threads = number(word, word + 8, 64);
    else
        fail(USAGE, word, "expected descriptors= or threads=");
}

static int64_t now_ns(int clock)
{
    struct timespec now;
    clock_gettime((clockid_t)clock, &now);
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

static void allow(uint64_t descriptors)
{
    struct rlimit limit;
    getrlimit(RLIMIT_NOFILE, &limit);
    if (limit.rlim_max != RLIM_INFINITY && limit.rlim_max < descriptors + SPARE)
        fail(UNAVAILABLE, "descriptors", "more than this user may open; ulimit -H -n says how many");
    limit.rlim_cur = limit.rlim_max;
    setrlimit(RLIMIT_NOFILE, &limit);
}

static void *sleeping(void *nothing)
{
    pause();
    return nothing;
}

/* Returns the time that the slowest of them took. */
static int64_t open_all(uint64_t descriptors)
{
    int64_t slowest = 0, last = now_ns(CLOCK_MONOTONIC);
    for (uint64_t i = 0; i < descriptors; i++) {
        if (open("/dev/null", O_RDONLY) < 0)
            fail(UNAVAILABLE, "/dev/null", strerror(errno));
        int64_t now = now_ns(CLOCK_MONOTONIC);
        if (now - last > slowest)
            slowest = now - last;
        last = now;
    }
    return slowest;
}

int main(int argc, char **argv)
{
    struct arguments a = {.descriptors = 256, .threads = 2};
    for (int i = 1; i < argc; i++)
        parse(&a, argv[i]);
    allow(a.descriptors);
    for (uint64_t i = 1; i < a.threads; i++) {
        pthread_t thread;
        int error = pthread_create(&thread, NULL, sleeping, NULL);
        if (error)
            fail(UNAVAILABLE, "threads", strerror(error));
    }
    FILE *out = events();
    ready(out);
    int64_t cpu = now_ns(CLOCK_PROCESS_CPUTIME_ID), start = now_ns(CLOCK_MONOTONIC);
    int64_t slowest = open_all(a.descriptors), end = now_ns(CLOCK_MONOTONIC);
    cpu = now_ns(CLOCK_PROCESS_CPUTIME_ID) - cpu;
    fprintf(out, "iteration 0 %" PRId64 " %" PRId64 " %" PRIu64 " %" PRId64 "\n", start, end, a.descriptors, cpu);
    fprintf(out, "value slowest_s %.9f\n", (double)slowest * 1e-9);
    return fclose(out) == 0 ? DONE : UNAVAILABLE;
}
