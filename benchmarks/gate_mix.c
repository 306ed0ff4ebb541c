/* A build that others on its core or cache slow down: it fills, sorts and hashes 4096 numbers TURNS times.
 * `cc -O2 -DTURNS=300 gate_mix.c`
 */
#include <stdint.h>
#include <stdlib.h>

enum { N = 4096, SLOTS = 1 << 16 };
static uint32_t numbers[N], slots[SLOTS];

static int ascending(const void *a, const void *b) {
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    return (x > y) - (x < y);
}

int main(void) {
    uint64_t seed = 88172645463325252u;
    volatile uint32_t found = 0;
    for (int64_t turn = 0; turn < TURNS; turn++) {
        for (int i = 0; i < N; i++) {
            seed ^= seed << 13, seed ^= seed >> 7, seed ^= seed << 17;
            numbers[i] = (uint32_t)seed;
        }
        qsort(numbers, N, sizeof *numbers, ascending);
        for (int i = 0; i < N; i++) {
            uint32_t slot = numbers[i] * 2654435761u >> 16;
            slots[slot] += numbers[i];
            found += slots[slot ^ 1];
        }
    }
    return 0;
}
