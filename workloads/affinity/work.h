/* Fixed work on n threads, and the CPUs they were seen on. */
#ifndef WORK_H
#define WORK_H

#include <sched.h>
#include <stdint.h>

struct outcome {
    uint64_t units;         /* done, all threads together */
    int64_t cpu_ns;         /* CPU time of these threads */
    int64_t visible_cpus;   /* CPUs in the mask, as each thread sees it; the smallest */
    int64_t seen_cpus;      /* different CPUs that any thread was seen on */
    int64_t moves;          /* times that a thread was seen on another CPU than before */
    double busiest_percent; /* of all looks, those on the CPU with most */
};

/* Returns 0, or an errno when a thread could not be made. */
int work(unsigned threads, uint64_t units, struct outcome *outcome);

int64_t clock_ns(int clock);

#endif
