/* The loops as the compiler makes them at -O0; the build keeps its assembly as main-O0.s. */
#ifdef __clang__
#error "expected gcc as cc: the level of optimization is set for each file by a pragma that others ignore"
#endif
#pragma GCC optimize("O0")
#define OPTIMIZED O0
#define NAME "O0"
#include "loops.h"
