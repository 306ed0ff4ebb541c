/* A stencil or a reduction over cells that are divided among the ranks of MPI, with a serial part that is known.
 *
 * `cells` are those of all ranks together (scaling=strong) or of each one (scaling=weak). The part `serial_percent` of
 * them is computed by rank 0 alone while the others wait. With `pace_ns`, a rank sleeps that long for each cell in place
 * of computing it: then times follow the law of the program however few CPUs the ranks share.
 */
#include <errno.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { MAX_CELLS = 1 << 26, MAX_STEPS = 1 << 20, HALO = 1 };

static const char *text_of(int argc, char **argv, const char *name) {
    size_t length = strlen(name);
    for (int i = 1; i < argc; i++)
        if (strncmp(argv[i], name, length) == 0 && argv[i][length] == '=') return argv[i] + length + 1;
    fprintf(stderr, "missing: %s=\n", name);
    MPI_Abort(MPI_COMM_WORLD, 2);
    return "";
}

static long number_of(int argc, char **argv, const char *name, long least, long most) {
    const char *text = text_of(argc, argv, name);
    char *end;
    errno = 0;
    long number = strtol(text, &end, 10);
    if (errno || *end || end == text || number < least || number > most) {
        fprintf(stderr, "%s=%s, expected %ld to %ld\n", name, text, least, most);
        MPI_Abort(MPI_COMM_WORLD, 2);
    }
    return number;
}

static void nap(double ns) {
    struct timespec left = {(time_t)(ns / 1e9), (long)(ns - 1e9 * (double)(time_t)(ns / 1e9))};
    while (nanosleep(&left, &left) == -1 && errno == EINTR) {}
}

/* One step of heat over `n` cells between two neighbors; the border cells are those of other ranks. */
static void smooth(const double *from, double *to, long n) {
    for (long i = 1; i <= n; i++) to[i] = 0.25 * from[i - 1] + 0.5 * from[i] + 0.25 * from[i + 1];
}

static double add(const double *cells, long n) {
    double sum = 0;
    for (long i = 1; i <= n; i++) sum += cells[i];
    return sum;
}

int main(int argc, char **argv) {
    MPI_Init(&argc, &argv);
    int rank, n_ranks;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &n_ranks);

    int is_stencil = strcmp(text_of(argc, argv, "kind"), "stencil") == 0;
    int is_weak = strcmp(text_of(argc, argv, "scaling"), "weak") == 0;
    long cells = number_of(argc, argv, "cells", 1, MAX_CELLS), steps = number_of(argc, argv, "steps", 1, MAX_STEPS);
    long percent = number_of(argc, argv, "serial_percent", 0, 100), pace_ns = number_of(argc, argv, "pace_ns", 0, 1000000);

    long serial = rank == 0 ? cells * percent / 100 : 0, shared = cells - cells * percent / 100;
    long own = is_weak ? shared : shared / n_ranks + (rank < shared % n_ranks);
    long room = (own > serial ? own : serial) + 2 * HALO;
    double *from = calloc((size_t)room, sizeof *from), *to = calloc((size_t)room, sizeof *to);
    if (!from || !to) {
        fprintf(stderr, "no memory for %ld cells\n", room);
        MPI_Abort(MPI_COMM_WORLD, 3);
    }
    for (long i = 1; i < room - 1; i++) from[i] = 1;
    int left = rank > 0 ? rank - 1 : MPI_PROC_NULL, right = rank < n_ranks - 1 ? rank + 1 : MPI_PROC_NULL;

    MPI_Barrier(MPI_COMM_WORLD);
    double began = MPI_Wtime(), waited = 0, total = 0;
    for (long step = 0; step < steps; step++) {
        if (pace_ns) nap((double)serial * (double)pace_ns);
        else if (serial) smooth(from, to, serial);
        double before = MPI_Wtime();
        MPI_Barrier(MPI_COMM_WORLD);
        if (is_stencil) {
            MPI_Sendrecv(&from[own], 1, MPI_DOUBLE, right, 0, &from[0], 1, MPI_DOUBLE, left, 0, MPI_COMM_WORLD,
                         MPI_STATUS_IGNORE);
            MPI_Sendrecv(&from[1], 1, MPI_DOUBLE, left, 1, &from[own + 1], 1, MPI_DOUBLE, right, 1, MPI_COMM_WORLD,
                         MPI_STATUS_IGNORE);
        }
        waited += MPI_Wtime() - before;
        double sum = 0;
        if (pace_ns) nap((double)own * (double)pace_ns);
        else if (is_stencil) {
            smooth(from, to, own);
            double *other = from;
            from = to;
            to = other;
        }
        if (!is_stencil) sum = pace_ns ? (double)own : add(from, own);
        before = MPI_Wtime();
        if (is_stencil) MPI_Barrier(MPI_COMM_WORLD);
        else MPI_Allreduce(&sum, &total, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
        waited += MPI_Wtime() - before;
    }
    double seconds = MPI_Wtime() - began, most, sum_waited;
    MPI_Reduce(&seconds, &most, 1, MPI_DOUBLE, MPI_MAX, 0, MPI_COMM_WORLD);
    MPI_Reduce(&waited, &sum_waited, 1, MPI_DOUBLE, MPI_SUM, 0, MPI_COMM_WORLD);
    double every = (double)serial + (double)shared * (is_weak ? n_ranks : 1);
    if (rank == 0)
        printf("{\"loop_s\": %.9f, \"cells_per_s\": %.3f, \"communication_share\": %.6f, \"ranks\": %d, \"sum\": %.0f}\n",
               most, every * (double)steps / most, sum_waited / n_ranks / most, n_ranks, total);
    free(from);
    free(to);
    MPI_Finalize();
    return 0;
}
