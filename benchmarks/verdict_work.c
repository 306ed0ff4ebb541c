/* Fixed work: `verdict_work UNITS THREADS` divides UNITS turns of a loop that no compiler can shorten over the threads.
 * A neighbor: `verdict_work duty PERCENT CPU` is busy on that CPU for a share of every 40 ms, until it is killed.
 */
#define _GNU_SOURCE
#include <pthread.h>
#include <sched.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static const int64_t PERIOD_NS = 40000000;

static void turn(int64_t units) {
    volatile uint64_t x = 1;
    for (int64_t i = 0; i < units; i++)
        x = x * 6364136223846793005u + 1442695040888963407u;
}

static void *work(void *units) {
    turn(*(int64_t *)units);
    return NULL;
}

static int64_t now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec * 1000000000L + t.tv_nsec;
}

static void neighbor(int64_t percent, int cpu) {
    cpu_set_t mask;
    CPU_ZERO(&mask);
    CPU_SET(cpu, &mask);
    if (sched_setaffinity(0, sizeof mask, &mask))
        exit(1);
    for (;;) {
        int64_t busy = now() + PERIOD_NS * percent / 100;
        while (now() < busy)
            turn(1000);
        struct timespec idle = {0, PERIOD_NS * (100 - percent) / 100};
        nanosleep(&idle, NULL);
    }
}

int main(int argc, char **argv) {
    if (argc == 4 && strcmp(argv[1], "duty") == 0)
        neighbor(atoll(argv[2]), atoi(argv[3]));
    if (argc != 3)
        return 2;
    int n = atoi(argv[2]);
    int64_t units = atoll(argv[1]) / n;
    pthread_t threads[64];
    for (int i = 0; i < n && i < 64; i++)
        if (pthread_create(&threads[i], NULL, work, &units))
            return 1;
    for (int i = 0; i < n && i < 64; i++)
        pthread_join(threads[i], NULL);
    return 0;
}
