#define _GNU_SOURCE
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static long long now(clockid_t clock)
{
    struct timespec t;
    clock_gettime(clock, &t);
    return t.tv_sec * 1000000000LL + t.tv_nsec;
}

/* Where values go: the probe's pipe, or standard output when run by hand. */
static FILE *events(void)
{
    const char *path = getenv("SCALOGRAPH_EVENTS");
    FILE *out = path ? fopen(path, "w") : stdout;
    if (!out) {
        perror(path);
        exit(1);
    }
    return out;
}

int main(int argc, char **argv)
{
    long long burn = (argc > 1 ? atoll(argv[1]) : 200) * 1000000LL, half = burn / 2;
    int status = 0;
    long long start = now(CLOCK_MONOTONIC);
    pid_t child = fork();
    if (child < 0) {
        perror("fork");
        return 1;
    }
    /* A process keeps its CPU time over exec: what was used before main does not count. */
    long long before = now(CLOCK_PROCESS_CPUTIME_ID);
    while (now(CLOCK_PROCESS_CPUTIME_ID) - before < half)
        ;
    if (child == 0)
        _exit(0);
    if (waitpid(child, &status, 0) != child || status != 0)
        return 1;
    long long end = now(CLOCK_MONOTONIC);
    FILE *out = events();
    fprintf(out, "iteration 0 %lld %lld %lld %lld\nvalue burnt_ns %lld\n", start, end, burn, burn, half * 2);
    return fclose(out) != 0;
}
