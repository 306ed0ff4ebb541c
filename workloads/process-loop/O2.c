/* The loops as the compiler makes them at -O2; the build keeps its assembly as main-O2.s. */
#ifdef __clang__
#error "expected gcc as cc: the level of optimization is set for each file by a pragma that others ignore"
#endif
#pragma GCC optimize("O2")
#define OPTIMIZED O2
#define NAME "O2"
#include "loops.h"
