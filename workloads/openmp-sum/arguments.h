/* What the program was asked for. */
#ifndef ARGUMENTS_H
#define ARGUMENTS_H

#include "sum.h"

enum { DONE = 0, USAGE = 64, UNAVAILABLE = 69, WRONG = 70 };

struct arguments {
    struct task task;
    int parallel, active;
    uint64_t iterations, think_ns, prerun;
};

/* Takes one word, NAME=VALUE, or ends the program with one sentence. */
void parse(struct arguments *arguments, const char *word);

#endif
