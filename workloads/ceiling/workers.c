/* Workers: threads, or processes where each is to have an address space of its own. They work between two barriers. */
#include <errno.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "ceiling.h"

int64_t clock_ns(int clock)
{
    struct timespec now;
    clock_gettime(clock, &now);
    return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

/* Its own, and that of the children that it waited for. */
static int64_t cpu_ns(void)
{
    struct rusage of;
    getrusage(RUSAGE_CHILDREN, &of);
    int64_t us = ((int64_t)of.ru_utime.tv_sec + of.ru_stime.tv_sec) * 1000000 + of.ru_utime.tv_usec + of.ru_stime.tv_usec;
    return clock_ns(CLOCK_THREAD_CPUTIME_ID) + us * 1000;
}

/* Touched by the worker itself: on machines with several nodes its pages are then near it. */
static void take_memory(struct worker *w)
{
    const size_t bytes = w->all->pages * PAGE * ARRAYS;
    double *arrays = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (arrays == MAP_FAILED) {
        w->refused = errno;
        return;
    }
    madvise(arrays, bytes, MADV_HUGEPAGE); /* where it is not granted, small pages do */
    for (size_t i = 0; i < bytes / sizeof *arrays; i++)
        arrays[i] = 1.0;
    w->arrays = arrays;
}

static void *serve(void *argument)
{
    struct worker *w = argument;
    struct shared *all = w->all;
    if (all->kind->has_arrays)
        take_memory(w);
    pthread_barrier_wait(&all->barrier); /* all are ready */
    for (uint64_t i = 0; i < all->iterations; i++) {
        pthread_barrier_wait(&all->barrier);
        int64_t before = cpu_ns();
        w->done = 0;
        w->start_ns = clock_ns(CLOCK_MONOTONIC);
        if (!w->refused)
            all->kind->work(w);
        w->end_ns = clock_ns(CLOCK_MONOTONIC);
        w->cpu_ns = cpu_ns() - before;
        pthread_barrier_wait(&all->barrier);
    }
    return NULL;
}

static void hire_process(struct worker *w)
{
    pid_t parent = getpid(), child = fork();
    if (child < 0)
        fail(UNAVAILABLE, "worker", strerror(errno));
    if (child > 0)
        return;
    signal(SIGCHLD, SIG_DFL);
    /* Nobody would open the barrier again if main were killed. */
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() == parent)
        serve(w);
    _exit(DONE);
}

/* The barrier waits for each worker, and the kernel may kill one (for its memory, say). */
static void lost(int signal, siginfo_t *of, void *context)
{
    static const char words[] = "worker: one was killed; the memory that is granted may be too small\n";
    (void)signal, (void)context;
    if (of->si_code != CLD_KILLED && of->si_code != CLD_DUMPED)
        return;
    ssize_t told = write(STDERR_FILENO, words, sizeof words - 1);
    (void)told;
    _exit(UNAVAILABLE);
}

void hire(struct shared *all)
{
    struct sigaction watch = {.sa_sigaction = lost, .sa_flags = SA_SIGINFO | SA_RESTART | SA_NOCLDSTOP};
    if (all->kind->processes)
        sigaction(SIGCHLD, &watch, NULL);
    for (unsigned i = 0; i < all->n_workers; i++) {
        struct worker *w = &all->workers[i];
        int refused = 0;
        if (all->kind->processes)
            hire_process(w);
        else
            refused = pthread_create(&w->thread, NULL, serve, w);
        if (refused)
            fail(UNAVAILABLE, "worker", strerror(refused));
    }
}

void dismiss(struct shared *all)
{
    for (unsigned i = 0; i < all->n_workers; i++)
        if (all->kind->processes)
            wait(NULL);
        else
            pthread_join(all->workers[i].thread, NULL);
}
