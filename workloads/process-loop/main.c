/* One process that counts: up or down, to one of a few limits, as one level of optimization makes it (README.md). */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "loops.h"

enum { DONE = 0, USAGE = 64, UNAVAILABLE = 69, MAX_ITERATIONS = 10000 };

const uint64_t limits[LIMITS] = {255, 256, 4095, 4096, 4097, 65536, 1000000};
static const struct loops *const levels[] = {&O0, &O1, &O2, &O3};

struct arguments {
    bool down;
    unsigned limit; /* its place among `limits` */
    const struct loops *loops;
    uint64_t units, iterations;
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

static const struct loops *level_called(const char *word, const char *name)
{
    for (unsigned i = 0; i < sizeof levels / sizeof *levels; i++)
        if (!strcmp(name, levels[i]->name))
            return levels[i];
    fail(USAGE, word, "expected optimize=O0, O1, O2 or O3");
    return NULL;
}

static unsigned place_of(const char *word, uint64_t limit)
{
    for (unsigned i = 0; i < LIMITS; i++)
        if (limits[i] == limit)
            return i;
    fail(USAGE, word, "expected limit= one of those that workload.toml lists");
    return 0;
}

static void parse(struct arguments *a, const char *word)
{
    if (!strcmp(word, "direction=up") || !strcmp(word, "direction=down"))
        a->down = word[10] == 'd';
    else if (!strncmp(word, "limit=", 6))
        a->limit = place_of(word, number(word, word + 6, UINT64_MAX));
    else if (!strncmp(word, "optimize=", 9))
        a->loops = level_called(word, word + 9);
    else if (!strncmp(word, "units=", 6))
        a->units = number(word, word + 6, UINT64_C(1) << 50);
    else if (!strncmp(word, "iterations=", 11))
        a->iterations = number(word, word + 11, MAX_ITERATIONS);
    else
        fail(USAGE, word, "expected direction=up|down, limit=, optimize=, units= or iterations=");
}

static int64_t clock_ns(int clock)
{
    struct timespec now;
    clock_gettime((clockid_t)clock, &now);
    return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

/* Whole passes until the units are done: what was counted, by the counter itself. */
static uint64_t count(const struct arguments *a)
{
    counting pass = (a->down ? a->loops->down : a->loops->up)[a->limit];
    uint64_t done = 0;
    while (done < a->units)
        done += pass();
    return done;
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

int main(int argc, char **argv)
{
    struct arguments a = {.loops = &O2, .limit = place_of("limit", 4096), .units = 300000000, .iterations = 1};
    for (int i = 1; i < argc; i++)
        parse(&a, argv[i]);
    int64_t(*told)[4] = calloc(a.iterations, sizeof *told);
    if (told == NULL)
        fail(UNAVAILABLE, "memory", strerror(errno));
    FILE *out = events();
    ready(out);
    for (uint64_t i = 0; i < a.iterations; i++) {
        int64_t cpu = clock_ns(CLOCK_PROCESS_CPUTIME_ID), start = clock_ns(CLOCK_MONOTONIC);
        int64_t done = (int64_t)count(&a), end = clock_ns(CLOCK_MONOTONIC);
        memcpy(told[i], (int64_t[]){start, end, done, clock_ns(CLOCK_PROCESS_CPUTIME_ID) - cpu}, sizeof *told);
    }
    double cycle_ns = addition_ns();
    for (uint64_t i = 0; i < a.iterations; i++) {
        const int64_t *t = told[i];
        fprintf(out, "iteration %" PRIu64 " %" PRId64 " %" PRId64 " %" PRId64 " %" PRId64 "\n", i, t[0], t[1], t[2], t[3]);
        double count_ns = (double)t[3] / (double)t[2];
        fprintf(out, "value count_ns %.6f\nvalue cycles %.6f\n", count_ns, count_ns / cycle_ns);
    }
    return fclose(out) == 0 ? DONE : UNAVAILABLE;
}
