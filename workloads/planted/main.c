/* One planted cause of lost CPU time: planted CAUSE THREADS STRENGTH [UNITS] (README.md). */
#define _GNU_SOURCE
#include <fcntl.h>
#include <malloc.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define NAMED __attribute__((noinline)) static
enum { USAGE = 64, UNAVAILABLE = 69, MOST = 256, STRIPES = 4, ROUNDS = 100, BLOCK = 1 << 18, PAGE = 4096 };

struct worker {
    pthread_t thread;
    unsigned seed;
    double lost, ready, ended;
    int socket;
    char *memory;
} __attribute__((aligned(256)));

struct cause {
    const char *name;
    void (*unit)(struct worker *);
    void (*body)(struct worker *);
    void (*prepare)(void);
};

static const double UNIT_LOOPS = 140000; /* about 0.22 ms */
static int n_threads, pipe_ends[2], file = -1, is_done;
static long n_units = 2000, queued, n_answers, n_taken;
static double strength;
static struct worker workers[MOST];
static volatile double sink;
static _Alignas(64) atomic_long cells[MOST];
static pthread_mutex_t mutexes[STRIPES];
static pthread_rwlock_t rwlock = PTHREAD_RWLOCK_INITIALIZER;
static pthread_spinlock_t spinlock;
static pthread_barrier_t barrier;
static pthread_cond_t filled = PTHREAD_COND_INITIALIZER, answered = PTHREAD_COND_INITIALIZER;
static atomic_int arrived, turn;
static atomic_long drawn;

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static void check(int is_right, const char *what)
{
    if (is_right)
        return;
    perror(what);
    _exit(UNAVAILABLE);
}

NAMED void compute(double loops)
{
    double x = 1;
    for (long i = 0; i < (long)loops; i++)
        x = x * 1.0000001 + 1e-9;
    sink = x;
}

/* Functions that have a cause are not inlined: each is what explain must name. */
NAMED void insert_locked(struct worker *me, pthread_mutex_t *mutex)
{
    double start = now();
    pthread_mutex_lock(mutex);
    me->lost += now() - start;
    compute(UNIT_LOOPS * strength);
    pthread_mutex_unlock(mutex);
}

static void one_mutex(struct worker *me) { insert_locked(me, mutexes); }
static void striped(struct worker *me) { insert_locked(me, mutexes + rand_r(&me->seed) % STRIPES); }

NAMED void write_locked(struct worker *me)
{
    double start = now();
    pthread_rwlock_wrlock(&rwlock);
    me->lost += now() - start;
    compute(UNIT_LOOPS * strength);
    pthread_rwlock_unlock(&rwlock);
}

NAMED void spin_locked(struct worker *me)
{
    double start = now();
    pthread_spin_lock(&spinlock);
    me->lost += now() - start;
    compute(UNIT_LOOPS * strength);
    pthread_spin_unlock(&spinlock);
}

NAMED void allocate_block(struct worker *me)
{
    double start = now();
    for (int i = 0; i < (int)(10 * strength); i++) {
        char *block = malloc(BLOCK);
        for (int at = 0; at < BLOCK / 4; at += PAGE)
            block[at] = 1;
        sink += block[0];
        free(block);
    }
    me->lost += now() - start;
}

NAMED void touch_fresh(struct worker *me)
{
    double start = now();
    for (int i = 0; i < (int)(5 * strength); i++) {
        for (int at = 0; at < BLOCK; at += PAGE)
            me->memory[at] = 1;
        madvise(me->memory, BLOCK, MADV_DONTNEED);
    }
    me->lost += now() - start;
}

NAMED void write_through(struct worker *me)
{
    static const char block[PAGE];
    double start = now();
    check(pwrite(file, block, PAGE, (long)PAGE * (me - workers)) == PAGE && !fdatasync(file), "write");
    me->lost += now() - start;
}

NAMED void send_result(struct worker *me)
{
    static const char block[PAGE];
    double start = now();
    check(write(pipe_ends[1], block, PAGE) == PAGE, "pipe");
    me->lost += now() - start;
}

NAMED void ask_service(struct worker *me)
{
    char byte = 1;
    double start = now();
    check(write(me->socket, &byte, 1) == 1 && read(me->socket, &byte, 1) == 1, "socket");
    me->lost += now() - start;
}

NAMED void take_nap(struct worker *me)
{
    double start = now();
    struct timespec t = {0, (long)(strength * 4000000)};
    nanosleep(&t, NULL);
    me->lost += now() - start;
}

/* As often in each thread, however many there are. */
static void naps(struct worker *me)
{
    for (int i = 0; i < ROUNDS; i++)
        compute(UNIT_LOOPS * (double)n_units / ROUNDS / n_threads), take_nap(me);
}

static void writes(struct worker *me)
{
    for (int i = 0; i < 20 * ROUNDS; i++) {
        compute(UNIT_LOOPS * (double)n_units / 20 / ROUNDS / n_threads);
        if (i % 20 < 20 * strength)
            write_through(me);
    }
}

NAMED void bump_shared(struct worker *me)
{
    double start = now();
    for (long i = 0; i < (long)(UNIT_LOOPS * strength / 4); i++)
        atomic_fetch_add_explicit(cells + (me - workers), 1, memory_order_relaxed);
    me->lost += now() - start;
}

NAMED void stream_memory(struct worker *me)
{
    double start = now();
    long bytes = 64L << 20, step = (long)(strength * (1 << 20));
    long at = (rand_r(&me->seed) % (bytes / step)) * step;
    memset(me->memory + at, (int)at, (size_t)step);
    me->lost += now() - start;
}

NAMED void wait_for_child(struct worker *me)
{
    if (rand_r(&me->seed) % 10)
        return;
    double start = now();
    pthread_mutex_lock(mutexes);
    pid_t child = fork();
    check(child >= 0, "fork");
    if (!child) {
        compute(UNIT_LOOPS * strength * 10);
        _exit(0);
    }
    waitpid(child, NULL, 0);
    pthread_mutex_unlock(mutexes);
    me->lost += now() - start;
}

/* Workers whose units are not all alike. */
NAMED void slow_worker(double loops) { compute(loops), sink += 1; }
NAMED void large_share(double loops) { compute(loops), sink += 1; }
NAMED void serial_phase(double loops) { compute(loops), sink += 1; }
NAMED void produce_item(double loops) { compute(loops), sink += 1; }
NAMED void serve_request(double loops) { compute(loops), sink += 1; }

static double share_of(struct worker *me, double loops)
{
    if (n_threads == 1)
        return loops;
    return loops / n_threads * (me == workers ? 1 + strength : 1 - strength / (n_threads - 1));
}

static void one_slow(struct worker *me)
{
    for (int i = 0; i < ROUNDS; i++) {
        double loops = share_of(me, UNIT_LOOPS * (double)n_units / ROUNDS);
        me == workers ? slow_worker(loops) : compute(loops);
        double start = now();
        pthread_barrier_wait(&barrier);
        me->lost += now() - start;
    }
}

NAMED void spin_until_all(struct worker *me, int round)
{
    double start = now();
    if (atomic_fetch_add(&arrived, 1) == n_threads - 1) {
        atomic_store(&arrived, 0);
        atomic_fetch_add(&turn, 1);
    }
    while (atomic_load(&turn) == round)
        ;
    me->lost += now() - start;
}

static void spinners(struct worker *me)
{
    for (int i = 0; i < ROUNDS; i++) {
        compute(share_of(me, UNIT_LOOPS * (double)n_units / ROUNDS));
        spin_until_all(me, i);
    }
}

static void uneven(struct worker *me)
{
    double loops = share_of(me, UNIT_LOOPS * (double)n_units);
    me == workers ? large_share(loops) : compute(loops);
}

static void parallel_phase(struct worker *me)
{
    (void)me;
    compute(UNIT_LOOPS * (double)n_units * (1 - strength) / n_threads);
}

NAMED int take_item(struct worker *me)
{
    double start = now();
    pthread_mutex_lock(mutexes);
    while (!queued && !is_done)
        pthread_cond_wait(&filled, mutexes);
    int is_item = queued > 0;
    queued -= is_item;
    pthread_mutex_unlock(mutexes);
    me->lost += now() - start;
    return is_item;
}

static void put_item(void)
{
    pthread_mutex_lock(mutexes);
    queued++;
    pthread_cond_signal(&filled);
    pthread_mutex_unlock(mutexes);
}

/* The first makes items, the others work on them; a thread alone does both. */
static void queue(struct worker *me)
{
    double producer = 0.5 + strength / 2; /* a smaller share is no bottleneck of two threads */
    for (long i = 0; me == workers && i < n_units; i++) {
        produce_item(UNIT_LOOPS * producer);
        n_threads == 1 ? compute(UNIT_LOOPS * (1 - producer)) : put_item();
    }
    if (me == workers) {
        pthread_mutex_lock(mutexes);
        is_done = 1;
        pthread_cond_broadcast(&filled);
        pthread_mutex_unlock(mutexes);
    }
    while (me != workers && take_item(me))
        compute(UNIT_LOOPS * (1 - producer));
}

/* Few threads do the planted share of all work; the others ask them and wait. */
static void servers(struct worker *me)
{
    int n_servers = n_threads > 3 ? 2 : n_threads - 1;
    if (me - workers < n_servers) {
        while (take_item(me)) {
            serve_request(UNIT_LOOPS * strength);
            pthread_mutex_lock(mutexes);
            n_answers++;
            pthread_cond_signal(&answered);
            pthread_mutex_unlock(mutexes);
        }
        return;
    }
    while (atomic_fetch_add(&drawn, 1) < n_units) {
        compute(UNIT_LOOPS * (1 - strength));
        if (!n_servers) {
            serve_request(UNIT_LOOPS * strength);
            continue;
        }
        double start = now();
        pthread_mutex_lock(mutexes);
        queued++;
        pthread_cond_signal(&filled);
        while (!n_answers) /* any answer: each is taken once, so that the last one taken ends the servers */
            pthread_cond_wait(&answered, mutexes);
        n_answers--;
        is_done = ++n_taken == n_units;
        if (is_done)
            pthread_cond_broadcast(&filled);
        pthread_mutex_unlock(mutexes);
        me->lost += now() - start;
    }
}

static void use_mapped_blocks(void) { mallopt(M_MMAP_THRESHOLD, BLOCK / 2), mallopt(M_TRIM_THRESHOLD, BLOCK); }
static void map_memory(void)
{
    for (int k = 0; k < n_threads; k++) {
        workers[k].memory = mmap(NULL, 64 << 20, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        check(workers[k].memory != MAP_FAILED, "memory");
        madvise(workers[k].memory, 64 << 20, MADV_NOHUGEPAGE);
    }
}
static void open_file(void)
{
    char name[] = "planted-XXXXXX";
    check((file = mkstemp(name)) >= 0, name);
    unlink(name);
}

static void start_reader(void)
{
    char block[PAGE];
    check(!pipe(pipe_ends), "pipe");
    fcntl(pipe_ends[1], F_SETPIPE_SZ, PAGE);
    if (fork())
        return;
    close(pipe_ends[1]);
    struct timespec t = {0, (long)(strength * 200000)};
    while (read(pipe_ends[0], block, PAGE) > 0)
        nanosleep(&t, NULL);
    _exit(0);
}

/* One process serves all in turn. */
static void start_service(void)
{
    int both[2], ours[MOST];
    char byte;
    for (int k = 0; k < n_threads; k++) {
        check(!socketpair(AF_UNIX, SOCK_SEQPACKET, 0, both), "socket");
        workers[k].socket = both[0], ours[k] = both[1];
    }
    if (fork())
        return;
    for (int k = 0; k < n_threads; k++)
        close(workers[k].socket);
    struct pollfd ready[MOST];
    for (int k = 0; k < n_threads; k++)
        ready[k] = (struct pollfd){.fd = ours[k], .events = POLLIN};
    while (poll(ready, (nfds_t)n_threads, -1) > 0)
        for (int k = 0; k < n_threads; k++) {
            if (!ready[k].revents)
                continue;
            if (read(ours[k], &byte, 1) != 1)
                _exit(0);
            serve_request(UNIT_LOOPS * strength);
            if (write(ours[k], &byte, 1) != 1)
                _exit(0);
        }
}

static const struct cause CAUSES[] = {
    {"scales", NULL, NULL, NULL},
    {"mutex", one_mutex, NULL, NULL},
    {"stripes", striped, NULL, NULL},
    {"rwlock", write_locked, NULL, NULL},
    {"spinlock", spin_locked, NULL, NULL},
    {"barrier", NULL, one_slow, NULL},
    {"serial", NULL, parallel_phase, NULL},
    {"uneven", NULL, uneven, NULL},
    {"queue", NULL, queue, NULL},
    {"servers", NULL, servers, NULL},
    {"spinners", NULL, spinners, NULL},
    {"sleep", NULL, naps, NULL},
    {"disk", NULL, writes, open_file},
    {"pipe", send_result, NULL, start_reader},
    {"socket", ask_service, NULL, start_service},
    {"child", wait_for_child, NULL, NULL},
    {"allocator", allocate_block, NULL, use_mapped_blocks},
    {"faults", touch_fresh, NULL, map_memory},
    {"sharing", bump_shared, NULL, NULL},
    {"bandwidth", stream_memory, NULL, map_memory},
};
static const struct cause *cause;

/* Return the seconds that a thread was ready without a CPU, by the kernel's count. */
static double ready_s(void)
{
    char path[64];
    long long ran = 0, waited = 0;
    snprintf(path, sizeof path, "/proc/self/task/%ld/schedstat", (long)syscall(SYS_gettid));
    FILE *stat = fopen(path, "r");
    if (stat && fscanf(stat, "%lld %lld", &ran, &waited) != 2)
        waited = 0;
    if (stat)
        fclose(stat);
    return (double)waited / 1e9;
}

/* Stay on a CPU of the mask, in turn: a kernel that packs threads on one CPU is a cause that was not planted. */
static void pin(long index)
{
    cpu_set_t all, own;
    CPU_ZERO(&own);
    check(!sched_getaffinity(0, sizeof all, &all), "affinity");
    index %= CPU_COUNT(&all);
    for (int cpu = 0; cpu < CPU_SETSIZE; cpu++)
        if (CPU_ISSET(cpu, &all) && !index--)
            CPU_SET(cpu, &own);
    check(!sched_setaffinity(0, sizeof own, &own), "affinity");
}

static void *run_worker(void *argument)
{
    struct worker *me = argument;
    pin(me - workers);
    if (cause->body)
        cause->body(me);
    /* Units are drawn, not dealt: a lock that is unfair would leave a thread alone at the end. */
    while (!cause->body && atomic_fetch_add(&drawn, 1) < n_units) {
        compute(cause->unit ? UNIT_LOOPS * (1 - strength) : UNIT_LOOPS);
        if (cause->unit)
            cause->unit(me);
    }
    me->ended = now();
    me->ready = ready_s();
    return NULL;
}

static double idle_while_others_end(double end)
{
    double lost = 0;
    for (int k = 0; k < n_threads; k++)
        lost += end - workers[k].ended;
    return lost;
}

/* Write what the program lost to its cause: by the workload protocol, else one line of three numbers. */
static void write_truth(double start, double end, double lost, double ready)
{
    const char *path = getenv("SCALOGRAPH_EVENTS");
    FILE *out = path ? fopen(path, "w") : stdout;
    check(out != NULL, "events");
    if (path)
        fprintf(out, "iteration 0 %.0f %.0f %ld\n", start * 1e9, end * 1e9, n_units);
    fprintf(out, path ? "value inside_s %.6f\nvalue lost_s %.6f\nvalue ready_s %.6f\n" : "%.6f %.6f %.6f\n", end - start, lost, ready);
    fclose(out);
}

static void run_all(void)
{
    double start = now(), lost = 0, ready = 0;
    if (!strcmp(cause->name, "serial")) {
        serial_phase(UNIT_LOOPS * (double)n_units * strength);
        lost = (now() - start) * (n_threads - 1);
    }
    for (int k = 0; k < n_threads; k++) {
        workers[k].seed = (unsigned)k + 1;
        check(!pthread_create(&workers[k].thread, NULL, run_worker, workers + k), "thread");
    }
    for (int k = 0; k < n_threads; k++)
        pthread_join(workers[k].thread, NULL);
    double end = now();
    for (int k = 0; k < n_threads; k++) {
        lost += workers[k].lost;
        ready += workers[k].ready;
    }
    if (cause->body == uneven || cause->body == queue)
        lost += idle_while_others_end(end);
    write_truth(start, end, lost, ready);
}

int main(int argc, char **argv)
{
    for (size_t i = 0; argc >= 4 && i < sizeof CAUSES / sizeof *CAUSES; i++)
        if (!strcmp(argv[1], CAUSES[i].name))
            cause = CAUSES + i;
    n_threads = argc >= 4 ? atoi(argv[2]) : 0;
    strength = argc >= 4 ? atof(argv[3]) : 0;
    n_units = argc >= 5 ? atol(argv[4]) : n_units;
    if (!cause || n_threads < 1 || n_threads > MOST || strength <= 0 || strength >= 1 || n_units < 1) {
        fprintf(stderr, "usage: planted CAUSE THREADS STRENGTH [UNITS], strength between 0 and 1\n");
        return USAGE;
    }
    for (int i = 0; i < STRIPES; i++)
        pthread_mutex_init(mutexes + i, NULL);
    pthread_spin_init(&spinlock, 0);
    pthread_barrier_init(&barrier, NULL, (unsigned)n_threads);
    if (cause->prepare)
        cause->prepare();
    run_all();
    return 0;
}
