/* What each kind does with one resource of the machine, again and again. */
#include <errno.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "ceiling.h"

enum { REGION = 16 * PAGE, HELD = 8, WAIT_NS = 1000000, DOUBLES = PAGE / sizeof(double) };

/* Each step needs the one before. */
static uint64_t step(uint64_t x)
{
    x ^= x << 13;
    x ^= x >> 7;
    return x ^ x << 17;
}

static void arithmetic(struct worker *w)
{
    uint64_t x = w->state;
    for (; w->done < w->units; w->done++)
        x = step(x);
    w->state = x;
}

/* The triad of STREAM: two arrays read, one written; a unit is a page of each. */
static void memory(struct worker *w)
{
    const size_t length = w->all->pages * DOUBLES;
    size_t page = 0;
    for (; w->done < w->units; w->done++) {
        double *restrict a = w->arrays + page * DOUBLES;
        const double *restrict b = a + length, *restrict c = b + length;
        for (size_t i = 0; i < DOUBLES; i++)
            a[i] = b[i] + 3.0 * c[i];
        page = page + 1 < w->all->pages ? page + 1 : 0;
    }
    atomic_signal_fence(memory_order_seq_cst); /* what was written counts as read */
}

/* One lock, taken all the time, held for a few steps that need what the last holder left. */
static void lock(struct worker *w)
{
    struct shared *all = w->all;
    for (; w->done < w->units; w->done++) {
        pthread_mutex_lock(&all->lock);
        for (int i = 0; i < HELD; i++)
            all->state = step(all->state);
        all->under_lock++;
        pthread_mutex_unlock(&all->lock);
    }
}

static void forks(struct worker *w)
{
    for (; w->done < w->units; w->done++) {
        pid_t child = fork();
        if (child == 0)
            _exit(DONE);
        int status = -1;
        if (child < 0 || waitpid(child, &status, 0) != child || status != 0) {
            w->refused = errno ? errno : ECHILD;
            return;
        }
    }
}

static void faults(struct worker *w)
{
    for (; w->done < w->units; w->done++) {
        char *region = mmap(NULL, REGION, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        if (region == MAP_FAILED) {
            w->refused = errno;
            return;
        }
        for (size_t at = 0; at < REGION; at += PAGE)
            *(volatile char *)(region + at) = 1;
        munmap(region, REGION);
    }
}

/* As a program that waits for a disk or a network: off the CPU for a millisecond. */
static void waits(struct worker *w)
{
    for (; w->done < w->units; w->done++) {
        struct timespec left = {0, WAIT_NS};
        while (clock_nanosleep(CLOCK_MONOTONIC, 0, &left, &left) == EINTR)
            ;
    }
}

static const struct kind KINDS[] = {
    {"arithmetic", 80000000, false, false, true, arithmetic},
    {"memory", 300000, false, true, true, memory},
    {"lock", 5000000, false, false, false, lock},
    {"fork", 1000, true, false, true, forks},
    {"faults", 5000, true, false, true, faults},
    {"faults-shared", 5000, false, false, false, faults},
    {"wait", 150, false, false, true, waits},
};

const struct kind *kind_called(const char *name)
{
    for (size_t i = 0; i < sizeof KINDS / sizeof *KINDS; i++)
        if (!strcmp(KINDS[i].name, name))
            return &KINDS[i];
    fail(USAGE, name, "no such kind, expected arithmetic, memory, lock, fork, faults, faults-shared or wait");
    return NULL;
}
