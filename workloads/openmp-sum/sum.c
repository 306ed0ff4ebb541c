#include "sum.h"

#include <omp.h>

/* Read anew by each call: no compiler may know that one iteration does what the one before did. */
static volatile uint64_t seed = UINT64_C(0x9E3779B97F4A7C15);

/* Each step needs the one before. It is linear over bits: the steps of a sum are the sum of the steps. */
static uint64_t steps(uint64_t x, uint64_t n)
{
    for (uint64_t i = 0; i < n; i++) {
        x ^= x << 13;
        x ^= x >> 7;
        x ^= x << 17;
    }
    return x;
}

/* Not inlined, so that both versions run the same instructions for an element. */
__attribute__((noinline)) static void take(struct sum *sum, uint64_t start, uint64_t cost)
{
    sum->total ^= steps(start, cost);
    sum->done++;
}

struct sum sequential(const struct task *task)
{
    struct sum sum = {0, 0};
    const uint64_t first = seed, cost = task->cost, size = task->size;
    for (uint64_t i = 0; i < size; i++)
        take(&sum, first * (i + 1), cost);
    return sum;
}

#pragma omp declare reduction(join : struct sum : omp_out.total ^= omp_in.total, omp_out.done += omp_in.done) \
    initializer(omp_priv = (struct sum){0, 0})

struct sum parallel(const struct task *task)
{
    struct sum sum = {0, 0};
    const uint64_t first = seed, cost = task->cost, size = task->size;
#pragma omp parallel for num_threads(task->threads) schedule(static) reduction(join : sum)
    for (uint64_t i = 0; i < size; i++)
        take(&sum, first * (i + 1), cost);
    return sum;
}

uint64_t expected(const struct task *task)
{
    uint64_t starts = 0;
    for (uint64_t i = 0; i < task->size; i++)
        starts ^= seed * (i + 1);
    return steps(starts, task->cost);
}

int threads_given(int asked)
{
    int given = 0;
    omp_set_dynamic(0);
#pragma omp parallel num_threads(asked)
#pragma omp single
    given = omp_get_num_threads();
    return given;
}
