#include "work.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { UNITS_BETWEEN_LOOKS = 50000, MAX_CPUS = CPU_SETSIZE };

struct worker {
    pthread_t thread;
    uint64_t units;
    uint64_t done;
    uint64_t state;
    int64_t cpu_ns;
    int64_t visible_cpus;
    int64_t moves;
    int last_cpu;
    uint32_t looks[MAX_CPUS];
};

int64_t clock_ns(int clock)
{
    struct timespec now;
    clock_gettime((clockid_t)clock, &now);
    return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

/* Each step needs the one before; the state is kept, so that nothing can be left out. */
static uint64_t burn(uint64_t x, uint64_t n)
{
    for (uint64_t i = 0; i < n; i++) {
        x ^= x << 13;
        x ^= x >> 7;
        x ^= x << 17;
    }
    return x;
}

static void look(struct worker *worker)
{
    int cpu = sched_getcpu();
    if (cpu < 0 || cpu >= MAX_CPUS)
        return;
    worker->looks[cpu]++;
    worker->moves += worker->last_cpu >= 0 && worker->last_cpu != cpu;
    worker->last_cpu = cpu;
}

/* The mask may be larger than cpu_set_t on a very large machine; then the kernel says EINVAL. */
static int64_t visible_cpus(void)
{
    for (size_t n = CPU_SETSIZE; n <= 1 << 20; n *= 2) {
        cpu_set_t *set = CPU_ALLOC(n);
        size_t size = CPU_ALLOC_SIZE(n);
        if (set == NULL)
            return -1;
        int refused = sched_getaffinity(0, size, set) != 0 ? errno : 0;
        int64_t count = refused ? -1 : CPU_COUNT_S(size, set);
        CPU_FREE(set);
        if (refused != EINVAL)
            return count;
    }
    return -1;
}

static void *run(void *argument)
{
    struct worker *worker = argument;
    int64_t before = clock_ns(CLOCK_THREAD_CPUTIME_ID);
    worker->visible_cpus = visible_cpus();
    while (worker->done < worker->units) {
        uint64_t rest = worker->units - worker->done;
        uint64_t n = rest < UNITS_BETWEEN_LOOKS ? rest : UNITS_BETWEEN_LOOKS;
        worker->state = burn(worker->state, n);
        worker->done += n;
        look(worker);
    }
    worker->cpu_ns = clock_ns(CLOCK_THREAD_CPUTIME_ID) - before;
    return NULL;
}

static void sum_up(const struct worker *workers, unsigned n, struct outcome *outcome)
{
    uint64_t looks = 0, most = 0;
    memset(outcome, 0, sizeof *outcome);
    outcome->visible_cpus = workers[0].visible_cpus;
    for (unsigned i = 0; i < n; i++) {
        outcome->units += workers[i].state != 0 ? workers[i].done : 0;
        outcome->cpu_ns += workers[i].cpu_ns;
        outcome->moves += workers[i].moves;
        if (workers[i].visible_cpus < outcome->visible_cpus)
            outcome->visible_cpus = workers[i].visible_cpus;
    }
    for (int cpu = 0; cpu < MAX_CPUS; cpu++) {
        uint64_t here = 0;
        for (unsigned i = 0; i < n; i++)
            here += workers[i].looks[cpu];
        looks += here;
        most = here > most ? here : most;
        outcome->seen_cpus += here != 0;
    }
    outcome->busiest_percent = looks ? 100.0 * (double)most / (double)looks : 0;
}

int work(unsigned threads, uint64_t units, struct outcome *outcome)
{
    struct worker *workers = calloc(threads, sizeof *workers);
    if (workers == NULL)
        return ENOMEM;
    unsigned started = 0;
    int refused = 0;
    for (; started < threads; started++) {
        workers[started].units = units;
        workers[started].state = started + 1;
        workers[started].last_cpu = -1;
        refused = pthread_create(&workers[started].thread, NULL, run, &workers[started]);
        if (refused)
            break;
    }
    for (unsigned i = 0; i < started; i++)
        pthread_join(workers[i].thread, NULL);
    if (!refused)
        sum_up(workers, threads, outcome);
    free(workers);
    return refused;
}
