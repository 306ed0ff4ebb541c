#include "arguments.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

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

/* Whether the value is the second of two words. */
static int second(const char *name, const char *text, const char *one, const char *other)
{
    if (strcmp(text, one) && strcmp(text, other)) {
        fprintf(stderr, "%s: found %s, expected %s or %s\n", name, text, one, other);
        exit(USAGE);
    }
    return !strcmp(text, other);
}

static int is(const char *word, const char *name, const char **value)
{
    size_t n = strlen(name);
    int found = strncmp(word, name, n) == 0 && word[n] == '=';
    *value = found ? word + n + 1 : NULL;
    return found;
}

void parse(struct arguments *a, const char *word)
{
    const char *value;
    if (is(word, "version", &value))
        a->parallel = second("version", value, "sequential", "parallel");
    else if (is(word, "size", &value))
        a->task.size = number("size", value, 1, UINT64_C(1) << 40);
    else if (is(word, "cost", &value))
        a->task.cost = number("cost", value, 1, UINT64_C(1) << 40);
    else if (is(word, "threads", &value))
        a->task.threads = (int)number("threads", value, 1, 1024);
    else if (is(word, "wait", &value))
        a->active = second("wait", value, "passive", "active");
    else if (is(word, "iterations", &value))
        a->iterations = number("iterations", value, 1, 1000000);
    else if (is(word, "think_ns", &value))
        a->think_ns = number("think_ns", value, 0, UINT64_C(1) << 50);
    else if (is(word, "prerun", &value))
        a->prerun = number("prerun", value, 0, 1000000);
    else {
        fprintf(stderr, "arguments: found %s, expected a parameter of workload.toml and its value\n", word);
        exit(USAGE);
    }
}
