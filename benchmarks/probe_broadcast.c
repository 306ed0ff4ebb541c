/* The peer of the start gate: two processes pinned to two CPUs sleep on one futex, and one wake releases both.
 *
 *   probe_broadcast N CPU CPU   prints for each of N releases by how many nanoseconds one left after the other
 */
#define _GNU_SOURCE
#include <linux/futex.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

struct shared {
    atomic_int gate, ready;
    int64_t left[2];
};

static int64_t now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec * (int64_t)1000000000 + t.tv_nsec;
}

static void wait_at(struct shared *s, int index, int cpu) {
    cpu_set_t set;
    CPU_ZERO(&set);
    CPU_SET(cpu, &set);
    sched_setaffinity(0, sizeof set, &set);
    s->ready++;
    while (!s->gate)
        syscall(SYS_futex, &s->gate, FUTEX_WAIT, 0, NULL);
    s->left[index] = now();
    _exit(0);
}

static int64_t release_once(struct shared *s, char **cpus) {
    s->gate = s->ready = 0;
    for (int i = 0; i < 2; i++)
        if (!fork())
            wait_at(s, i, atoi(cpus[i]));
    while (s->ready < 2)
        usleep(100);
    usleep(2000);
    s->gate = 1;
    syscall(SYS_futex, &s->gate, FUTEX_WAKE, 2, NULL);
    wait(NULL);
    wait(NULL);
    return llabs(s->left[0] - s->left[1]);
}

int main(int argc, char **argv) {
    if (argc != 4)
        return 2;
    struct shared *s = mmap(NULL, sizeof *s, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    for (int i = atoi(argv[1]); i > 0; i--)
        printf("%lld\n", (long long)release_once(s, argv + 2));
    return 0;
}
