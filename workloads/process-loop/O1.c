/* The loops as the compiler makes them at -O1; the build keeps its assembly as main-O1.s. */
#ifdef __clang__
#error "expected gcc as cc: the level of optimization is set for each file by a pragma that others ignore"
#endif
#pragma GCC optimize("O1")
#define OPTIMIZED O1
#define NAME "O1"
#include "loops.h"
