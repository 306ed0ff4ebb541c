/* The loops as the compiler makes them at -O3; the build keeps its assembly as main-O3.s. */
#ifdef __clang__
#error "expected gcc as cc: the level of optimization is set for each file by a pragma that others ignore"
#endif
#pragma GCC optimize("O3")
#define OPTIMIZED O3
#define NAME "O3"
#include "loops.h"
