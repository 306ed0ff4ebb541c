/* Fixed work: `verdict_work UNITS THREADS [lock|barrier]` divides UNITS turns of a loop that no compiler can shorten
 * over the threads; with `lock`, only the thread that holds it works, and hands it on after every 200,000 turns; with
 * `barrier`, all wait for each other after each twentieth of their work.
 * A neighbor: `verdict_work play CPU MS PERCENT [MS PERCENT]...` is busy on that CPU for a share of every 40 ms, for
 * each MS in turn and from the start again, until it is killed.
 */
#define _GNU_SOURCE
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <time.h>

enum { MOST = 1024, BATCH = 200000, PARTS = 20 };
static const int64_t PERIOD_NS = 40000000;
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_barrier_t barrier;

static void turn(int64_t units) {
    volatile uint64_t x = 1;
    for (int64_t i = 0; i < units; i++)
        x = x * 6364136223846793005u + 1442695040888963407u;
}

static void *work(void *units) {
    turn(*(int64_t *)units);
    return NULL;
}

static void *work_locked(void *units) {
    for (int64_t left = *(int64_t *)units; left > 0; left -= BATCH) {
        pthread_mutex_lock(&mutex);
        turn(left < BATCH ? left : BATCH);
        pthread_mutex_unlock(&mutex);
    }
    return NULL;
}

static void *work_in_step(void *units) {
    for (int i = 0; i < PARTS; i++) {
        turn(*(int64_t *)units / PARTS);
        pthread_barrier_wait(&barrier);
    }
    return NULL;
}

static int64_t now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec * 1000000000L + t.tv_nsec;
}

static void segment(int64_t ms, int64_t percent) {
    int64_t end = now() + ms * 1000000;
    while (now() < end) {
        int64_t busy = now() + PERIOD_NS * percent / 100;
        while (now() < busy)
            turn(1000);
        struct timespec idle = {0, PERIOD_NS * (100 - percent) / 100};
        nanosleep(&idle, NULL);
    }
}

static void play(int cpu, int n, char **segments) {
    cpu_set_t mask;
    CPU_ZERO(&mask);
    CPU_SET(cpu, &mask);
    // A benchmark that is killed leaves no neighbor behind.
    if (prctl(PR_SET_PDEATHSIG, SIGKILL) || sched_setaffinity(0, sizeof mask, &mask))
        exit(1);
    for (;;)
        for (int i = 0; i + 1 < n; i += 2)
            segment(atoll(segments[i]), atoll(segments[i + 1]));
}

int main(int argc, char **argv) {
    if (argc >= 5 && strcmp(argv[1], "play") == 0)
        play(atoi(argv[2]), argc - 3, argv + 3);
    int n = argc >= 3 ? atoi(argv[2]) : 0;
    if (argc > 4 || n < 1 || n > MOST)
        return 2;
    int64_t units = atoll(argv[1]) / n;
    void *(*run)(void *) = argc < 4 ? work : strcmp(argv[3], "barrier") ? work_locked : work_in_step;
    pthread_barrier_init(&barrier, NULL, n);
    pthread_t threads[MOST];
    for (int i = 0; i < n; i++)
        if (pthread_create(&threads[i], NULL, run, &units))
            return 1;
    for (int i = 0; i < n; i++)
        pthread_join(threads[i], NULL);
    return 0;
}
