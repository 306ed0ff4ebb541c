/* Trees that are hard to count and to kill.
 *
 *   probe_tree daemon MS FILE   main leaves at once; a double-forked daemon burns MS of CPU time, and writes what the
 *                               kernel says it used to FILE
 *   probe_tree hop MS FILE      main waits; a child forks and leaves, its child does the same in a session of its
 *                               own, and so on for MS: no list of processes names it in time, so each counts itself
 *                               in the first eight bytes of FILE
 */
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

static int64_t read_clock(clockid_t clock) {
    struct timespec t;
    clock_gettime(clock, &t);
    return t.tv_sec * (int64_t)1000000000 + t.tv_nsec;
}

static void burn(int64_t ns) {
    while (read_clock(CLOCK_PROCESS_CPUTIME_ID) < ns)
        ;
}

static int run_daemon(int64_t ns, const char *file) {
    if (fork())
        return 0;
    setsid();
    if (fork())
        return 0;
    burn(ns);
    FILE *out = fopen(file, "w");
    fprintf(out, "%lld\n", (long long)read_clock(CLOCK_PROCESS_CPUTIME_ID));
    return fclose(out);
}

static int run_hops(int64_t ns, const char *file) {
    int fd = open(file, O_RDWR | O_CREAT, 0600);
    if (fd < 0 || ftruncate(fd, sizeof(int64_t)))
        return 1;
    volatile int64_t *count = mmap(NULL, sizeof *count, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    int64_t end = read_clock(CLOCK_MONOTONIC) + ns;
    if (fork()) {
        pause();
        return 0;
    }
    while (read_clock(CLOCK_MONOTONIC) < end) {
        ++*count;
        if (fork() > 0)
            _exit(0);
        setsid();
    }
    return 0;
}

int main(int argc, char **argv) {
    if (argc == 4 && !strcmp(argv[1], "daemon"))
        return run_daemon(atoll(argv[2]) * 1000000, argv[3]);
    if (argc == 4 && !strcmp(argv[1], "hop"))
        return run_hops(atoll(argv[2]) * 1000000, argv[3]);
    fprintf(stderr, "probe_tree: expected `daemon MS FILE` or `hop MS FILE`\n");
    return 2;
}
