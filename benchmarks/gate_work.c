/* A build that does TURNS turns of a loop that no compiler can shorten: `cc -O2 -DTURNS=24000000 gate_work.c`. */
#include <stdint.h>

int main(void) {
    volatile uint64_t x = 1;
    for (int64_t i = 0; i < TURNS; i++)
        x = x * 6364136223846793005u + 1442695040888963407u;
    return 0;
}
