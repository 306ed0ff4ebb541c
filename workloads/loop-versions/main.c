/* One loop in C, or the program in another language that the arguments go on to name, in its place (README.md). */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { DONE = 0, USAGE = 64, UNAVAILABLE = 69, MAX_ITERATIONS = 10000, PASS = 4096 };
#define START UINT64_C(0x9E3779B97F4A7C15)
#define SUM_BITS ((UINT64_C(1) << 48) - 1)

struct arguments {
    bool other, counts;
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

static void parse(struct arguments *a, const char *word)
{
    if (!strcmp(word, "version=c") || !strcmp(word, "version=java"))
        a->other = word[8] == 'j';
    else if (!strcmp(word, "loop=count") || !strcmp(word, "loop=steps"))
        a->counts = word[5] == 'c';
    else if (!strncmp(word, "units=", 6))
        a->units = number(word, word + 6, UINT64_C(1) << 50);
    else if (!strncmp(word, "iterations=", 11))
        a->iterations = number(word, word + 11, MAX_ITERATIONS);
    else
        fail(USAGE, word, "expected version=c|java, loop=count|steps, units= or iterations=");
}

static int64_t clock_ns(int clock)
{
    struct timespec now;
    clock_gettime((clockid_t)clock, &now);
    return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

/* Whole passes. The empty assembly keeps the compiler from deleting the loop, and costs no instruction. */
static uint64_t count(uint64_t units)
{
    uint64_t done = 0, i;
    while (done < units) {
        for (i = 0; i < PASS; i++)
            __asm__ volatile("" : "+r"(i));
        done += i;
    }
    return done;
}

/* Each step needs the one before: the same as in Loop.java. */
static uint64_t walk(uint64_t x, uint64_t units)
{
    for (uint64_t i = 0; i < units; i++) {
        x ^= x << 13;
        x ^= x >> 7;
        x ^= x << 17;
    }
    return x;
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

static void work(const struct arguments *a)
{
    int64_t(*told)[4] = calloc(a->iterations, sizeof *told);
    if (told == NULL)
        fail(UNAVAILABLE, "memory", strerror(errno));
    uint64_t sum = 0;
    FILE *out = events();
    ready(out);
    for (uint64_t i = 0; i < a->iterations; i++) {
        int64_t cpu = clock_ns(CLOCK_PROCESS_CPUTIME_ID), start = clock_ns(CLOCK_MONOTONIC);
        sum = a->counts ? count(a->units) : walk(START, a->units);
        int64_t end = clock_ns(CLOCK_MONOTONIC), done = (int64_t)(a->counts ? sum : a->units);
        memcpy(told[i], (int64_t[]){start, end, done, clock_ns(CLOCK_PROCESS_CPUTIME_ID) - cpu}, sizeof *told);
    }
    for (uint64_t i = 0; i < a->iterations; i++) {
        const int64_t *t = told[i];
        fprintf(out, "iteration %" PRIu64 " %" PRId64 " %" PRId64 " %" PRId64 " %" PRId64 "\n", i, t[0], t[1], t[2], t[3]);
    }
    const int64_t *last = told[a->iterations - 1];
    fprintf(out, "value unit_ns %.6f\nvalue checksum %" PRIu64 "\n", (double)last[3] / (double)last[2], sum & SUM_BITS);
    if (fclose(out) != 0)
        fail(UNAVAILABLE, "events", strerror(errno));
}

int main(int argc, char **argv)
{
    struct arguments a = {.units = 30000000, .iterations = 1};
    int i = 1;
    for (; i < argc && argv[i][0] != '/'; i++)
        parse(&a, argv[i]);
    if (!a.other)
        return work(&a), DONE;
    if (i == argc)
        fail(USAGE, "version=java", "found no path of a launcher after the arguments, expected one");
    execv(argv[i], argv + i);
    fail(UNAVAILABLE, argv[i], strerror(errno));
}
