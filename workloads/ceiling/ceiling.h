/* What the parts of the workload share (README.md). All of it lies in memory that worker processes share. */
#ifndef CEILING_H
#define CEILING_H

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { DONE = 0, USAGE = 64, UNAVAILABLE = 69, PAGE = 4096, ARRAYS = 3, MOST_WORKERS = 4096, APART = 128 };

struct shared;

/* Far enough apart that no two share a line of a cache, nor the pair that some CPUs fetch. */
struct worker {
    _Alignas(APART) struct shared *all;
    unsigned index;
    uint64_t units; /* that it has to do in an iteration */
    uint64_t done;  /* that it did */
    uint64_t state; /* kept, so that no work can be left out */
    int64_t start_ns, end_ns, cpu_ns;
    int refused; /* errno of what the kernel refused, else 0 */
    double *arrays;
    pthread_t thread;
};

struct kind {
    const char *name;
    uint64_t units;                /* total of an iteration: 0.1 to 0.3 s on one CPU of 3 GHz */
    bool processes;                /* workers have an address space each */
    bool has_arrays;
    bool divides; /* more CPUs do it sooner */
    void (*work)(struct worker *); /* does `units`, counts `done` */
};

struct shared {
    pthread_barrier_t barrier; /* all workers and main */
    _Alignas(APART) pthread_mutex_t lock;
    uint64_t under_lock, state;
    _Alignas(APART) const struct kind *kind;
    unsigned n_workers;
    uint64_t iterations;
    size_t pages; /* of each array of a worker */
    struct worker workers[];
};

struct arguments {
    const struct kind *kind;
    unsigned threads;
    uint64_t units, iterations;
};

void fail(int code, const char *where, const char *what);
int64_t clock_ns(int clock);
struct arguments parse(int argc, char **argv);
const struct kind *kind_called(const char *name);
uint64_t online_cpus(void);
uint64_t cache_bytes(void);
uint64_t memory_bytes(uint64_t cache);
void hire(struct shared *all);
void dismiss(struct shared *all);

#endif
