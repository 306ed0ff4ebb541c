/* A program with one planted cause of lost CPU time: explain_causes CAUSE THREADS STRENGTH.
 *
 * The work is the same whatever the number of threads. It prints its wall time, and the seconds that its threads lost to
 * the cause by their own clocks: the truth that explain is held against.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define NOINLINE __attribute__((noinline))
#define LOOPS 280000000L /* about 0.45 s of one CPU */
#define ITEMS 2000
#define MOST 64

static int n_threads;
static double strength, lost[MOST], ended[MOST];
static pthread_mutex_t mutexes[2] = {PTHREAD_MUTEX_INITIALIZER, PTHREAD_MUTEX_INITIALIZER};
static pthread_rwlock_t rwlock = PTHREAD_RWLOCK_INITIALIZER;
static pthread_spinlock_t spinlock;
static pthread_barrier_t barrier;
static pthread_cond_t filled = PTHREAD_COND_INITIALIZER;
static int queued, is_done, pipe_ends[2];
static volatile double sink;
static volatile long cells[MOST];
static unsigned seeds[MOST];

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec + t.tv_nsec / 1e9;
}

NOINLINE static void work(double loops)
{
    double x = 1;
    for (long i = 0; i < (long)loops; i++)
        x = x * 1.0000001 + 1e-9;
    sink = x;
}

/* Each of these is the function that explain must name. */
NOINLINE static void insert_locked(int k, double loops)
{
    pthread_mutex_t *mutex = mutexes + (strcmp("stripes", getenv("CAUSE")) ? 0 : rand_r(seeds + k) % 2);
    double start = now();
    pthread_mutex_lock(mutex);
    lost[k] += now() - start;
    work(loops);
    pthread_mutex_unlock(mutex);
}

NOINLINE static void write_locked(int k, double loops)
{
    double start = now();
    pthread_rwlock_wrlock(&rwlock);
    lost[k] += now() - start;
    work(loops);
    pthread_rwlock_unlock(&rwlock);
}

NOINLINE static void spin_locked(int k, double loops)
{
    double start = now();
    pthread_spin_lock(&spinlock);
    lost[k] += now() - start;
    work(loops);
    pthread_spin_unlock(&spinlock);
}

NOINLINE static void slow_worker(double loops) { work(loops); sink += 1; }
NOINLINE static void serial_phase(double loops) { work(loops); sink += 1; }
NOINLINE static void large_share(double loops) { work(loops); sink += 1; }
NOINLINE static void produce(double loops) { work(loops); sink += 1; }

NOINLINE static void take_nap(int k, double seconds)
{
    double start = now();
    struct timespec t = {0, (long)(seconds * 1e9)};
    nanosleep(&t, NULL);
    lost[k] += now() - start;
}

NOINLINE static void write_through(int k, int file)
{
    static const char block[4096];
    double start = now();
    if (pwrite(file, block, sizeof block, 4096L * k) < 0 || fdatasync(file) < 0)
        exit(1);
    lost[k] += now() - start;
}

NOINLINE static void send_result(int k)
{
    static const char block[4096];
    double start = now();
    if (write(pipe_ends[1], block, sizeof block) < 0)
        exit(1);
    lost[k] += now() - start;
}

NOINLINE static void map_and_touch(int k)
{
    double start = now();
    char *memory = mmap(NULL, 1 << 18, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    memset(memory, 1, 1 << 18);
    munmap(memory, 1 << 18);
    lost[k] += now() - start;
}

NOINLINE static void bump_shared(int k, double loops)
{
    double start = now();
    for (long i = 0; i < (long)loops; i++)
        cells[k]++;
    lost[k] += now() - start;
}

NOINLINE static void take_item(int k)
{
    double start = now();
    pthread_mutex_lock(mutexes);
    while (!queued && !is_done)
        pthread_cond_wait(&filled, mutexes);
    queued -= queued > 0;
    pthread_mutex_unlock(mutexes);
    lost[k] += now() - start;
}

static void one_item(const char *cause, int k, double loops, int file)
{
    double planted = strength * loops;
    if (!strcmp(cause, "mutex") || !strcmp(cause, "stripes"))
        insert_locked(k, planted), work(loops - planted);
    else if (!strcmp(cause, "rwlock"))
        write_locked(k, planted), work(loops - planted);
    else if (!strcmp(cause, "spinlock"))
        spin_locked(k, planted), work(loops - planted);
    else if (!strcmp(cause, "pipe"))
        work(loops - planted), send_result(k);
    else if (!strcmp(cause, "mapping"))
        work(loops - planted), map_and_touch(k);
    else if (!strcmp(cause, "sharing"))
        work(loops - planted), bump_shared(k, planted);
    else if (!strcmp(cause, "disk") && file >= 0)
        work(loops), write_through(k, file);
    else
        work(loops);
}

static void *run(void *index)
{
    const char *cause = getenv("CAUSE");
    int k = (int)(long)index, n = ITEMS / n_threads, file = -1;
    double loops = LOOPS / (double)ITEMS;
    if (!strcmp(cause, "barrier")) {
        for (int i = 0; i < 100; i++) {
            double even = LOOPS / 100.0 / n_threads;
            if (k == 0)
                slow_worker(n_threads > 1 ? even * (1 + strength) : even);
            else
                work(even * (1 - strength / (n_threads - 1)));
            double start = now();
            pthread_barrier_wait(&barrier);
            lost[k] += now() - start;
        }
    } else if (!strcmp(cause, "uneven")) {
        double even = (double)LOOPS / n_threads;
        k == 0 ? large_share(n_threads > 1 ? even * (1 + strength) : even) : work(even * (1 - strength / (n_threads - 1)));
    } else if (!strcmp(cause, "serial")) {
        work(LOOPS * (1 - strength) / n_threads);
    } else if (!strcmp(cause, "sleep")) {
        for (int i = 0; i < 50; i++)
            work(LOOPS / 50.0 / n_threads), take_nap(k, strength * 0.008);
    } else if (!strcmp(cause, "disk")) {
        file = open("explain-causes.tmp", O_RDWR | O_CREAT, 0600);
        for (int i = 0; i < (int)(60 * strength); i++)
            one_item(cause, k, LOOPS / 60.0 / strength / n_threads, file);
        close(file);
    } else if (!strcmp(cause, "queue") && n_threads > 1) {
        for (int i = 0; i < ITEMS; i++) {
            if (k > 0) {
                take_item(k);
                work(loops * (1 - strength));
                continue;
            }
            produce(loops * strength);
            pthread_mutex_lock(mutexes);
            queued++;
            pthread_cond_signal(&filled);
            pthread_mutex_unlock(mutexes);
        }
    } else {
        for (int i = 0; i < n; i++)
            one_item(cause, k, loops, file);
    }
    ended[k] = now();
    return NULL;
}

static void start_reader(void)
{
    char block[4096];
    if (pipe(pipe_ends) < 0)
        exit(1);
    fcntl(pipe_ends[1], F_SETPIPE_SZ, 4096);
    if (fork())
        return;
    close(pipe_ends[1]);
    while (read(pipe_ends[0], block, sizeof block) > 0)
        usleep((useconds_t)(strength * 400));
    _exit(0);
}

int main(int argc, char **argv)
{
    pthread_t threads[MOST];
    if (argc != 4 || (n_threads = atoi(argv[2])) < 1 || n_threads > MOST)
        return 2;
    const char *cause = argv[1];
    setenv("CAUSE", cause, 1);
    strength = atof(argv[3]);
    pthread_spin_init(&spinlock, 0);
    pthread_barrier_init(&barrier, NULL, n_threads);
    if (!strcmp(cause, "pipe"))
        start_reader();
    double start = now(), in_serial = 0, total = 0;
    if (!strcmp(cause, "serial")) {
        serial_phase(LOOPS * strength);
        in_serial = (now() - start) * (n_threads - 1);
    }
    for (long k = 0; k < n_threads; k++)
        pthread_create(threads + k, NULL, run, (void *)k);
    for (int k = 0; k < n_threads; k++)
        pthread_join(threads[k], NULL);
    double end = now();
    for (int k = 0; k < n_threads; k++)
        total += lost[k] + (strcmp(cause, "uneven") && strcmp(cause, "queue") ? 0 : end - ended[k]);
    unlink("explain-causes.tmp");
    printf("%.6f %.6f\n", end - start, total + in_serial);
    return 0;
}
