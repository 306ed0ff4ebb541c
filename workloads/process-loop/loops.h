/* The counting loops, one for each limit and direction. They are compiled once for each level of optimization: the file
 * that includes this one has set it, and gives OPTIMIZED, its own name for the loops. */
#ifndef LOOPS_H
#define LOOPS_H

#include <stdint.h>

/* One pass, and how far the counter came. */
typedef uint64_t (*counting)(void);

enum { LIMITS = 7 };
struct loops {
    const char *name;
    counting up[LIMITS], down[LIMITS];
};

extern const uint64_t limits[LIMITS];
/* CPU time of one addition that needs the sum before it, ns: one cycle on nearly every CPU. */
double addition_ns(void);

extern const struct loops O0, O1, O2, O3;

#endif

#ifdef OPTIMIZED
/* The empty assembly may change the counter, for all that the compiler knows: it can neither delete the loop, nor foresee
 * its end, nor do two steps in one. It costs no instruction. The limit is a constant in the code, as it was published. */
#define KEEP(counter) __asm__ volatile("" : "+r"(counter))
#define LOOPS(limit)                                   \
    static uint64_t up_##limit(void)                   \
    {                                                  \
        uint64_t i;                                    \
        for (i = 0; i < UINT64_C(limit); i++)          \
            KEEP(i);                                   \
        return i;                                      \
    }                                                  \
    static uint64_t down_##limit(void)                 \
    {                                                  \
        uint64_t i;                                    \
        for (i = UINT64_C(limit); i > 0; i--)          \
            KEEP(i);                                   \
        return UINT64_C(limit) - i;                    \
    }

LOOPS(255)
LOOPS(256)
LOOPS(4095)
LOOPS(4096)
LOOPS(4097)
LOOPS(65536)
LOOPS(1000000)

#define EACH(way) {way##_255, way##_256, way##_4095, way##_4096, way##_4097, way##_65536, way##_1000000}
const struct loops OPTIMIZED = {NAME, EACH(up), EACH(down)};
#endif
