/* The task that both versions do: elements, each of so many steps, and what all their ends come to. */
#ifndef SUM_H
#define SUM_H

#include <stdint.h>

struct task {
    uint64_t size, cost;
    int threads; /* of the parallel version */
};

struct sum {
    uint64_t total, done; /* the sum of the ends; elements that were taken */
};

struct sum sequential(const struct task *task);
struct sum parallel(const struct task *task);

/* The total, found without taking the elements one by one. */
uint64_t expected(const struct task *task);

/* Threads that the runtime gives when so many are asked for. */
int threads_given(int asked);

#endif
