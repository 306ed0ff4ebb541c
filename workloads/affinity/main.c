/* Busy threads for a fixed work, here or in a child, and what they saw of the CPU mask (README.md). */
#include "work.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { DONE = 0, USAGE = 64, UNAVAILABLE = 69, MAX_ITERATIONS = 10000 };

struct arguments {
    int child;
    uint64_t threads, units, iterations, think_ns;
};

static int fail(int code, const char *where, const char *what)
{
    fprintf(stderr, "%s: %s\n", where, what);
    exit(code);
}

static uint64_t number(const char *name, const char *text, uint64_t low, uint64_t high)
{
    char *end;
    errno = 0;
    uint64_t value = strtoull(text, &end, 10);
    if (errno || *end || end == text || *text == '-' || value < low || value > high) {
        fprintf(stderr, "%s: found %s, expected an integer from %" PRIu64 " to %" PRIu64 "\n", name, text, low, high);
        exit(USAGE);
    }
    return value;
}

static int is(const char *word, const char *name, const char **value)
{
    size_t n = strlen(name);
    *value = word + n + 1;
    return strncmp(word, name, n) == 0 && word[n] == '=';
}

static void parse(struct arguments *a, const char *word)
{
    const char *value;
    if (is(word, "who", &value) && (!strcmp(value, "self") || !strcmp(value, "child")))
        a->child = value[0] == 'c';
    else if (is(word, "threads", &value))
        a->threads = number("threads", value, 1, 4096);
    else if (is(word, "units", &value))
        a->units = number("units", value, 1, UINT64_C(1) << 50);
    else if (is(word, "iterations", &value))
        a->iterations = number("iterations", value, 1, MAX_ITERATIONS);
    else if (is(word, "think_ns", &value))
        a->think_ns = number("think_ns", value, 0, UINT64_C(1) << 50);
    else {
        fprintf(stderr, "arguments: found %s, expected who=self|child, threads=, units=, iterations= or think_ns=\n", word);
        exit(USAGE);
    }
}

static void here(const struct arguments *a, struct outcome *outcome)
{
    int refused = work((unsigned)a->threads, a->units, outcome);
    if (refused)
        fail(UNAVAILABLE, "threads", strerror(refused));
}

/* In the child, after exec: the outcome goes to the pipe that is its standard output. */
static int as_child(const struct arguments *a)
{
    struct outcome outcome;
    here(a, &outcome);
    return write(STDOUT_FILENO, &outcome, sizeof outcome) == (ssize_t)sizeof outcome ? DONE : UNAVAILABLE;
}

static void become_child(const struct arguments *a, const int *pipe_ends)
{
    char threads[32], units[48];
    snprintf(threads, sizeof threads, "threads=%" PRIu64, a->threads);
    snprintf(units, sizeof units, "units=%" PRIu64, a->units);
    if (dup2(pipe_ends[1], STDOUT_FILENO) < 0)
        _exit(UNAVAILABLE);
    close(pipe_ends[0]);
    close(pipe_ends[1]);
    execl("/proc/self/exe", "affinity-child", "child", threads, units, (char *)NULL);
    _exit(UNAVAILABLE);
}

static void in_child(const struct arguments *a, struct outcome *outcome)
{
    int pipe_ends[2], status = 0;
    if (pipe(pipe_ends))
        fail(UNAVAILABLE, "pipe", strerror(errno));
    pid_t child = fork();
    if (child < 0)
        fail(UNAVAILABLE, "fork", strerror(errno));
    if (child == 0)
        become_child(a, pipe_ends);
    close(pipe_ends[1]);
    ssize_t got = read(pipe_ends[0], outcome, sizeof *outcome);
    close(pipe_ends[0]);
    if (waitpid(child, &status, 0) != child || status != 0 || got != (ssize_t)sizeof *outcome)
        fail(UNAVAILABLE, "child", "ended without an outcome");
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

static void iterate(const struct arguments *a, FILE *out, uint64_t index)
{
    struct outcome outcome;
    int64_t start = clock_ns(CLOCK_MONOTONIC);
    if (a->child)
        in_child(a, &outcome);
    else
        here(a, &outcome);
    int64_t end = clock_ns(CLOCK_MONOTONIC);
    fprintf(out, "iteration %" PRIu64 " %" PRId64 " %" PRId64 " %" PRIu64 " %" PRId64 "\n", index, start, end,
            outcome.units, outcome.cpu_ns);
    fprintf(out, "value online_cpus %ld\n", sysconf(_SC_NPROCESSORS_ONLN));
    fprintf(out, "value visible_cpus %" PRId64 "\nvalue seen_cpus %" PRId64 "\n", outcome.visible_cpus, outcome.seen_cpus);
    fprintf(out, "value moves %" PRId64 "\nvalue busiest_percent %.4f\n", outcome.moves, outcome.busiest_percent);
}

int main(int argc, char **argv)
{
    struct arguments a = {0, 1, 100000000, 1, 0};
    int child = argc > 1 && strcmp(argv[1], "child") == 0;
    for (int i = 1 + child; i < argc; i++)
        parse(&a, argv[i]);
    if (child)
        return as_child(&a);
    FILE *out = events();
    ready(out);
    struct timespec think = {(time_t)(a.think_ns / 1000000000), (long)(a.think_ns % 1000000000)};
    for (uint64_t i = 0; i < a.iterations; i++) {
        if (i > 0)
            nanosleep(&think, NULL);
        iterate(&a, out, i);
    }
    return fflush(out) == 0 ? DONE : UNAVAILABLE;
}
