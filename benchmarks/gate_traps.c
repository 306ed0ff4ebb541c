/* Programs whose worse version takes longer and no more CPU time of its own. TRAP names one, TURNS are turns of the
 * loop that take 0.1 s, WORSE is 0 or 1: `cc -O2 -pthread -DTRAP='"lock"' -DTURNS=60000000 -DWORSE=1 gate_traps.c`.
 * `client` asks a daemon at SOCKET: the same program, started as `work daemon` beforehand.
 */
#define _GNU_SOURCE
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { PARTS = 20, TICKS = 10, LOCKED = 100 };
// Of two threads or processes together, in percent of TURNS.
enum { TOGETHER = 175 };

static void work(int64_t turns) {
    volatile uint64_t x = 1;
    for (int64_t i = 0; i < turns; i++)
        x = x * 6364136223846793005u + 1442695040888963407u;
}

static int64_t percent(int64_t share, int64_t turns) { return share * turns / 100; }

static void check(int failed) {
    if (failed)
        exit(1);
}

static void on_two_threads(void *(*run)(void *)) {
    pthread_t threads[2];
    for (int i = 0; i < 2; i++)
        check(pthread_create(&threads[i], NULL, run, NULL));
    for (int i = 0; i < 2; i++)
        pthread_join(threads[i], NULL);
}

/* 25 ms more sleep. */
static void sleeps(void) {
    struct timespec pause = {0, WORSE ? 50000000 : 25000000};
    work(percent(75, TURNS));
    nanosleep(&pause, NULL);
}

/* The share that one thread works alone: 10 or 45%. */
enum { ALONE = WORSE ? 45 : 10 };

static void *half(void *unused) {
    work(percent(100 - ALONE, percent(TOGETHER, TURNS)) / 2);
    return unused;
}

static void serial(void) {
    work(percent(ALONE, percent(TOGETHER, TURNS)));
    on_two_threads(half);
}

/* The share of the work that needs the lock: 20 or 80%. */
enum { INSIDE = WORSE ? 80 : 20 };
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;

static void *locked(void *unused) {
    int64_t part = percent(TOGETHER, TURNS) / 2 / LOCKED;
    for (int i = 0; i < LOCKED; i++) {
        work(percent(100 - INSIDE, part));
        pthread_mutex_lock(&mutex);
        work(percent(INSIDE, part));
        pthread_mutex_unlock(&mutex);
    }
    return unused;
}

static void lock(void) { on_two_threads(locked); }

/* The share of the work that the slower end of a pipe does: 50 or 80%. */
enum { SLOWER = WORSE ? 80 : 50 };

static void through_a_pipe(void) {
    int ends[2];
    char part;
    int64_t turns = percent(TOGETHER, TURNS) / PARTS;
    check(pipe(ends));
    pid_t child = fork();
    check(child < 0);
    if (child == 0) {
        close(ends[0]);
        for (int i = 0; i < PARTS; i++) {
            work(percent(100 - SLOWER, turns));
            check(write(ends[1], &part, 1) != 1);
        }
        _exit(0);
    }
    close(ends[1]);
    while (read(ends[0], &part, 1) == 1)
        work(percent(SLOWER, turns));
    waitpid(child, NULL, 0);
}

/* Work at each tick of a clock: every 10 or 10.5 ms. */
static void ticker(void) {
    struct timespec at;
    clock_gettime(CLOCK_MONOTONIC, &at);
    for (int i = 0; i < TICKS; i++) {
        at.tv_nsec += WORSE ? 10500000 : 10000000;
        if (at.tv_nsec >= 1000000000)
            at.tv_sec++, at.tv_nsec -= 1000000000;
        clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &at, NULL);
        work(TURNS / TICKS / 2);
    }
}

static int connected(int is_server) {
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    strncpy(address.sun_path, SOCKET, sizeof address.sun_path - 1);
    int fd = socket(AF_UNIX, SOCK_STREAM, 0);
    if (is_server) {
        check(bind(fd, (struct sockaddr *)&address, sizeof address) || listen(fd, 8));
        return fd;
    }
    check(connect(fd, (struct sockaddr *)&address, sizeof address));
    return fd;
}

/* A request says how many turns the daemon does for it: 3 ms, or a quarter more. */
static void client(void) {
    int fd = connected(0);
    int64_t asked = percent(WORSE ? 375 : 300, TURNS / 100);
    for (int i = 0; i < PARTS; i++) {
        work(percent(2, TURNS));
        check(write(fd, &asked, sizeof asked) != sizeof asked || read(fd, &asked, sizeof asked) != sizeof asked);
    }
}

static void serve(void) {
    // A benchmark that is killed leaves no daemon behind.
    check(prctl(PR_SET_PDEATHSIG, SIGKILL));
    int server = connected(1);
    for (;;) {
        int64_t asked;
        int fd = accept(server, NULL, NULL);
        while (read(fd, &asked, sizeof asked) == sizeof asked) {
            work(asked);
            check(write(fd, &asked, sizeof asked) != sizeof asked);
        }
        close(fd);
    }
}

static const struct {
    const char *name;
    void (*run)(void);
} traps[] = {{"sleep", sleeps},          {"serial", serial}, {"lock", lock},
             {"pipe", through_a_pipe}, {"ticker", ticker}, {"client", client}};

int main(int argc, char **argv) {
    signal(SIGPIPE, SIG_IGN);
    if (argc == 2 && strcmp(argv[1], "daemon") == 0)
        serve();
    for (size_t i = 0; i < sizeof traps / sizeof *traps; i++)
        if (strcmp(traps[i].name, TRAP) == 0) {
            traps[i].run();
            return 0;
        }
    return 2;
}
