#define _GNU_SOURCE
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum { MOST_CPUS = 8192 };

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

static long long burn;
static char seen[MOST_CPUS];

static void look(void)
{
    int cpu = sched_getcpu();
    if (cpu >= 0 && cpu < MOST_CPUS)
        seen[cpu] = 1;
}

static void *spin(void *unused)
{
    (void)unused;
    while (now(CLOCK_THREAD_CPUTIME_ID) < burn)
        look();
    return NULL;
}

int main(int argc, char **argv)
{
    int threads = argc > 1 ? atoi(argv[1]) : 2;
    pthread_t others[256];
    size_t size = CPU_ALLOC_SIZE(MOST_CPUS);
    cpu_set_t *allowed = CPU_ALLOC(MOST_CPUS);
    burn = (argc > 2 ? atoll(argv[2]) : 100) * 1000000LL;
    if (threads < 1 || threads > 256) {
        fprintf(stderr, "%d threads: 1 to 256 expected\n", threads);
        return 69;
    }
    long long start = now(CLOCK_MONOTONIC);
    for (int i = 0; i < threads; i++)
        if (pthread_create(&others[i], NULL, spin, NULL) != 0) {
            fprintf(stderr, "thread %d was not granted\n", i);
            return 69;
        }
    for (int i = 0; i < threads; i++)
        pthread_join(others[i], NULL);
    long long end = now(CLOCK_MONOTONIC);
    FILE *out = events();
    if (!allowed || sched_getaffinity(0, size, allowed) != 0) {
        perror("CPU mask");
        return 69;
    }
    fprintf(out, "value burnt_ns %lld\nvalue spun_ns %lld\n", burn * threads, end - start);
    fprintf(out, "value believed_cpus %d\n", CPU_COUNT_S(size, allowed));
    for (int cpu = 0; cpu < MOST_CPUS; cpu++)
        if (seen[cpu])
            fprintf(out, "value cpu %d\n", cpu);
    return fclose(out) != 0;
}
